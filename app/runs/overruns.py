"""Runs and checks that exceeded a limit of memory or time: decides at the first attempt whose fault that is.

If other files were scored within the limit, the file is at fault: it is rejected, with the reason, and counts towards
the hourly limit. If none ever was, the limit may be too small: that is our fault, and organisers are notified.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import exists, select
from sqlalchemy.orm import Session

from app.models import RunStatus, ScoringRun, Submission, Validation, ValidationStatus
from app.runs.claims import Claim
from app.runs.outcomes import record_failure, record_rejection
from app.runs.validations import CheckClaim, record_check_failure, record_invalid
from evergold.scoring.errors import Problem

_NOBODY_ELSE = "; no other file of this task was ever scored within this bound"


def record_overrun(session: Session, claim: Claim, problem: Problem, now: datetime) -> bool:
    """End a run for good, rejected or failed; False, without changes, if the claim is void.

    A run of a rescoring set fails, since its file was scored before.
    """
    is_current = session.scalar(select(ScoringRun.is_current).where(ScoringRun.id == claim.run_id))
    if is_current and _held_for_others(session, claim.phase_task_id, claim.sha256):
        return record_rejection(session, claim, problems=[problem], omitted=0, now=now)
    return record_failure(session, claim, error=_said(problem), attempts=claim.attempt, now=now)


def record_check_overrun(session: Session, claim: CheckClaim, problem: Problem, now: datetime) -> bool:
    """End a check for good, as invalid or failed; False, without changes, if the claim is void."""
    if _held_for_others(session, claim.phase_task_id, claim.sha256):
        return record_invalid(session, claim, problems=[problem], omitted=0, now=now)
    return record_check_failure(session, claim, error=_said(problem), attempts=claim.attempt, now=now)


def _held_for_others(session: Session, phase_task_id: int, sha256: str) -> bool:
    """Return whether another file of this task in this phase was scored or found valid."""
    scored = (
        select(ScoringRun.id)
        .join(Submission, Submission.id == ScoringRun.submission_id)
        .where(
            Submission.phase_task_id == phase_task_id,
            Submission.sha256 != sha256,
            ScoringRun.status == RunStatus.SCORED,
        )
    )
    checked = exists().where(
        Validation.phase_task_id == phase_task_id,
        Validation.sha256 != sha256,
        Validation.status == ValidationStatus.VALID,
    )
    return session.scalar(scored.limit(1)) is not None or bool(session.scalar(select(checked)))


def _said(problem: Problem) -> str:
    return f"{problem}{_NOBODY_ELSE}"
