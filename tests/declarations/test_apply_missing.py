"""Parts that phases.yaml no longer declares: removed where nobody ever submitted anything, else left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading, writing
from app.declarations.apply.apply import ImpossibleChange
from app.models import Board, CompetitionTask, NewsKind, ScoreRow, Webhook, WebhookBoard
from app.news import watching
from app.news.watching import note_watched
from tests.declarations.applying import WHAT, apply, counts, made, noted, submit
from tests.declarations.competition_folder import Competition as Folder, make_competition
from tests.news.hooked import LOOPBACK, hook
from tests.receiver import Receiver
from tests.rich_world import fresh
from tests.world import NOW, add_user


@pytest.fixture
def demo(tmp_path: Path) -> Folder:
    return make_competition(tmp_path / "demo")


def without_practice(demo: Folder) -> None:
    text = demo.phases.read_text(encoding="utf-8")
    at, until = text.index("      - name: practice"), text.index("      - name: evaluation")
    demo.write("phases.yaml", text[:at] + text[until:])


def follow(engine: Engine) -> None:
    """A webhook of the competition follows its boards, and has seen them."""
    root = add_user(engine, "root", is_administrator=True)
    hook(engine, root, Receiver(port=443), NewsKind.BOARD_CHANGED, competition="demo")
    note_watched(engine, LOOPBACK, NOW)
    with reading(engine) as session:
        assert session.scalars(select(WebhookBoard)).all(), "else nothing could be in the way"


def test_phase_without_submissions_goes_with_its_declaration(engine: Engine, demo: Folder) -> None:
    apply(engine, demo)
    follow(engine)
    without_practice(demo)
    assert [message for message in made(apply(engine, demo)) if "place" not in message] == [
        "removed task 'detection' in phase 'practice' of 'demo': nothing was ever submitted to it",
        "removed phase 'practice' of 'demo': nothing was ever submitted to it",
    ]
    assert counts(engine)["phases"] == 1
    assert apply(engine, demo) == []


@pytest.mark.both
@pytest.mark.parametrize("what", ["phase", "board"])
def test_what_is_removed_between_look_and_note_does_not_stop_the_sweep(engine: Engine, demo: Folder, what: str) -> None:
    """Check that the note does not refer to what is gone, which would fail for all webhooks."""
    demo.change("            gold: demo/evaluation.csv\n", "")  # no baseline yet
    apply(engine, demo)
    root = add_user(engine, "root", is_administrator=True)
    first, second = (hook(engine, root, Receiver(), NewsKind.BOARD_CHANGED, competition="demo") for _ in range(2))
    with reading(engine) as session:
        found = watching._look(session, session.get_one(Webhook, first), LOOPBACK, NOW)
    {"phase": without_practice, "board": renamed_task}[what](demo)
    apply(engine, demo)
    looked_at = {(one.phase_id, one.board_id) for one in found.boards}
    watching._note(engine, first, found, NOW)
    assert places_noted(engine, first) < looked_at
    note_watched(engine, LOOPBACK, NOW)
    assert places_noted(engine, first) == places_noted(engine, second) != set()


def places_noted(engine: Engine, webhook_id: int) -> set[tuple[int, int]]:
    with reading(engine) as session:
        query = select(WebhookBoard).where(WebhookBoard.webhook_id == webhook_id)
        return {(one.phase_id, one.board_id) for one in session.scalars(query)}


def test_phase_with_submissions_is_left_alone(engine: Engine, demo: Folder) -> None:
    apply(engine, demo)
    run_id = submit(engine, "practice")
    with writing(engine) as session:
        session.add(ScoreRow(run_id=run_id, metric="macro_f1", split="zero_shot/all", value=0.5, signature="s"))
    before = counts(engine)
    without_practice(demo)
    changes = apply(engine, demo)
    assert noted(changes) == [
        "left alone: 'detection' in phase 'practice' of 'demo' is no longer declared but has submissions",
        "left alone: phase 'practice' of 'demo' is no longer declared but has submissions",
    ]
    assert counts(engine) == before
    assert made(apply(engine, demo)) == []


def test_board_goes_with_its_declaration_and_its_task_stays(engine: Engine, demo: Folder) -> None:
    apply(engine, demo)
    follow(engine)
    submit(engine)
    text = demo.phases.read_text(encoding="utf-8")
    demo.write("phases.yaml", text.replace("name: zero-shot", "name: zero"))
    assert made(apply(engine, demo)) == [
        "added board 'zero' of 'demo'",
        "published results of board 'zero' in phase 'evaluation' of 'demo': 2, before 0",
        "removed board 'zero-shot' of 'demo'",
    ]
    assert counts(engine)["historic_rows"] == 2
    assert apply(engine, demo) == []


def renamed_task(demo: Folder) -> None:
    text = demo.phases.read_text(encoding="utf-8").replace("name: detection", "name: other")
    text = text.replace("task: detection", "task: other").replace("          detection:\n", "          other:\n")
    demo.write("phases.yaml", text.replace("name: zero-shot", "name: zero"))


def test_task_without_submissions_goes_with_its_boards(engine: Engine, demo: Folder) -> None:
    demo.change("            gold: demo/evaluation.csv\n", "")  # no baseline yet
    apply(engine, demo)
    renamed_task(demo)
    apply(engine, demo)
    with reading(engine) as session:
        assert [task.name for task in session.scalars(fresh(CompetitionTask))] == ["other"]
        assert [board.name for board in session.scalars(fresh(Board))] == ["zero"]
    assert counts(engine)["phase_tasks"] == 2


def test_task_with_submissions_is_left_alone_with_its_boards(engine: Engine, demo: Folder) -> None:
    apply(engine, demo)
    submit(engine)
    renamed_task(demo)
    assert noted(apply(engine, demo)) == [
        f"left alone: {WHAT} is no longer declared but has submissions",
        "left alone: task 'detection' of 'demo' is no longer declared but has submissions",
        "left alone: board 'zero-shot' of 'demo', because its task is",
    ]
    with reading(engine) as session:
        assert sorted(board.name for board in session.scalars(fresh(Board))) == ["zero", "zero-shot"]
    assert made(apply(engine, demo)) == []


def test_competition_is_never_removed(sqlite_engine: Engine, demo: Folder) -> None:
    apply(sqlite_engine, demo)
    before = counts(sqlite_engine)
    demo.write("phases.yaml", "version: 1\n")
    assert noted(apply(sqlite_engine, demo)) == ["left alone: competition 'demo' is no longer declared"]
    assert counts(sqlite_engine) == before


def test_task_with_submissions_keeps_its_type(sqlite_engine: Engine, demo: Folder) -> None:
    apply(sqlite_engine, demo)
    demo.change("type: idiom-detection", "type: idiom-similarity")
    demo.change("        options: {languages: [en, pt]}\n", "")
    demo.change("{metric: macro_f1, split: zero_shot/all, title", "{metric: spearman, split: pre_train/all/all, title")
    demo.change("          - {metric: macro_f1, split: zero_shot/en}\n", "")
    demo.change(
        'historic:\n          - phase: evaluation\n            file: historic.csv\n            source: "A paper"\n',
        "historic: []\n",
    )
    demo.change(
        '            baselines:\n              - {name: "Majority", file: majority.csv, method: "Always 1"}\n', ""
    )
    with pytest.raises(ImpossibleChange, match=r"has submissions \(1\) and is 'idiom-detection'"):
        apply(sqlite_engine, demo)
