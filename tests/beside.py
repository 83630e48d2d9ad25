"""Rows that tests add to their own task: another task of the same phase with boards, a replaced run, and organisers
with one right each.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Engine

from app.base.db import writing
from app.competitions.find import find_competition, find_phase_task
from app.models import CompetitionTask, PhaseTask, Right, Role, RunStatus, ScoreRow, ScoringRun, User
from app.people.rights import grant_role
from app.submissions.accept import Accepted, Sender, SubmissionForm, accept_submission
from tests import world
from tests.rich_world import OTHER_BOARDS, OTHER_TASK
from tests.world import COMPETITION, DAY, NOW, PHASE


def add_other_task(engine: Engine, **values: Any) -> None:
    """Add another task with two boards to the test's own phase. values: columns of the task in the phase."""
    with writing(engine) as session:
        asked = world.the_phase_task(session)
        competition = find_competition(session, COMPETITION)
        task = CompetitionTask(
            competition_id=competition.id, name=OTHER_TASK, task_type="idiom-detection", title="Similarity", position=1
        )
        session.add(task)
        session.flush()
        for position, (name, split) in enumerate(zip(OTHER_BOARDS, (world.ZERO_SHOT, world.ONE_SHOT), strict=True)):
            session.add(world.board_of(competition, task, name, split, 2 + position))
        session.add(PhaseTask(phase_id=asked.phase_id, task_id=task.id, **{"gold": "similar.csv", **values}))


def other_task_id(engine: Engine) -> int:
    with writing(engine) as session:
        return find_phase_task(session, COMPETITION, PHASE, OTHER_TASK).id


def submit_other(engine: Engine, user: User, content: str = "other", now: datetime = NOW) -> Accepted:
    """Submit to the other task."""
    with writing(engine) as session:
        asked = find_phase_task(session, COMPETITION, PHASE, OTHER_TASK)
        return accept_submission(
            session, asked, world.upload_of(content), Sender(user, now), SubmissionForm(filename="predictions.csv")
        )


def enter_other(engine: Engine, user: User, value: float) -> UUID:
    """Add a scored submission to the other task; return its id."""
    accepted = submit_other(engine, user, f"{user.username} {value}")
    world.score(engine, accepted.run_id, value, value)
    return accepted.submission.id


def add_old_run(engine: Engine, submission_id: UUID, value: float) -> None:
    """Add an earlier run of a submission, which another run has replaced, with other scores."""
    with writing(engine) as session:
        run = ScoringRun(
            submission_id=submission_id,
            is_current=False,
            status=RunStatus.SCORED,
            gold="old.csv",
            attempts=1,
            queued_at=NOW - DAY,
            finished_at=NOW - DAY,
        )
        session.add(run)
        session.flush()
        for score in (*world.scores_of(world.ZERO_SHOT, value), *world.scores_of(world.ONE_SHOT, value)):
            session.add(ScoreRow(run_id=run.id, **asdict(score)))


def one_right_each(engine: Engine) -> dict[Right, User]:
    """Return organisers of the test's own competition with only one right each, by that right."""
    found = {}
    for right in Right:
        user = found[right] = world.add_user(engine, f"has-{right.value}")
        with writing(engine) as session:
            competition = find_competition(session, COMPETITION)
            grant_role(session, competition, user, Role.ORGANISER, NOW, rights=(right,))
    return found
