"""The demo's past: made through the real scoring with clocks of its own, once, and completely after an interruption."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, func, select, update

from app.base.config import Settings, get_settings
from app.base.db import reading, writing
from app.base.storage import FolderStorage
from app.boards.leaderboard import build_leaderboard
from app.boards.rows import Leaderboard
from app.competitions.find import find_board, find_competition, find_phase_task
from app.competitions.visibility import Viewer
from app.declarations.apply.apply import apply_phases
from app.declarations.check import load_competitions
from app.judging import organising
from app.judging.rounds import list_rounds
from app.judging.selection import newest_scored
from app.models import Announcement, Question, Rescoring, RunStatus, ScoringRun, Submission
from app.server import prepare
from demo.history import __main__ as history, cast, draw, judging, uploads
from demo.history.clock import CORRECTED, Event, before, play

pytestmark = pytest.mark.usefixtures("cheap_passwords")

ROOT = Path(__file__).resolve().parents[2]
#: A server of which this is the first start.
START = datetime(2026, 11, 20, 12, 34, tzinfo=UTC)
FEW = ("northwind", "blue-margin", "papel-mollado", "mirror-image", "kitestring", "idiomatika", "second-draft")


@pytest.fixture
def place(sqlite_engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Engine, Settings, Path]:
    """A server that was just prepared, and a past with few teams and a run or two of each."""
    gold = tmp_path / "gold"
    monkeypatch.setenv("EVERGOLD_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("EVERGOLD_GOLD_DIR", str(gold))
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", sqlite_engine.url.render_as_string(hide_password=False))
    get_settings.cache_clear()
    settings = get_settings()
    prepare.note_first_start(tmp_path, START)
    loaded = prepare.dated(load_competitions(ROOT / "phases.yaml"), tmp_path)
    with writing(sqlite_engine) as session:
        apply_phases(session, loaded, storage=FolderStorage(settings.storage_dir), now=START)
        prepare.add_accounts(session, START)
    prepare.install_gold(gold)
    few = [replace(one, runs=1, enters="d") for one in cast.TEAMS if one.username in FEW]
    for module in (uploads, history):
        monkeypatch.setattr(module, "TEAMS", tuple(few))
    return sqlite_engine, settings, gold


def the_board(engine: Engine, phase: str, name: str) -> Leaderboard:
    with reading(engine) as session:
        competition = find_competition(session, "demo")
        return build_leaderboard(session, *find_board(competition, phase, name), Viewer(None, START))


def test_past_is_scored_for_real_corrected_and_marked_and_telling_it_again_adds_nothing(
    place: tuple[Engine, Settings, Path],
) -> None:
    engine, settings, gold = place
    history.tell(engine, settings, gold)
    rows = {row.team: row for row in the_board(engine, "evaluation", "one-shot").rows}
    assert set(rows) >= {"North Wind", "Red Margin", "Magpie", "Papel Mollado"}
    assert "Blue Margin" not in rows
    assert rows["Papel Mollado"].rank is None
    assert "Mirror Image" not in {row.team for row in the_board(engine, "evaluation", "one-shot").rows if row.rank}
    with reading(engine) as session:
        sent, newest = session.execute(select(func.count(), func.max(Submission.submitted_at))).one()
        assert newest <= START  # the baselines came with the first start
        [corrected] = session.scalars(select(Rescoring)).all()
        assert corrected.state == "published"
        anew = session.scalars(select(ScoringRun).where(ScoringRun.rescoring_id == corrected.id)).all()
        earlier = session.scalars(
            select(Submission.id).where(
                Submission.filename.like("idiom-detection-run%"), Submission.submitted_at < before(START, CORRECTED)
            )
        ).all()
        assert {run.submission_id for run in anew} == set(earlier), "and no later one: these met the correct gold"
        assert len(FEW) < len(earlier) < sent
        assert {run.status for run in anew} == {RunStatus.SCORED}
        assert session.scalars(select(func.count()).select_from(Question)).one() == 4
    history.tell(engine, settings, gold)
    with reading(engine) as session:
        assert session.scalars(select(func.count()).select_from(Submission)).one() == sent
        assert session.scalars(select(func.count()).select_from(Rescoring)).one() == 1
        assert session.scalars(select(func.count()).select_from(Announcement)).one() == 3


@pytest.mark.soak
def test_systems_are_compared_before_the_address_is_told(place: tuple[Engine, Settings, Path]) -> None:
    engine, settings, gold = place
    history.tell(engine, settings, gold)
    history.compare_systems(engine, [], settings)
    compared = [row for row in the_board(engine, "evaluation", "one-shot").rows if row.rank]
    assert compared
    assert all(row.cells[0].interval for row in compared)


def test_better_teams_score_better_in_every_task() -> None:
    assert draw.detection("a", 1, {"zero_shot": 0.9, "one_shot": None}) == draw.detection(
        "a", 1, {"zero_shot": 0.9, "one_shot": None}
    )
    gold = {row["ID"]: row["Label"] for row in draw._rows("gold/evaluation/idiom-detection.csv")}

    def right(level: float) -> int:
        lines = draw.detection("a", 1, {"zero_shot": level}).decode().splitlines()[1:]
        return sum(gold[line.split(",")[0]] == line.split(",")[3] for line in lines)

    assert right(0.1) < right(0.5) < right(0.95) <= len(gold)


def test_faulty_gold_differs_in_nine_labels() -> None:
    faulty = draw.faulty_detection_gold().decode().splitlines()
    correct = (ROOT / "demo/gold/evaluation/idiom-detection.csv").read_text(encoding="utf-8").splitlines()
    assert sum(a != b for a, b in zip(faulty, correct, strict=True)) == 9


def test_what_happens_happens_in_order_of_time() -> None:
    seen: list[str] = []

    def event(days: int, name: str) -> Event:
        return Event(START + timedelta(days=days), name, lambda at: seen.append(name))

    play([event(2, "late"), event(-1, "early"), event(2, "also late")])
    assert seen == ["early", "also late", "late"]


def test_dates_of_the_demo_lie_around_its_first_start_and_stay(tmp_path: Path) -> None:
    loaded = load_competitions(ROOT / "phases.yaml")
    assert prepare.dated(loaded, tmp_path) == loaded, "nobody started it with --demo"
    prepare.note_first_start(tmp_path, START)
    prepare.note_first_start(tmp_path, START + timedelta(days=3))
    [moved] = [one for one in prepare.dated(loaded, tmp_path) if one.declaration.name == "demo"]
    phases = {phase.name: phase for phase in moved.declaration.phases}
    assert phases["evaluation"].end == datetime(2026, 12, 3, tzinfo=UTC)
    assert phases["post-evaluation"].start == phases["evaluation"].end
    assert phases["evaluation"].start < phases["blind-test"].start < START
    assert phases["blind-test"].end == phases["evaluation"].end
    assert not prepare.is_told(tmp_path)
    prepare.note_told(tmp_path)
    assert prepare.is_told(tmp_path)
    assert prepare.first_start(tmp_path) == START


def test_paraphrases_are_judged_once_they_are_scored_and_agreement_is_neither_nothing_nor_all(
    place: tuple[Engine, Settings, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, settings, _ = place
    monkeypatch.setattr(judging, "has_torch", lambda: True)
    monkeypatch.setattr(judging, "PATIENCE_SECONDS", 0.0)
    with writing(engine) as session:
        history._add_people(session, START)
        runs = prepare.submit_demo(session, FolderStorage(settings.storage_dir), START)
        assert runs
    assert not judging.judge_paraphrases(engine, settings, START), "nothing is scored yet: the next start tries again"
    monkeypatch.setattr(judging, "PATIENCE_SECONDS", 60.0)
    with writing(engine) as session:  # as a worker with torch leaves them
        session.execute(update(ScoringRun).values(status=RunStatus.SCORED))
        everything = newest_scored(session, find_phase_task(session, *judging.PLACE))
    monkeypatch.setattr(organising, "choose_submissions", lambda *args, **kwargs: everything)
    assert judging.judge_paraphrases(engine, settings, START)
    with reading(engine) as session:
        [made] = list_rounds(session, find_competition(session, "demo"))
        assert made.published_at is not None
        assert made.results is not None
        alphas = [made.results["agreement"][language]["score"]["alpha"] for language in ("en", "pt")]
        assert all(0.3 < alpha < 0.9 for alpha in alphas)
    assert judging.judge_paraphrases(engine, settings, START), "and once is enough"


def test_where_nothing_scores_paraphrases_nobody_waits_to_judge_them(
    place: tuple[Engine, Settings, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, settings, _ = place
    monkeypatch.setattr(judging, "has_torch", lambda: False)
    assert judging.judge_paraphrases(engine, settings, START)
