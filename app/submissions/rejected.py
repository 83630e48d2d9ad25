"""Deletion of the files of rejected submissions: no score depends on them. Their error reports are kept."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import exists, select, update
from sqlalchemy.orm import Session

from app.models import RunStatus, ScoringRun, Submission


def clear_rejected_files(session: Session, days: int, now: datetime) -> int:
    """Release the files of submissions that every run rejected at least this many days ago; return their number.

    `app.operations.unowned` then deletes files that nothing else references. days: 0 keeps them forever.
    """
    if not days:
        return 0
    long_ago = now - timedelta(days=days)
    # Phrased so that SQLite starts from the rejected runs, not from all submissions.
    rejected = select(ScoringRun.submission_id).where(ScoringRun.status == RunStatus.REJECTED)
    runs = select(ScoringRun.id).where(ScoringRun.submission_id == Submission.id)
    may_matter = exists(runs.where(ScoringRun.status != RunStatus.REJECTED))
    lately = exists(runs.where(ScoringRun.finished_at > long_ago))
    cleared = session.scalars(
        update(Submission)
        .where(
            Submission.id.in_(rejected),
            Submission.file_cleared_at.is_(None),
            Submission.submitted_at <= long_ago,
            ~may_matter,
            ~lately,
        )
        .values(file_cleared_at=now)
        .returning(Submission.id)
        .execution_options(synchronize_session=False)
    )
    return len(cleared.all())
