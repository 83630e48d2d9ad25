"""Repairs after crashes: runs whose lease expired, and runs that nobody claimed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, or_, select, update
from sqlalchemy.orm import Session

from app.models import CompetitionTask, RunStatus, ScoringRun, Submission
from app.runs.claims import BACK_IN_QUEUE, RESEND_SECONDS, with_task
from app.runs.failures import note_failure
from app.runs.holds import is_held
from app.runs.result_mails import mail_result
from app.webhooks.events import note_run_ended

#: A queued run unclaimed for this long is announced again, since the message may be lost.
UNCLAIMED_SECONDS = 10
#: Maximum number of runs per sweep; the next continues.
ANNOUNCED_AT_ONCE = 1_000


# ------------------------------------------------------------------------------------------------------------- sweep


def requeue_lost_runs(
    session: Session,
    *,
    attempts: int,
    now: datetime,
    unserved: Collection[str] = (),
    forgotten: Collection[str] = (),
) -> list[tuple[int, str]]:
    """Requeue runs whose lease expired; return (run id, task type) of the queued runs to announce to workers now.

    After its last attempt a run fails instead. An unclaimed queued run is announced again. Runs of rescoring sets are
    repaired, too, but announced by `app.rescoring.pace`.

    unserved: task types for which there is no worker; their runs are not announced.
    forgotten: task types without messages at the broker, whose announcements are lost and repeated soon.
    """
    expired = and_(ScoringRun.status == RunStatus.RUNNING, ScoringRun.lease_expires_at <= now)
    failed = session.scalars(
        update(ScoringRun)
        .where(expired, ScoringRun.attempts >= attempts)
        .values(
            status=RunStatus.FAILED,
            finished_at=now,
            claim_token=None,
            lease_expires_at=None,
            failure=f"its worker was lost {attempts} times",
        )
        .returning(ScoringRun.id)
    ).all()
    for run_id in failed:
        note_failure(session, run_id, now)
        mail_result(session, run_id, now)
        note_run_ended(session, run_id, now)
    session.execute(update(ScoringRun).where(expired).values(**BACK_IN_QUEUE, sent_at=None))
    return unclaimed(session, now, unserved, forgotten, among=ScoringRun.is_current.expression, limit=ANNOUNCED_AT_ONCE)


def unclaimed(
    session: Session,
    now: datetime,
    unserved: Collection[str],
    forgotten: Collection[str],
    *,
    among: ColumnElement[bool],
    limit: int,
) -> list[tuple[int, str]]:
    """Return (run id, task type) of the queued runs among these to announce, as in `requeue_lost_runs`."""
    overdue = and_(
        ScoringRun.status == RunStatus.QUEUED,
        # A run that was claimed before has used up its message and needs another at once.
        or_(ScoringRun.attempts > 0, ScoringRun.queued_at <= now - timedelta(seconds=UNCLAIMED_SECONDS)),
        or_(ScoringRun.not_before.is_(None), ScoringRun.not_before <= now),
        or_(
            ScoringRun.sent_at.is_(None),
            ScoringRun.sent_at <= now - timedelta(seconds=RESEND_SECONDS),
            and_(
                ScoringRun.sent_at <= now - timedelta(seconds=UNCLAIMED_SECONDS),
                CompetitionTask.task_type.in_(forgotten),
            ),
        ),
    )
    waiting = session.execute(
        with_task(select(ScoringRun.id, CompetitionTask.task_type))
        .where(overdue, among, CompetitionTask.task_type.not_in(unserved), ~is_held(Submission.phase_task_id))
        .order_by(ScoringRun.queued_at, ScoringRun.id)
        .limit(limit)
    ).all()
    return [(run_id, task_type) for run_id, task_type in waiting]


def mark_sent(session: Session, run_ids: Sequence[int], now: datetime) -> None:
    """Mark these runs as announced; to be called only after sending."""
    session.execute(update(ScoringRun).where(ScoringRun.id.in_(run_ids)).values(sent_at=now))


def unmark_sent(session: Session, run_id: int) -> None:
    """Mark a run that is still queued as not announced, because its message was lost."""
    lost = (ScoringRun.id == run_id, ScoringRun.status == RunStatus.QUEUED)
    session.execute(update(ScoringRun).where(*lost).values(sent_at=None))
