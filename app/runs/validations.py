"""The lifecycle of validations on workers: claimed, ended by the claim's owner, repaired by the sweep, like runs.

Functions take the session; the caller commits.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import and_, or_, select, update
from sqlalchemy.orm import Session

from app.gold.versions import published_gold
from app.models import CompetitionTask, PhaseTask, Validation, ValidationStatus
from app.runs.claims import RESEND_SECONDS, RETRY_SECONDS, SealedGold, sealed_gold_of
from app.runs.holds import is_held
from app.runs.sweep import ANNOUNCED_AT_ONCE, UNCLAIMED_SECONDS
from evergold.scoring.errors import Problem


@dataclass(frozen=True, slots=True)
class CheckClaim:
    """The right to check a file, with everything needed for that. token: proves it; a later claim invalidates it."""

    validation_id: UUID
    token: str
    attempt: int
    sha256: str
    phase_task_id: int
    task_type: str
    options: dict[str, Any]
    gold: str
    items_sha256: str | None
    sealed_gold: SealedGold | None = None
    filename: str = ""  # as it was sent


def claim_validation(
    session: Session, validation_id: UUID, *, worker: str, lease_seconds: float, now: datetime
) -> CheckClaim | None:
    """Claim a queued validation and return the claim; None if it was already claimed, has ended, or is unknown."""
    token = secrets.token_hex(16)
    attempt = session.scalar(
        update(Validation)
        .where(Validation.id == validation_id, Validation.status == ValidationStatus.QUEUED)
        .values(
            status=ValidationStatus.RUNNING,
            claim_token=token,
            worker=worker[:200],
            attempts=Validation.attempts + 1,
            started_at=now,
            lease_expires_at=now + timedelta(seconds=lease_seconds),
            not_before=None,
        )
        .returning(Validation.attempts)
    )
    if attempt is None:
        return None
    validation, phase_task, task = session.execute(
        select(Validation, PhaseTask, CompetitionTask)
        .join(PhaseTask, PhaseTask.id == Validation.phase_task_id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
        .where(Validation.id == validation_id)
    ).one()
    return CheckClaim(
        validation_id=validation_id,
        token=token,
        attempt=attempt,
        sha256=validation.sha256,
        phase_task_id=phase_task.id,
        task_type=task.task_type,
        options=phase_task.options_of(task),
        gold=phase_task.gold or "",
        items_sha256=phase_task.items_sha256,
        sealed_gold=sealed_gold_of(session, _gold_in_use(session, phase_task)),
        filename=validation.filename,
    )


def renew_check(session: Session, claim: CheckClaim, *, lease_seconds: float, now: datetime) -> bool:
    """Extend the lease of the check; return False if the claim is no longer valid."""
    return _update_claimed(session, claim, lease_expires_at=now + timedelta(seconds=lease_seconds))


def record_valid(session: Session, claim: CheckClaim, *, warnings: Sequence[Problem], now: datetime) -> bool:
    """Record that the file can be scored; return False, without changes, if the claim is invalid."""
    return _end(session, claim, now, ValidationStatus.VALID, problems=[problem.as_dict() for problem in warnings])


def record_invalid(
    session: Session, claim: CheckClaim, *, problems: Sequence[Problem], omitted: int, now: datetime
) -> bool:
    """Record that the file would be rejected as a submission; return False without changes if the claim is invalid."""
    documents = [problem.as_dict() for problem in problems]
    return _end(session, claim, now, ValidationStatus.INVALID, problems=documents, problems_omitted=omitted)


def record_check_failure(session: Session, claim: CheckClaim, *, error: str, attempts: int, now: datetime) -> bool:
    """Record a failure of the server: requeue the check, or fail it after the last attempt."""
    if claim.attempt >= attempts:
        return _end(session, claim, now, ValidationStatus.FAILED, failure=error)
    again = {**_BACK_IN_QUEUE, "not_before": now + timedelta(seconds=RETRY_SECONDS)}
    return _update_claimed(session, claim, **again, failure=error, sent_at=None)


def put_check_back(session: Session, claim: CheckClaim, *, reason: str, now: datetime) -> bool:
    """Queue the check again for a worker that has what this one lacks; no attempt is counted."""
    again = {**_BACK_IN_QUEUE, "not_before": now + timedelta(seconds=RESEND_SECONDS)}
    return _update_claimed(session, claim, **again, attempts=Validation.attempts - 1, failure=reason, sent_at=now)


_BACK_IN_QUEUE: dict[str, Any] = {
    "status": ValidationStatus.QUEUED,
    "claim_token": None,
    "lease_expires_at": None,
    "started_at": None,
    "not_before": None,
}


def _end(session: Session, claim: CheckClaim, now: datetime, status: ValidationStatus, **values: Any) -> bool:
    return _update_claimed(
        session, claim, status=status, finished_at=now, claim_token=None, lease_expires_at=None, **values
    )


def _update_claimed(session: Session, claim: CheckClaim, **values: Any) -> bool:
    mine = and_(
        Validation.id == claim.validation_id,
        Validation.status == ValidationStatus.RUNNING,
        Validation.claim_token == claim.token,
    )
    return session.scalar(update(Validation).where(mine).values(**values).returning(Validation.id)) is not None


def _gold_in_use(session: Session, phase_task: PhaseTask) -> int | None:
    """Return the id of the latest published gold version; None if there is a blind file, which defines the items."""
    if phase_task.items_sha256 is not None:
        return None
    published = published_gold(session, phase_task.phase_id, phase_task.task_id)
    return published[-1].id if published else None


# --------------------------------------------------------------------------------------------------------------- sweep


def requeue_lost_checks(
    session: Session, *, attempts: int, now: datetime, unserved: Collection[str] = ()
) -> list[tuple[UUID, str]]:
    """Requeue validations whose lease expired; return (id, task type) of those to announce to workers now.

    unserved: task types for which there is no worker; their validations are not announced.
    """
    expired = and_(Validation.status == ValidationStatus.RUNNING, Validation.lease_expires_at <= now)
    session.execute(
        update(Validation)
        .where(expired, Validation.attempts >= attempts)
        .values(
            status=ValidationStatus.FAILED,
            finished_at=now,
            claim_token=None,
            lease_expires_at=None,
            failure=f"its worker was lost {attempts} times",
        )
    )
    session.execute(update(Validation).where(expired).values(**_BACK_IN_QUEUE, sent_at=None))
    overdue = and_(
        Validation.status == ValidationStatus.QUEUED,
        or_(Validation.attempts > 0, Validation.asked_at <= now - timedelta(seconds=UNCLAIMED_SECONDS)),
        or_(Validation.not_before.is_(None), Validation.not_before <= now),
        or_(Validation.sent_at.is_(None), Validation.sent_at <= now - timedelta(seconds=RESEND_SECONDS)),
    )
    waiting = session.execute(
        select(Validation.id, CompetitionTask.task_type)
        .join(PhaseTask, PhaseTask.id == Validation.phase_task_id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
        .where(overdue, CompetitionTask.task_type.not_in(unserved), ~is_held(Validation.phase_task_id))
        .order_by(Validation.asked_at, Validation.id)
        .limit(ANNOUNCED_AT_ONCE)
    ).all()
    return [(validation_id, task_type) for validation_id, task_type in waiting]


def mark_check_sent(session: Session, validation_ids: Sequence[UUID], now: datetime) -> None:
    """Mark these validations as announced; to be called only after sending."""
    session.execute(update(Validation).where(Validation.id.in_(validation_ids)).values(sent_at=now))
