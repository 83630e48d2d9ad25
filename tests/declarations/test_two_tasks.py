"""Two tasks in each of two phases, with boards, baselines and gold of their own: a change of one leaves the other
alone.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine, Select, select, update

from app.base.db import reading, writing
from app.base.storage import FolderStorage
from app.boards.leaderboard import build_leaderboard
from app.competitions.find import find_board, find_competition, find_phase_task
from app.competitions.visibility import Viewer
from app.declarations.apply.apply import apply_phases
from app.declarations.apply.baselines import TooManyBaselines, count_baselines, submit_waiting_baselines
from app.declarations.apply.changes import Change
from app.declarations.check import load_competitions
from app.models import (
    Allowance,
    Audience,
    BoardStatistics,
    EntryChoice,
    GoldPower,
    HistoricRow,
    PublicFile,
    Revision,
    RunStatus,
    ScoringRun,
    Stage,
    StatisticsWork,
    Submission,
    Team,
    TeamKind,
    User,
)
from app.submissions.accept import Sender, SubmissionForm, accept_submission
from tests.beside import add_old_run
from tests.declarations.applying import apply, made, noted
from tests.declarations.competition_folder import MAJORITY, NOW, Competition as Folder, make_competition
from tests.rich_world import NEIGHBOURS, fresh
from tests.sealed import make_key, seal_gold
from tests.world import PREPARED, add_team, add_user, claim, score, upload_of

DETECTION, OTHER = "detection", "other"
PRACTICE, EVALUATION = "practice", "evaluation"
PLACES = [(phase, task) for phase in (PRACTICE, EVALUATION) for task in (DETECTION, OTHER)]
TASK = """\
      - name: other
        type: idiom-detection
        title: "Other"
        options: {languages: [pt, en]}
"""
BOARD = """\
      - name: other-board
        title: "Other"
        task: other
        columns:
          - {metric: macro_f1, split: zero_shot/all}
        historic:
          - {phase: evaluation, file: historic.csv, source: "A paper"}
          - {phase: evaluation, file: more.csv, source: "Another paper"}
          - {phase: practice, file: more.csv, source: "Another paper"}
"""
TRACKS = '    tracks: [{name: open, title: "All data"}, {name: closed, title: "These data"}]\n'
ASKED = """\
          other:
            gold: demo/other.csv
            items: items.csv
            baselines:
              - {name: "Majority", file: other.csv, method: "Always 0", description: "At length", track: open}
"""
MORE = "team,date,metric,split,value\nCy,,macro_f1,zero_shot/all,0.3\n"
PRACTISED = "            items: practice.csv\n"


@pytest.fixture
def demo(tmp_path: Path) -> Folder:
    folder = make_competition(tmp_path / "demo")
    folder.write("other.csv", MAJORITY.replace(",1\n", ",0\n"))
    folder.write("more.csv", MORE)
    folder.change("    boards:\n", f"{TASK}{TRACKS}    boards:\n")
    folder.change("    phases:\n", f"{BOARD}    phases:\n")
    folder.change(PRACTISED, f"{PRACTISED}          other:\n            gold: demo/practice-other.csv\n")
    folder.write("phases.yaml", folder.phases.read_text(encoding="utf-8") + ASKED)
    return folder


def board_versions(engine: Engine) -> dict[tuple[str, str], int]:
    with reading(engine) as session:
        return {place: find_phase_task(session, "demo", *place).board_version for place in PLACES}


def risen(engine: Engine, before: dict[tuple[str, str], int]) -> list[tuple[str, str]]:
    return [place for place, version in board_versions(engine).items() if version > before[place]]


def send(engine: Engine, user: User, phase: str, task: str) -> int:
    """Submit a file as a user; return its run."""
    with writing(engine) as session:
        asked = find_phase_task(session, "demo", phase, task)
        form = SubmissionForm("x.csv", track="closed")
        return accept_submission(session, asked, upload_of("x"), Sender(user, NOW), form).run_id


def rows(engine: Engine, phase: str, board: str) -> list[tuple[str, list[float | None]]]:
    with reading(engine) as session:
        place, shown = find_board(find_competition(session, "demo"), phase, board)
        found = build_leaderboard(session, place, shown, Viewer(None, NOW)).rows
    return [(row.team, [cell.value for cell in row.cells]) for row in found]


def place_id(engine: Engine, phase: str, task: str) -> int:
    with reading(engine) as session:
        return find_phase_task(session, "demo", phase, task).id


def run_of_baseline(engine: Engine, task: str) -> ScoringRun:
    """Return the current run of the baseline."""
    of_baselines = select(Submission.id).join(Team, Team.id == Submission.team_id)
    of_baselines = of_baselines.where(Team.kind == TeamKind.BASELINE)
    here = of_baselines.where(Submission.phase_task_id == place_id(engine, EVALUATION, task))
    with reading(engine) as session:
        return session.scalars(
            select(ScoringRun).where(ScoringRun.submission_id.in_(here), ScoringRun.is_current)
        ).one()


# ---------------------------------------------------------------------------------------------------------- baselines


def test_baselines_of_one_name_are_each_of_their_own_task(sqlite_engine: Engine, demo: Folder) -> None:
    """Check baselines of other tasks and of another competition."""
    engine = sqlite_engine
    next_door = add_team(engine, name="Majority", kind=TeamKind.BASELINE, competition=NEIGHBOURS)
    submitted = [one for one in made(apply(engine, demo)) if "baseline" in one]
    assert submitted == [
        "submitted baseline 'Majority' to 'detection' in phase 'evaluation' of 'demo'",
        "submitted baseline 'Majority' to 'other' in phase 'evaluation' of 'demo'",
    ]
    with reading(engine) as session:
        said = {
            (one.phase_task_id, one.method, one.description, one.track)
            for one in session.scalars(select(Submission).join(Submission.team).where(Team.kind == TeamKind.BASELINE))
        }
        teams = session.scalars(select(Submission.team_id).where(Submission.team_id == next_door.id)).all()
    assert teams == []
    assert said == {
        (place_id(engine, EVALUATION, DETECTION), "Always 1", "", None),
        (place_id(engine, EVALUATION, OTHER), "Always 0", "At length", "open"),
    }
    assert apply(engine, demo) == []
    with writing(engine) as session:
        session.execute(update(ScoringRun).values(status=RunStatus.REJECTED))
    assert apply(engine, demo) == [], "what was rejected would be rejected again"


def test_what_reveals_gold_is_counted_by_task_without_teams_and_earlier_runs(
    sqlite_engine: Engine, demo: Folder
) -> None:
    engine = sqlite_engine
    apply(engine, demo)
    send(engine, add_user(engine, "ada"), EVALUATION, DETECTION)
    add_old_run(engine, run_of_baseline(engine, DETECTION).submission_id, 0.5)
    detection, other = (place_id(engine, EVALUATION, task) for task in (DETECTION, OTHER))
    with reading(engine) as session:
        assert [count_baselines(session, places) for places in ([detection], [detection, other], [])] == [1, 2, 0]


def test_the_limit_of_baselines_is_of_a_phase(
    sqlite_engine: Engine, demo: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.declarations.apply.baselines.MOST_BASELINES", 2)
    apply(sqlite_engine, demo)
    practised = '            baselines:\n              - {name: "Minority", file: other.csv}\n'
    demo.change(
        "            gold: demo/practice-other.csv\n", f"            gold: demo/practice-other.csv\n{practised}"
    )
    (submitted,) = made(apply(sqlite_engine, demo))
    assert submitted == "submitted baseline 'Minority' to 'other' in phase 'practice' of 'demo'"
    demo.write(
        "phases.yaml", demo.phases.read_text(encoding="utf-8") + '              - {name: "C", file: other.csv}\n'
    )
    with pytest.raises(TooManyBaselines, match="'C' of 'other' in phase 'evaluation'"):
        apply(sqlite_engine, demo)


def test_what_waited_for_gold_beyond_the_limit_is_left_out_and_keeps_no_gold_back(
    sqlite_engine: Engine, demo: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check the limit: those who put gold did not declare the baselines."""
    monkeypatch.setattr("app.declarations.apply.baselines.MOST_BASELINES", 1)
    for gold in ("evaluation", "other"):
        demo.change(f"            gold: demo/{gold}.csv\n", "")
    apply(sqlite_engine, demo)
    make_key(sqlite_engine)
    for task in (DETECTION, OTHER):
        seal_gold(sqlite_engine, task.encode(), places=[f"demo/{EVALUATION}/{task}"])
    assert [len(submit_waiting(sqlite_engine, task)) for task in (DETECTION, OTHER)] == [1, 0]


def submit_waiting(engine: Engine, task: str) -> list[int]:
    """Submit the baselines of the task that wait for gold, or score them again; return their runs."""
    with writing(engine) as session:
        return submit_waiting_baselines(session, find_phase_task(session, "demo", EVALUATION, task), NOW)


def test_corrected_gold_scores_the_baselines_of_its_own_task_again_once(sqlite_engine: Engine, demo: Folder) -> None:
    """Check that they are scored unless a team has submitted to this very task."""
    engine = sqlite_engine
    for gold in ("evaluation", "other"):
        demo.change(f"            gold: demo/{gold}.csv\n", "")
    apply(engine, demo)
    make_key(engine)
    ada = add_user(engine, "ada")
    detection, other = (f"demo/{EVALUATION}/{task}" for task in (DETECTION, OTHER))
    for place in (detection, other):
        seal_gold(engine, place.encode(), places=[place])
    assert [len(submit_waiting(engine, task)) for task in (DETECTION, OTHER)] == [1, 1]
    first, beside = (run_of_baseline(engine, task) for task in (DETECTION, OTHER))
    for run in (first, beside):
        score(engine, run.id, 0.5)
    assert submit_waiting(engine, DETECTION) == [], "its gold is the one in use"
    send(engine, ada, EVALUATION, OTHER)
    assert ("Majority", [0.5]) in rows(engine, EVALUATION, "zero-shot")
    for place in (detection, other):
        seal_gold(engine, b"corrected", places=[place], publish=True)
    before = board_versions(engine)
    (new,) = submit_waiting(engine, DETECTION)
    assert risen(engine, before) == [(EVALUATION, DETECTION)]
    assert run_of_baseline(engine, DETECTION).id == new
    assert (run_of_baseline(engine, DETECTION).replaced_id, run_of_baseline(engine, OTHER).id) == (first.id, beside.id)
    assert "Majority" not in {team for team, _ in rows(engine, EVALUATION, "zero-shot")}, "it has no score yet"
    assert submit_waiting(engine, OTHER) == [], "a board would have scores against both"
    assert claim(engine, new) is not None
    seal_gold(engine, b"corrected once more", places=[detection], publish=True)
    assert submit_waiting(engine, DETECTION) == [new], "its worker has the gold before it"
    begins = run_of_baseline(engine, DETECTION)
    assert (begins.status, begins.gold_version_id, begins.sent_at) == (RunStatus.QUEUED, None, None)
    score(engine, new, 0.25)
    send(engine, ada, EVALUATION, DETECTION)
    seal_gold(engine, b"corrected too late", places=[detection], publish=True)
    assert submit_waiting(engine, DETECTION) == []


# ------------------------------------------------------------------------------------------------------------- boards


@pytest.mark.parametrize(
    ("old", "new", "places"),
    [
        ('title: "Other"\n        options', "title: Others\n        options", [(PRACTICE, OTHER), (EVALUATION, OTHER)]),
        (
            'title: "Other"\n        task: other',
            "title: B\n        task: other",
            [(PRACTICE, OTHER), (EVALUATION, OTHER)],
        ),
        (
            'title: "Zero-shot"\n        task',
            "title: Z\n        task",
            [(PRACTICE, DETECTION), (EVALUATION, DETECTION)],
        ),
        ("entry: last", "entry: best", [(EVALUATION, DETECTION), (EVALUATION, OTHER)]),
        ("limits: {per_day: 5, total: 10}", "limits: {per_day: 6}", [(PRACTICE, DETECTION), (PRACTICE, OTHER)]),
        ('          - {phase: practice, file: more.csv, source: "Another paper"}\n', "", [(PRACTICE, OTHER)]),
        (
            "            gold: demo/other.csv\n",
            "            gold: demo/new.csv\n            limits: {per_day: 2}\n",
            [(EVALUATION, OTHER)],
        ),
        ('title: "Demo"', 'title: "A demo"', PLACES),
    ],
)
def test_a_change_is_one_of_the_boards_that_it_concerns(
    sqlite_engine: Engine, demo: Folder, old: str, new: str, places: list[tuple[str, str]]
) -> None:
    apply(sqlite_engine, demo)
    before, beside = board_versions(sqlite_engine), versions_beside(sqlite_engine)
    demo.change(old, new)
    apply(sqlite_engine, demo)
    assert risen(sqlite_engine, before) == places
    assert versions_beside(sqlite_engine) == beside


def versions_beside(engine: Engine) -> list[int]:
    """Return the versions of the neighbours."""
    with reading(engine) as session:
        phases = find_competition(session, NEIGHBOURS).phases
        return [one.board_version for phase in phases for one in phase.phase_tasks]


def test_a_board_ranks_by_the_column_that_is_named(sqlite_engine: Engine, demo: Folder) -> None:
    def ranked_by() -> list[str]:
        with reading(sqlite_engine) as session:
            return [board.rank_split for board in find_competition(session, "demo").boards]

    apply(sqlite_engine, demo)
    assert ranked_by() == ["zero_shot/all", "zero_shot/all"]
    demo.change(
        "        historic:\n          - phase: evaluation", NAMED + "        historic:\n          - phase: evaluation"
    )
    apply(sqlite_engine, demo)
    assert ranked_by() == ["zero_shot/en", "zero_shot/all"]


NAMED = "        rank_by: {metric: macro_f1, split: zero_shot/en}\n"


def test_a_board_that_was_of_another_task_for_a_while_has_what_came_meanwhile(
    sqlite_engine: Engine, demo: Folder
) -> None:
    engine = sqlite_engine
    apply(engine, demo)
    score(engine, run_of_baseline(engine, DETECTION).id, 0.5)
    demo.change("        task: detection\n", "        task: other # detection\n")
    apply(engine, demo)
    score(engine, send(engine, add_user(engine, "ada", "Zoe"), EVALUATION, DETECTION), 0.75)
    demo.change("        task: other # detection\n", "        task: detection\n")
    apply(engine, demo)
    shown = [one for one in rows(engine, EVALUATION, "zero-shot") if one[0] in ("Zoe", "Majority")]
    assert shown == [("Zoe", [0.75]), ("Majority", [0.5])]


def test_published_results_are_of_one_board_in_one_phase(sqlite_engine: Engine, demo: Folder) -> None:
    engine = sqlite_engine
    apply(engine, demo)
    first, both, alone = (
        [team for team, _ in rows(engine, phase, board)]
        for phase, board in ((EVALUATION, "zero-shot"), (EVALUATION, "other-board"), (PRACTICE, "other-board"))
    )
    assert (first, both, alone) == (["Ada", "Bo"], ["Ada", "Bo", "Cy"], ["Cy"])
    demo.change("Cy,", "Di,", "more.csv")
    assert made(apply(engine, demo)) == [
        f"published results of board 'other-board' in phase '{phase}' of 'demo': {count}, before {count}"
        for phase, count in ((PRACTICE, 1), (EVALUATION, 3))
    ]
    assert [team for team, _ in rows(engine, EVALUATION, "zero-shot")] == first
    assert [team for team, _ in rows(engine, EVALUATION, "other-board")] == ["Ada", "Bo", "Di"]
    demo.write("phases.yaml", demo.phases.read_text(encoding="utf-8").replace("name: other-board", "name: another"))
    apply(engine, demo)
    assert [team for team, _ in rows(engine, EVALUATION, "zero-shot")] == first


# -------------------------------------------------------------------------------------------- what has submissions


def test_only_what_has_submissions_is_said_to_stay_as_it_is(sqlite_engine: Engine, demo: Folder) -> None:
    """Ada has sent a file to one task of the practice; the other one has some in the evaluation alone."""
    engine = sqlite_engine
    practised = "            gold: demo/practice-other.csv\n"
    demo.change(practised, f"{practised}            items: practice.csv\n")
    apply(engine, demo)
    send(engine, add_user(engine, "ada"), PRACTICE, DETECTION)
    demo.change("demo/practice-other.csv", "demo/corrected.csv\n            options: {languages: [en, pt]}")
    demo.change(
        "          other:\n            gold: demo/corrected",
        "          other:\n            gold_is_public: true\n            gold: demo/corrected",
    )
    practice = (demo.folder / "practice.csv").read_text(encoding="utf-8")
    demo.write("practice.csv", practice.replace("Red tape!", "Red tape."))
    changes = apply(engine, demo)
    detection, other = (f"'{task}' in phase '{PRACTICE}' of 'demo'" for task in (DETECTION, OTHER))
    assert f"gold of {other} is now demo/corrected.csv, no longer demo/practice-other.csv" in made(changes)
    assert f"replaced the items of {other}" in made(changes)
    assert f"replaced the items of {detection}; submissions that were scored stay as they are" in made(changes)
    assert noted(changes) == []


def test_a_task_that_a_phase_asks_no_longer_goes_alone(sqlite_engine: Engine, demo: Folder) -> None:
    """Check that its stored numbers go with it, and no other's; the other task of the phase has a submission."""
    engine = sqlite_engine
    apply(engine, demo)
    send(engine, add_user(engine, "ada"), PRACTICE, DETECTION)
    gone, stays = place_id(engine, PRACTICE, OTHER), place_id(engine, EVALUATION, OTHER)
    with writing(engine) as session:
        board = find_board(find_competition(session, "demo"), EVALUATION, "other-board")[1].id
        for place in (gone, stays):
            session.add(GoldPower(phase_task_id=place, gold="g", key="k", document={}))
            session.add(StatisticsWork(phase_task_id=place, seen="", seen_at=NOW, attempts=0))
            session.add(BoardStatistics(phase_task_id=place, board_id=board, document={}))
            session.add(PublicFile(phase_task_id=place, name="x", title="x", sha256="0" * 64, size_bytes=1, position=9))
    demo.change("          other:\n            gold: demo/practice-other.csv\n", "")
    demo.change('          - {phase: practice, file: more.csv, source: "Another paper"}\n', "")
    assert made(apply(engine, demo))[-1] == (
        "removed task 'other' in phase 'practice' of 'demo': nothing was ever submitted to it"
    )
    with reading(engine) as session:
        for table in (GoldPower, StatisticsWork, BoardStatistics):
            left = set(session.scalars(select(table.phase_task_id).where(table.phase_task_id.in_([gone, stays]))))
            assert left == {stays}, table
        files = session.execute(fresh_files()).all()
    assert {place for place, _ in files} == {
        place_id(engine, PRACTICE, DETECTION),
        place_id(engine, EVALUATION, DETECTION),
        stays,
    }


def fresh_files() -> Select[int, str]:
    return select(PublicFile.phase_task_id, PublicFile.name).where(
        PublicFile.id.in_(fresh(PublicFile).with_only_columns(PublicFile.id))
    )


def test_a_phase_goes_with_what_was_allowed_in_it_and_leaves_the_rest(sqlite_engine: Engine, demo: Folder) -> None:
    engine = sqlite_engine
    apply(engine, demo)
    team = add_team(engine, add_user(engine, "ada"), name="Ada", competition="demo")
    with writing(engine) as session:
        phases = {phase.name: phase.id for phase in find_competition(session, "demo").phases}
        for phase in phases.values():
            session.add(Allowance(phase_id=phase, team_id=team.id, reason="Ill.", extra_total=1, granted_at=NOW))
    text = demo.phases.read_text(encoding="utf-8")
    at, until = text.index("      - name: practice"), text.index("      - name: evaluation")
    text = text[:at] + text[until:]
    demo.write(
        "phases.yaml", text.replace('          - {phase: practice, file: more.csv, source: "Another paper"}\n', "")
    )
    assert "removed phase 'practice' of 'demo': nothing was ever submitted to it" in made(apply(engine, demo))
    with reading(engine) as session:
        assert list(session.scalars(select(Allowance.phase_id).where(Allowance.team_id == team.id))) == [
            phases[EVALUATION]
        ]
        assert len(session.scalars(fresh(HistoricRow)).all()) == 2 + 3


def test_a_board_goes_with_its_statistics_and_choices_and_leaves_those_of_others(
    sqlite_engine: Engine, demo: Folder
) -> None:
    engine = sqlite_engine
    apply(engine, demo)
    ada = add_user(engine, "ada")
    sent = [send(engine, ada, EVALUATION, task) for task in (OTHER, DETECTION)]
    with writing(engine) as session:
        competition = find_competition(session, "demo")
        for phase_task, name, run_id in ((OTHER, "other-board", sent[0]), (DETECTION, "zero-shot", sent[1])):
            board = find_board(competition, EVALUATION, name)[1]
            place = find_phase_task(session, "demo", EVALUATION, phase_task).id
            session.add(BoardStatistics(phase_task_id=place, board_id=board.id, document={}))
            submission = session.get_one(Submission, session.get_one(ScoringRun, run_id).submission_id)
            choice = EntryChoice(team_id=submission.team_id, phase_task_id=place, board_id=board.id, user_id=ada.id)
            choice.submission_id, choice.chosen_at = submission.id, NOW
            session.add(choice)
    demo.write("phases.yaml", demo.phases.read_text(encoding="utf-8").replace("name: other-board", "name: another"))
    assert "removed board 'other-board' of 'demo'" in made(apply(engine, demo))
    with reading(engine) as session:
        places = [place_id(engine, EVALUATION, task) for task in (DETECTION, OTHER)]
        for table in (BoardStatistics, EntryChoice):
            here = select(table.phase_task_id).where(table.phase_task_id.in_(places))
            assert list(session.scalars(here)) == places[:1], table


# ------------------------------------------------------------------------------------------------- the competition


def test_for_whom_files_are_is_kept_without_a_moment_too(sqlite_engine: Engine, demo: Folder) -> None:
    demo.change(
        "            gold: demo/other.csv\n", "            gold: demo/other.csv\n            items_for: participants\n"
    )
    apply(sqlite_engine, demo)
    with reading(sqlite_engine) as session:
        kept = {place: find_phase_task(session, "demo", *place).files_for for place in PLACES}
    participants = {"items.csv": Audience.PARTICIPANTS}
    assert kept[EVALUATION, OTHER].items() >= participants.items()
    assert all(kept[place] == {} for place in PLACES if place != (EVALUATION, OTHER))


def test_whose_scores_are_to_be_confirmed_begins_as_a_draft_and_others_are_published(
    sqlite_engine: Engine, demo: Folder
) -> None:
    demo.change('    title: "Demo"\n', '    title: "Demo"\n    confirm_scores: ["macro_f1: 0.71"]\n')
    add_second_competition(demo)
    assert "added competition 'demo', as a draft" in made(apply(sqlite_engine, demo))
    with reading(sqlite_engine) as session:
        stages = [find_competition(session, name).stage for name in ("demo", "second")]
    assert stages == [Stage.DRAFT, Stage.PUBLISHED]


def add_second_competition(demo: Folder) -> None:
    """Add another competition of the same file, with the same names."""
    text = demo.phases.read_text(encoding="utf-8").replace("name: demo", "name: second")
    text = text.replace('    confirm_scores: ["macro_f1: 0.71"]\n', "").replace('include: ["more/*.yaml"]\n', "")
    demo.write("more/second.yaml", text)
    for path in sorted(demo.folder.glob("*.csv")):
        demo.write(f"more/{path.name}", path.read_text(encoding="utf-8"))


def test_each_competition_keeps_its_own_changes(sqlite_engine: Engine, demo: Folder) -> None:
    engine = sqlite_engine
    add_second_competition(demo)
    demo.change("            gold: demo/evaluation.csv\n", "")  # a note, which is no change
    changes = apply(engine, demo)
    assert [one for one in noted(changes) if "competition" in one] == []
    with reading(engine) as session:
        kept = {revision.competition_id: revision.changes for revision in session.scalars(fresh(Revision)).all()}
        for name in ("demo", "second"):
            assert kept[find_competition(session, name).id] == [one for one in made(changes) if f"'{name}'" in one], (
                name
            )
    title = 'title: "Demo"'
    demo.change(title, 'title: "A second"', "more/second.yaml")
    (changed,) = made(apply(engine, demo))
    assert changed == 'changed title of \'second\' from "Demo" to "A second"'


def test_one_file_alone_moves_nothing_and_a_new_one_comes_last(sqlite_engine: Engine, demo: Folder) -> None:
    def applied(*, is_whole: bool) -> list[Change]:
        loaded = load_competitions(demo.phases)
        with writing(sqlite_engine) as session:
            storage = FolderStorage(demo.folder.parent / "storage")
            return apply_phases(session, loaded, storage=storage, now=NOW, is_whole=is_whole)

    owner = add_user(sqlite_engine, "olga")
    with writing(sqlite_engine) as session:
        beside = find_competition(session, NEIGHBOURS)
        beside.position, beside.owner_id = 5, owner.id
    assert made(applied(is_whole=False))
    with reading(sqlite_engine) as session:
        assert find_competition(session, "demo").position == 6
    assert applied(is_whole=False) == []
    alone = [f"left alone: competition '{PREPARED}' is no longer declared"]
    assert noted(applied(is_whole=True)) == alone, "nor that of an owner, which never had a file"
