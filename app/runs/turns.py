"""Order of work: uploads before checks before rescoring; among uploads, the team whose last turn is longest ago.

A message to a worker only announces work in its queue. So a team with sixty queued files delays another only by the
file being scored. Turns are claimed as usual, since two workers may find the same one. A team whose last run took
long goes behind the others for a while: its last turn is dated into the future.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import lru_cache
from uuid import UUID

from sqlalchemy import BindParameter, ColumnElement, Select, SQLColumnExpression, bindparam, func, or_, select, update
from sqlalchemy.orm import Session, aliased

from app.base.db import UtcDateTime
from app.models import (
    CompetitionTask,
    PhaseTask,
    RunStatus,
    ScoringRun,
    Submission,
    Team,
    Validation,
    ValidationStatus,
)
from app.runs.claimed import Claiming
from app.runs.claims import Claim, claim_where, claiming_one
from evergold.scoring.tasks import gpu_types

#: A run of this duration delays the next turn of its team …
LONG_RUN = timedelta(seconds=10)
#: … by its duration times this factor, as long as others wait, but never by more than this.
DELAY_TIMES = 10
LONGEST_DELAY = timedelta(hours=1)


def next_turn(session: Session, *, needs_gpu: bool, now: datetime) -> int | UUID | None:
    """Return the id of the run, or of the file to validate, that is next in this queue; None if it is empty."""
    return (
        _next_upload(session, needs_gpu, now)
        or _next_check(session, needs_gpu, now)
        or _next_rescoring(session, needs_gpu, now)
    )


def claim_next_upload(
    session: Session, *, needs_gpu: bool, worker: str, lease_seconds: float, now: datetime
) -> Claim | None:
    """Claim the next upload by one statement; None if there is none or another worker was faster."""
    claiming = _claiming(needs_gpu, tuple(gpu_types()))
    return claim_where(session, claiming, {}, worker=worker, lease_seconds=lease_seconds, now=now)


def delay_next_turn(session: Session, team_id: int, took: timedelta, now: datetime) -> None:
    """Put a team whose run took long behind others in the queue; its next turn resets that."""
    if took >= LONG_RUN:
        until = now + min(took * DELAY_TIMES, LONGEST_DELAY)
        session.execute(update(Team).where(Team.id == team_id).values(last_turn_at=until))


@lru_cache(maxsize=4)
def _claiming(needs_gpu: bool, gpu_types: tuple[str, ...]) -> Claiming:
    return claiming_one(_upload_statement(needs_gpu, gpu_types).scalar_subquery())


def in_queue(phase_task_id: SQLColumnExpression[int], *, needs_gpu: bool) -> ColumnElement[bool]:
    """Return the condition for tasks in phases that belong to the queue of encoding workers, or to the other queue."""
    names = gpu_types()
    of_gpu = (
        select(PhaseTask.id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
        .where(CompetitionTask.task_type.in_(names))
    )
    return phase_task_id.in_(of_gpu) if needs_gpu else phase_task_id.not_in(of_gpu)


def _next_upload(session: Session, needs_gpu: bool, now: datetime) -> int | None:
    return session.scalar(_upload_statement(needs_gpu, tuple(gpu_types())), {"now": now})


@lru_cache(maxsize=4)
def _upload_statement(needs_gpu: bool, gpu_types: tuple[str, ...]) -> Select[int]:
    """Build the statement once, since every turn starts with it."""
    return (
        select(ScoringRun.id)
        .join(Submission, Submission.id == ScoringRun.submission_id)
        .join(Team, Team.id == Submission.team_id)
        .where(
            _waits(bindparam("now", type_=UtcDateTime())),
            ScoringRun.is_current,
            in_queue(Submission.phase_task_id, needs_gpu=needs_gpu),
        )
        .order_by(Team.last_turn_at.asc().nulls_first(), ScoringRun.queued_at, ScoringRun.id)
        .limit(1)
    )


def _next_check(session: Session, needs_gpu: bool, now: datetime) -> UUID | None:
    """Return the check of the user whose last check began longest ago; cheap, since checks are deleted after a day."""
    earlier = aliased(Validation)
    last_turn = (
        select(func.max(earlier.started_at)).where(earlier.user_id == Validation.user_id).correlate(Validation)
    ).scalar_subquery()
    return session.scalar(
        select(Validation.id)
        .where(
            Validation.status == ValidationStatus.QUEUED,
            or_(Validation.not_before.is_(None), Validation.not_before <= now),
            in_queue(Validation.phase_task_id, needs_gpu=needs_gpu),
        )
        .order_by(last_turn.asc().nulls_first(), Validation.asked_at, Validation.id)
        .limit(1)
    )


def _next_rescoring(session: Session, needs_gpu: bool, now: datetime) -> int | None:
    return session.scalar(
        select(ScoringRun.id)
        .join(Submission, Submission.id == ScoringRun.submission_id)
        .where(_waits(now), ~ScoringRun.is_current, in_queue(Submission.phase_task_id, needs_gpu=needs_gpu))
        .order_by(ScoringRun.queued_at, ScoringRun.id)
        .limit(1)
    )


def _waits(now: datetime | BindParameter[datetime]) -> ColumnElement[bool]:
    rests = or_(ScoringRun.not_before.is_(None), ScoringRun.not_before <= now)
    return (ScoringRun.status == RunStatus.QUEUED) & rests
