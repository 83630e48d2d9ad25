"""Baselines: submitted once, as soon as there is gold, and again when their file changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine, select, update

from app.base.db import reading, writing
from app.base.storage import stored_path
from app.competitions.find import find_competition
from app.models import RunStatus, ScoringRun, Submission, Team, TeamKind, User
from app.teams.find import new_team_for
from tests.declarations.applying import HOUR, WHAT, apply, made
from tests.declarations.competition_folder import MAJORITY, NOW, Competition as Folder, make_competition
from tests.rich_world import fresh


@pytest.fixture
def demo(tmp_path: Path) -> Folder:
    return make_competition(tmp_path / "demo")


def baseline_submissions(engine: Engine) -> list[tuple[str, str, str]]:
    with reading(engine) as session:
        return [
            (team, sha256, method)
            for team, sha256, method in session.execute(
                select(Team.name, Submission.sha256, Submission.method)
                .join(Team, Team.id == Submission.team_id)
                .where(Team.kind == TeamKind.BASELINE)
                .order_by(Submission.submitted_at)
            )
        ]


def test_baseline_is_a_queued_submission_of_a_team_without_members(engine: Engine, demo: Folder) -> None:
    changes = apply(engine, demo)
    (run_id,) = [change.run_id for change in changes if change.run_id is not None]
    with reading(engine) as session:
        run = session.get_one(ScoringRun, run_id)
        submission = session.get_one(Submission, run.submission_id)
        owner = session.get_one(User, submission.user_id)
    assert (run.status, run.gold, run.is_current) == (RunStatus.QUEUED, "demo/evaluation.csv", True)
    assert (submission.filename, submission.method) == ("majority.csv", "Always 1")
    assert (owner.username, owner.password_hash) == ("@baselines", None)
    assert stored_path(demo.folder.parent / "storage", submission.sha256).read_text(encoding="utf-8") == MAJORITY


def test_changed_baseline_file_is_a_new_submission(engine: Engine, demo: Folder) -> None:
    apply(engine, demo)
    demo.write("majority.csv", MAJORITY.replace("3,EN,zero_shot,1", "3,EN,zero_shot,0"))
    assert made(apply(engine, demo, NOW + HOUR)) == [f"submitted baseline 'Majority' to {WHAT}: its file has changed"]
    assert apply(engine, demo, NOW + HOUR) == []
    demo.write("majority.csv", MAJORITY)
    assert len(made(apply(engine, demo, NOW + 2 * HOUR))) == 1  # the board follows the file, back again too
    files = [sha256 for _, sha256, _ in baseline_submissions(engine)]
    assert files[0] == files[2] != files[1]


def test_baseline_whose_scoring_failed_is_submitted_again(sqlite_engine: Engine, demo: Folder) -> None:
    apply(sqlite_engine, demo)
    with writing(sqlite_engine) as session:  # the organiser forgot to put the gold into the workers' folder
        session.execute(update(ScoringRun).values(status=RunStatus.FAILED, finished_at=NOW))
    assert made(apply(sqlite_engine, demo)) == [f"submitted baseline 'Majority' to {WHAT}: scoring it had failed"]
    assert apply(sqlite_engine, demo) == []


def test_baseline_whose_rescoring_failed_is_not_submitted_again(sqlite_engine: Engine, demo: Folder) -> None:
    """Check that its score on the board stays; the set's organisers see the failure."""
    apply(sqlite_engine, demo)
    with writing(sqlite_engine) as session:
        current = session.scalars(fresh(ScoringRun)).one()
        current.status = RunStatus.SCORED
        again = ScoringRun(submission_id=current.submission_id, gold=current.gold, queued_at=NOW)
        again.is_current, again.status, again.finished_at = False, RunStatus.FAILED, NOW
        session.add(again)
    assert apply(sqlite_engine, demo) == []


def test_baseline_whose_name_a_team_has_gets_a_note_behind_its_name(sqlite_engine: Engine, demo: Folder) -> None:
    demo.change("            gold: demo/evaluation.csv\n", "")
    apply(sqlite_engine, demo)
    with writing(sqlite_engine) as session:
        user = User(
            username="m", email="m@example.org", email_confirmed_at=NOW, display_name="Majority", created_at=NOW
        )
        session.add(user)
        session.flush()
        new_team_for(session, user, find_competition(session, "demo").id, NOW)
    demo.change(
        "            items: items.csv\n", "            items: items.csv\n            gold: demo/evaluation.csv\n"
    )
    apply(sqlite_engine, demo)
    assert [name for name, _, _ in baseline_submissions(sqlite_engine)] == ["Majority (baseline)"]
    assert apply(sqlite_engine, demo) == []


def test_baseline_that_is_no_longer_declared_keeps_its_row(sqlite_engine: Engine, demo: Folder) -> None:
    apply(sqlite_engine, demo)
    demo.change(
        '            baselines:\n              - {name: "Majority", file: majority.csv, method: "Always 1"}\n', ""
    )
    assert made(apply(sqlite_engine, demo)) == []
    assert len(baseline_submissions(sqlite_engine)) == 1
