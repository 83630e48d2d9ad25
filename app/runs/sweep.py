"""What crashes left behind is repaired: runs whose lease ran out, and runs that nobody claimed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, or_, select, update
from sqlalchemy.orm import Session

from app.models import CompetitionTask, RunStatus, ScoringRun
from app.runs.claims import BACK_IN_QUEUE, RESEND_SECONDS, with_task
from app.runs.failures import note_failure
from app.runs.result_mails import mail_result

#: A queued run that nobody claimed within this time is announced to the workers again (the message may be lost).
UNCLAIMED_SECONDS = 10
#: One sweep announces no more than this; the next goes on.
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
    """Repair what crashes left behind; (run id, task type) of the queued runs that workers should be told about now.

    A run whose lease ran out goes back to the queue, or to `failed` when it had its last attempt; a queued run that
    nobody claimed is announced again. unserved: task types for which no worker listens; their runs wait in silence.
    forgotten: task types of which the broker holds no message: what it was told is lost, and told again soon. Runs of
    rescoring sets are repaired, too, but announced by `app.rescoring.pace`.
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
    """The queued ones of these runs that workers should be told about, as `requeue_lost_runs` gives them."""
    overdue = and_(
        ScoringRun.status == RunStatus.QUEUED,
        # The message of a run that was claimed before is used up: it needs another at once.
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
        .where(overdue, among, CompetitionTask.task_type.not_in(unserved))
        .order_by(ScoringRun.queued_at, ScoringRun.id)
        .limit(limit)
    ).all()
    return [(run_id, task_type) for run_id, task_type in waiting]


def mark_sent(session: Session, run_ids: Sequence[int], now: datetime) -> None:
    """Remember that workers were told about these runs; not before they were."""
    session.execute(update(ScoringRun).where(ScoringRun.id.in_(run_ids)).values(sent_at=now))
