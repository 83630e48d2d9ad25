"""Files of rejected submissions are not kept for ever: no score rests on them. What was wrong with them stays told."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import exists, select, update
from sqlalchemy.orm import Session

from app.models import RunStatus, ScoringRun, Submission


def clear_rejected_files(session: Session, days: int, now: datetime) -> int:
    """Give up the files of submissions that were rejected so long ago and by every run that ever looked at them; how
    many. Nobody else needs them: then `app.operations.unowned` takes them away. days: 0 keeps them for ever."""
    if not days:
        return 0
    long_ago = now - timedelta(days=days)
    # Written so that SQLite begins with what was rejected, and not with all that was ever sent.
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
