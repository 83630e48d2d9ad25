"""Hourly counts of submissions for the organisers' desk."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import Competition, Phase, PhaseTask, RunStatus, ScoringRun, Submission

HOUR = timedelta(hours=1)
#: Two days, so that last night can be compared with the night before.
HOURS = 48
_IN_VAIN = (RunStatus.REJECTED, RunStatus.FAILED)


@dataclass(frozen=True, slots=True)
class HourCount:
    """Submissions received in one hour from `start`, and how many of these were rejected or failed (`in_vain`)."""

    start: datetime
    received: int
    in_vain: int


def submissions_by_hour(session: Session, competition: Competition, now: datetime) -> list[HourCount]:
    """Return the counts of the last hours, oldest first, including the current hour and hours without submissions."""
    last = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    first = last - (HOURS - 1) * HOUR
    of_competition = select(PhaseTask.id).join(Phase).where(Phase.competition_id == competition.id)
    rows = session.execute(
        select(Submission.submitted_at, ScoringRun.status)
        .join(ScoringRun, ScoringRun.submission_id == Submission.id)
        .where(Submission.phase_task_id.in_(of_competition), Submission.submitted_at >= first, ScoringRun.is_current)
    )
    received, in_vain = Counter[int](), Counter[int]()
    for moment, status in rows:
        at = int((moment - first) // HOUR)
        received[at] += 1
        in_vain[at] += status in _IN_VAIN
    return [HourCount(first + at * HOUR, received[at], in_vain[at]) for at in range(HOURS)]
