"""The newest submissions across several places: tasks in phases, or what one team submitted there.

Only each single place has an index by time. So the newest of each place are found first, and then the newest of these:
a single query would read and sort all submissions for each page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import nlargest
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, func, select, union_all
from sqlalchemy.orm import Session

from app.base.batches import in_batches
from app.base.db import likely
from app.models import RunStatus, ScoringRun, Submission

#: A statement may have only a limited number of parts.
PLACES_AT_A_TIME = 100
Condition = ColumnElement[bool]


def newest_in(session: Session, places: Sequence[Condition], conditions: Sequence[Condition], limit: int) -> list[UUID]:
    """Return the newest submissions in any of the places that meet all conditions, newest first."""
    some = [
        select(Submission.submitted_at, Submission.id)
        .where(place, *conditions)
        .order_by(Submission.submitted_at.desc(), Submission.id.desc())
        .limit(limit)
        for place in places
    ]
    found = [(row.submitted_at, row.id) for query in _together(some) for row in session.execute(query)]
    return [submission_id for _, submission_id in nlargest(limit, found)]


def count_in(session: Session, places: Sequence[Condition], most: int) -> int:
    """Count the submissions in these places, at most `most` in each."""
    some = [select(Submission.id).where(place).limit(most) for place in places]
    return sum(session.scalar(select(func.count()).select_from(query.subquery())) or 0 for query in _together(some))


def has_current_status(status: RunStatus) -> Condition:
    """Return the condition for submissions whose current run has this status."""
    return Submission.runs.any(and_(ScoringRun.is_current, likely(ScoringRun.status == status)))


def _together(queries: Sequence[Select[*tuple[object, ...]]]) -> Iterator[Select[*tuple[object, ...]]]:
    """Combine the queries into few statements that return the rows of all."""
    for some in in_batches(queries, PLACES_AT_A_TIME):
        parts = [query.subquery() for query in some]
        yield select(union_all(*(select(*part.columns) for part in parts)).subquery())
