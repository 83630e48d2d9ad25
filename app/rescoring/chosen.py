"""Rescoring of chosen submissions: failed runs at once; for scored ones a set with all submissions to their tasks.

A board is always scored against one gold version: a set with only some of its submissions could not be published.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from app.models import Competition, RunStatus, User
from app.rescoring.sets import start_rescoring
from app.runs.failures import queue_again
from app.submissions.organisers_list import ListedSubmission


@dataclass(frozen=True, slots=True)
class ScoredAnew:
    """The result of a request to rescore.

    queued_again: number of failed runs back in the queue.
    rescoring: id of the set that was started, if any.
    tasks: those of the set, as `PHASE/TASK`.
    """

    queued_again: int
    rescoring: int | None
    tasks: tuple[str, ...]


def score_anew(
    session: Session,
    competition: Competition,
    chosen: Sequence[ListedSubmission],
    *,
    note: str,
    user: User | None,
    now: datetime,
) -> ScoredAnew:
    """Rescore these submissions. note: the reason, which a set requires. Raises what start_rescoring raises."""
    failed = [one.run_id for one in chosen if one.status == RunStatus.FAILED]
    queued = sum(queue_again(session, run, competition_id=competition.id, actor=user, now=now) for run in failed)
    tasks = tuple(sorted({f"{one.phase}/{one.task}" for one in chosen if one.status == RunStatus.SCORED}))
    if not tasks:
        return ScoredAnew(queued, None, ())
    started = start_rescoring(session, competition, tasks, note=note, user=user, now=now)
    return ScoredAnew(queued, started.id, tasks)
