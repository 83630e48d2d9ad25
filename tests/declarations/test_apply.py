"""`apply_phases`: the database follows phases.yaml, changes are reported, and applying twice is the same as once."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading, writing
from app.base.storage import FolderStorage, stored_path
from app.boards.leaderboard import build_leaderboard
from app.cards.form import MethodCard
from app.competitions.find import find_board, find_competition
from app.competitions.visibility import Viewer
from app.declarations.apply.apply import apply_phases
from app.declarations.check import load_competitions
from app.models import PhaseTask, ScoringRun
from app.runs.claims import claim_run
from tests.declarations.applying import HOUR, WHAT, apply, counts, made, noted, phase_task, submit
from tests.declarations.competition_folder import ITEMS, NOW, Competition as Folder, make_competition
from tests.rich_world import fresh
from tests.threads import in_threads

pytestmark = pytest.mark.both


@pytest.fixture
def demo(tmp_path: Path) -> Folder:
    return make_competition(tmp_path / "demo")


# ------------------------------------------------------------------------------------------------------------- first


def test_first_time_adds_everything_and_says_so(engine: Engine, demo: Folder) -> None:
    changes = apply(engine, demo)
    assert made(changes) == [
        "added competition 'demo'",
        "added task 'detection' of 'demo'",
        "added phase 'practice' of 'demo'",
        "added task 'detection' in phase 'practice' of 'demo', gold demo/practice.csv",
        "added phase 'evaluation' of 'demo'",
        f"added task {WHAT}, gold demo/evaluation.csv",
        "added board 'zero-shot' of 'demo'",
        "published results of board 'zero-shot' in phase 'evaluation' of 'demo': 2, before 0",
        f"submitted baseline 'Majority' to {WHAT}",
    ]
    assert noted(changes) == []
    assert counts(engine) == {
        "competitions": 1,
        "tasks": 1,
        "phases": 2,
        "phase_tasks": 2,
        "public_files": 4,  # with the template that is made where none is declared
        "boards": 1,
        "historic_rows": 2,
        "submissions": 1,
    }


def test_second_time_changes_nothing(engine: Engine, demo: Folder) -> None:
    apply(engine, demo)
    with reading(engine) as session:
        versions = list(session.scalars(select(PhaseTask.board_version)))
    assert apply(engine, demo, NOW + HOUR) == []
    with reading(engine) as session:
        assert list(session.scalars(select(PhaseTask.board_version))) == versions


def test_what_is_declared_is_what_the_database_has(engine: Engine, demo: Folder) -> None:
    apply(engine, demo)
    with reading(engine) as session:
        competition = find_competition(session, "demo")
    assert [task.options for task in competition.tasks] == [{"languages": ["en", "pt"]}]
    practice, evaluation = competition.phases
    assert (practice.ends_at, practice.entry_rule) == (None, "best")
    assert (practice.submissions_per_day, practice.submissions_total) == (5, 10)
    assert evaluation.ends_at is not None
    assert evaluation.ends_at.isoformat() == "2026-07-01T12:00:00+00:00"  # midnight AoE is noon in UTC
    (board,) = competition.boards
    assert (board.rank_metric, board.rank_split) == ("macro_f1", "zero_shot/all")
    assert board.columns == [
        {"metric": "macro_f1", "split": "zero_shot/all", "title": "All", "decimals": 4, "percent": False},
        {"metric": "macro_f1", "split": "zero_shot/en", "title": "Zero-shot EN", "decimals": 4, "percent": False},
    ]


def test_public_files_lie_in_storage_items_first(engine: Engine, demo: Folder) -> None:
    apply(engine, demo)
    files = phase_task(engine, "evaluation").files
    assert [(file.name, file.title) for file in files] == [("items.csv", "Items"), ("template.csv", "Template")]
    sha256 = hashlib.sha256(ITEMS.encode()).hexdigest()
    assert phase_task(engine, "evaluation").items_sha256 == files[0].sha256 == sha256
    assert stored_path(demo.folder.parent / "storage", sha256).read_text(encoding="utf-8") == ITEMS
    assert files[0].size_bytes == len(ITEMS.encode())


def test_two_servers_that_apply_at_the_same_moment_add_once(engine: Engine, demo: Folder) -> None:
    done = in_threads(4, lambda _: len(made(apply(engine, demo))))
    assert sorted(done) == [0, 0, 0, 9]
    assert counts(engine)["submissions"] == 1


def test_nothing_remains_of_an_attempt_that_fails(engine: Engine, demo: Folder) -> None:
    loaded = load_competitions(demo.phases)
    (demo.folder / "template.csv").unlink()  # between checking and applying
    with pytest.raises(FileNotFoundError), writing(engine) as session:
        apply_phases(session, loaded, storage=FolderStorage(demo.folder.parent / "storage"), now=NOW)
    assert set(counts(engine).values()) == {0}


# ----------------------------------------------------------------------------------------------------------- changes


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("00 AoE", "00 UTC", "end of phase 'evaluation' of 'demo' from 2026-07-01 12:00 UTC to 2026-07-01 00:00 UTC"),
        ("        end:", "        # end:", "end of phase 'evaluation' of 'demo' from 2026-07-01 12:00 UTC to none"),
        ("per_day: 5", "per_day: 7", "per_day of phase 'practice' of 'demo' from 5 to 7"),
        ("entry: last", "entry: all", "entry of phase 'evaluation' of 'demo' from \"last\" to \"all\""),
        ('"Demo"', '"A demo"', 'title of \'demo\' from "Demo" to "A demo"'),
        ('"Detection"', '"D"', "title of task 'detection' of 'demo' from \"Detection\" to \"D\""),
        ('"Zero-shot"', '"Z"', "title of board 'zero-shot' of 'demo' from \"Zero-shot\" to \"Z\""),
        ("zero_shot/en}", "zero_shot/pt}", "columns of board 'zero-shot' of 'demo'"),
        ('"Template"', '"T"', f'title of download \'template.csv\' of {WHAT} from "Template" to "T"'),
    ],
)
def test_change_is_made_and_said_once(sqlite_engine: Engine, demo: Folder, old: str, new: str, said: str) -> None:
    apply(sqlite_engine, demo)
    demo.change(old, new)
    assert made(apply(sqlite_engine, demo)) == [f"changed {said}"]
    assert apply(sqlite_engine, demo) == []


def test_boards_that_could_show_something_else_get_a_new_version(sqlite_engine: Engine, demo: Folder) -> None:
    def versions() -> list[int]:
        return [phase_task(sqlite_engine, name).board_version for name in ("practice", "evaluation")]

    apply(sqlite_engine, demo)
    assert versions() == [0, 0]
    demo.change("entry: last", "entry: best")
    apply(sqlite_engine, demo)
    assert versions() == [0, 1]
    demo.change('title: "All"', 'title: "Everything"')
    apply(sqlite_engine, demo)
    assert versions() == [1, 2]
    demo.change("Bo,,macro_f1,zero_shot/all,0.4", "Bo,,macro_f1,zero_shot/all,0.3", "historic.csv")
    apply(sqlite_engine, demo)
    assert versions() == [1, 3]
    demo.change('title: "Demo"', 'title: "A demo"')
    apply(sqlite_engine, demo)
    assert versions() == [2, 4]
    demo.change("template.csv, title", "items.csv, title")  # downloads stand on no board
    apply(sqlite_engine, demo)
    assert versions() == [2, 4]


def test_order_follows_the_file(sqlite_engine: Engine, demo: Folder) -> None:
    apply(sqlite_engine, demo)
    text = demo.phases.read_text(encoding="utf-8")
    at, second = text.index("      - name: practice"), text.index("      - name: evaluation")
    demo.write("phases.yaml", text[:at] + text[second:] + text[at:second])
    assert made(apply(sqlite_engine, demo)) == [
        "moved phase 'evaluation' of 'demo' from place 2 to 1",
        "moved phase 'practice' of 'demo' from place 1 to 2",
    ]
    with reading(sqlite_engine) as session:
        assert [phase.name for phase in find_competition(session, "demo").phases] == ["evaluation", "practice"]


def test_changed_download_is_replaced_and_an_undeclared_one_removed(sqlite_engine: Engine, demo: Folder) -> None:
    more = '              - {file: more.txt, title: "More"}\n'
    demo.change("            baselines:\n", f"{more}            baselines:\n")
    demo.write("more.txt", "one\n")
    apply(sqlite_engine, demo)
    demo.write("more.txt", "two\n")
    assert made(apply(sqlite_engine, demo)) == [f"replaced download 'more.txt' of {WHAT}"]
    demo.change(more, "")
    assert made(apply(sqlite_engine, demo)) == [f"removed download 'more.txt' of {WHAT}"]
    assert [file.name for file in phase_task(sqlite_engine, "evaluation").files] == ["items.csv", "template.csv"]


def test_items_of_a_phase_with_submissions_are_replaced_with_a_word_about_them(
    sqlite_engine: Engine, demo: Folder
) -> None:
    apply(sqlite_engine, demo)
    demo.write("items.csv", ITEMS.replace("Red tape!", "Red tape."))
    assert made(apply(sqlite_engine, demo)) == [
        f"replaced the items of {WHAT}; submissions that were scored stay as they are",
        f"replaced download 'items.csv' of {WHAT}",
    ]


def test_options_of_a_phase_reach_the_worker_over_those_of_the_task(sqlite_engine: Engine, demo: Folder) -> None:
    demo.change("languages: [en, pt]", "languages: [en, pt], settings: [zero_shot]")
    demo.change("items: items.csv", "items: items.csv\n            options: {settings: [zero_shot, one_shot]}")
    apply(sqlite_engine, demo)
    run_id = submit(sqlite_engine)
    with writing(sqlite_engine) as session:
        claim = claim_run(session, run_id, worker="w", lease_seconds=60, now=NOW)
    assert claim is not None
    assert claim.options == {"languages": ["en", "pt"], "settings": ["zero_shot", "one_shot"]}


# -------------------------------------------------------------------------------------------------------------- gold


def test_gold_that_comes_later_opens_the_phase_and_lets_baselines_in(engine: Engine, demo: Folder) -> None:
    demo.change("            gold: demo/evaluation.csv\n", "")
    first = apply(engine, demo)
    assert f"added task {WHAT}, no gold yet: submissions are refused until gold is uploaded" in made(first)
    waiting = [f"baseline 'Majority' of {WHAT} waits for the gold, and is submitted as soon as it is there"]
    assert noted(first) == noted(apply(engine, demo)) == waiting
    assert counts(engine)["submissions"] == 0
    demo.change(
        "            items: items.csv\n", "            items: items.csv\n            gold: demo/evaluation.csv\n"
    )
    later = apply(engine, demo)
    assert made(later) == [
        f"gold of {WHAT} is now demo/evaluation.csv: submissions are accepted while the phase is open",
        f"submitted baseline 'Majority' to {WHAT}",
    ]
    assert apply(engine, demo) == []


def test_other_gold_rescores_nothing_and_says_so(engine: Engine, demo: Folder) -> None:
    apply(engine, demo)
    run_id = submit(engine)
    demo.change("gold: demo/evaluation.csv", "gold: demo/corrected.csv")
    assert made(apply(engine, demo)) == [
        f"gold of {WHAT} is now demo/corrected.csv, no longer demo/evaluation.csv; "
        "existing scores stay as they are until they are rescored"
    ]
    with reading(engine) as session:
        assert session.get_one(ScoringRun, run_id).gold == "demo/evaluation.csv"
        assert len(session.scalars(fresh(ScoringRun)).all()) == 2


def test_gold_taken_away_is_said(sqlite_engine: Engine, demo: Folder) -> None:
    apply(sqlite_engine, demo)
    demo.change("            gold: demo/practice.csv\n", "")
    assert made(apply(sqlite_engine, demo)) == [
        "removed the gold of 'detection' in phase 'practice' of 'demo': submissions are refused"
    ]


def test_other_options_rescore_nothing_and_say_so(sqlite_engine: Engine, demo: Folder) -> None:
    apply(sqlite_engine, demo)
    demo.change("languages: [en, pt]", "languages: [pt, en]")
    changes = apply(sqlite_engine, demo)
    assert made(changes)[0] == (
        "changed options of task 'detection' of 'demo' from "
        '{"languages": ["en", "pt"]} to {"languages": ["pt", "en"]}'
    )
    assert noted(changes) == [
        "existing scores of task 'detection' of 'demo' stay as they are until they are rescored with the new options"
    ]


# ----------------------------------------------------------------------------------------------------- historic rows


def test_published_results_stand_on_the_board_with_their_source(engine: Engine, demo: Folder) -> None:
    demo.change("        entry: last\n", "        entry: last\n        visibility: {slices: all}\n")
    apply(engine, demo)
    with reading(engine) as session:
        phase, board = find_board(find_competition(session, "demo"), "evaluation", "zero-shot")
        rows = build_leaderboard(session, phase, board, Viewer(None, NOW)).rows
    shown = [(row.rank, row.team, row.kind, [cell.value for cell in row.cells], row.source) for row in rows]
    assert shown == [
        (None, "Ada", "historic", [0.5, 0.25], "A paper"),
        (None, "Bo", "historic", [0.4, None], "A paper"),
    ]
    assert rows[0].achieved_at is not None
    assert rows[0].achieved_at.isoformat() == "2022-01-31T00:00:00+00:00"


def test_what_is_said_of_published_systems_stands_beside_their_names(sqlite_engine: Engine, demo: Folder) -> None:
    """Check that it is enough on one line of a result; links come with the row's card."""
    text = (demo.folder / "historic.csv").read_text(encoding="utf-8")
    header, first, *others = text.splitlines()
    said = [f"{header},method,paper,code", f"{first},BERT,https://example.org/paper,", *(f"{row},,," for row in others)]
    (demo.folder / "historic.csv").write_text("\n".join(said) + "\n", encoding="utf-8")
    apply(sqlite_engine, demo)
    with reading(sqlite_engine) as session:
        phase, board = find_board(find_competition(session, "demo"), "evaluation", "zero-shot")
        ada, bo = build_leaderboard(session, phase, board, Viewer(None, NOW)).rows
    assert (ada.method, ada.card) == ("BERT", MethodCard("BERT", paper="https://example.org/paper"))
    assert (bo.method, bo.card) == ("", None)


def test_published_ranks_are_kept_and_follow_their_file(sqlite_engine: Engine, demo: Folder) -> None:
    def ranks() -> dict[str, int | None]:
        with reading(sqlite_engine) as session:
            phase, board = find_board(find_competition(session, "demo"), "evaluation", "zero-shot")
            return {
                row.team: row.published_rank for row in build_leaderboard(session, phase, board, Viewer(None, NOW)).rows
            }

    header = "team,metric,split,value,rank"
    lines = "Ada,macro_f1,zero_shot/all,0.5,3\nAda,macro_f1,zero_shot/en,0.25,\nBo,macro_f1,zero_shot/all,0.4,\n"
    (demo.folder / "historic.csv").write_text(f"{header}\n{lines}", encoding="utf-8")
    apply(sqlite_engine, demo)
    assert ranks() == {"Ada": 3, "Bo": None}
    assert made(apply(sqlite_engine, demo)) == []
    demo.change("0.5,3", "0.5,1", "historic.csv")
    assert len(made(apply(sqlite_engine, demo))) == 1
    assert ranks() == {"Ada": 1, "Bo": None}


def test_published_results_follow_their_file(sqlite_engine: Engine, demo: Folder) -> None:
    apply(sqlite_engine, demo)
    demo.change("Bo,,macro_f1,zero_shot/all,0.4\n", "", "historic.csv")
    where = "published results of board 'zero-shot' in phase 'evaluation' of 'demo'"
    assert made(apply(sqlite_engine, demo)) == [f"{where}: 1, before 2"]
    demo.change("phase: evaluation", "phase: practice")
    assert sorted(made(apply(sqlite_engine, demo))) == [
        f"{where}: 0, before 1",
        f"{where.replace('evaluation', 'practice')}: 1, before 0",
    ]
    assert apply(sqlite_engine, demo) == []


def test_from_when_and_for_whom_files_are_is_kept_told_and_taken_back(sqlite_engine: Engine, demo: Folder) -> None:
    apply(sqlite_engine, demo)
    before = phase_task(sqlite_engine, "evaluation")
    assert (before.files_from, before.files_for) == ({}, {})
    demo.change(
        "            items: items.csv\n",
        "            items: items.csv\n            items_from: now\n            items_for: participants\n",
    )
    demo.change('title: "Template"}', 'title: "Template", from: "2026-05-02 12:00 UTC"}')
    told = made(apply(sqlite_engine, demo))
    assert len(told) == 2, told
    kept = phase_task(sqlite_engine, "evaluation")
    assert kept.files_from == {"items.csv": "now", "template.csv": "2026-05-02T12:00:00+00:00"}
    assert kept.files_for == {"items.csv": "participants"}
    demo.change("            items_from: now\n            items_for: participants\n", "")
    demo.change(', from: "2026-05-02 12:00 UTC"', ", from: start")
    apply(sqlite_engine, demo)
    assert phase_task(sqlite_engine, "evaluation").files_from == {}


def test_the_template_that_is_made_is_there_when_its_items_are(sqlite_engine: Engine, demo: Folder) -> None:
    demo.change(
        '            downloads:\n              - {file: template.csv, title: "Template"}\n',
        "            items_from: 2026-05-02 12:00 UTC\n            items_for: everyone\n",
    )
    apply(sqlite_engine, demo)
    kept = phase_task(sqlite_engine, "evaluation")
    assert kept.files_from == dict.fromkeys(("items.csv", "template.csv"), "2026-05-02T12:00:00+00:00")
    assert kept.files_for == dict.fromkeys(("items.csv", "template.csv"), "everyone")
