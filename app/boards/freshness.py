"""Fingerprint of public state: as long as it is unchanged, so is every public page and board of a competition.

It takes one small query, whose size depends on the declarations and not on the number of submissions, so that any
number of processes can answer from their caches. It relies on `PhaseTask.board_version`, which increases with every
change that a board could show, and on pages never showing the current time.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import Engine, Select, Text, and_, bindparam, case, cast, func, literal, not_, select

from app.base.db import UtcDateTime, engine_for_reading
from app.base.queue import GPU_QUEUE
from app.models import (
    Competition,
    CompetitionTask,
    Phase,
    PhaseTask,
    PublicFile,
    Snapshot,
    Stage,
    Submission,
    Worker,
)
from app.runs.workers import heard_since, waiting_since
from evergold.scoring.tasks import gpu_types

_DECLARED = (
    select(
        Competition.id,
        Phase.id,
        PhaseTask.id,
        PhaseTask.board_version,
        Competition.life_version,
        Phase.starts_at,
        Phase.ends_at,
        Phase.choose_until,
        cast(Phase.visibility, Text),
        cast(PhaseTask.visibility, Text),
        cast(PhaseTask.entry, Text),
        cast(PhaseTask.files_from, Text),
        cast(PhaseTask.files_for, Text),
        cast(PhaseTask.private_part, Text),
        select(func.max(Snapshot.id)).scalar_subquery(),
        # Files are on no board, so they raise no version.
        select(func.count(PublicFile.id)).scalar_subquery(),
        select(func.max(PublicFile.id)).scalar_subquery(),
        select(func.sum(PublicFile.size_bytes)).scalar_subquery(),
    )
    .join(Phase, Phase.competition_id == Competition.id)
    .join(PhaseTask, PhaseTask.phase_id == Phase.id)
    # Unpublished competitions have no fingerprint, so that their addresses answer like those of missing ones.
    .where(Competition.stage == Stage.PUBLISHED)
    .order_by(PhaseTask.id)
)


@lru_cache(maxsize=4)
def _query(gpu_types: tuple[str, ...], *, is_one_competition: bool) -> Select[*tuple[Any, ...]]:
    """Return the query, built once because every request of a public page executes it."""
    is_heard = Worker.seen_at > bindparam("heard_since", type_=UtcDateTime())
    is_listening = select(Worker.name).where(is_heard, cast(Worker.queues, Text).contains(f'"{GPU_QUEUE}"')).exists()
    # Boards show that submissions wait for a worker that can encode.
    waiting = waiting_since().where(Submission.phase_task_id == PhaseTask.id).scalar_subquery()
    waits = and_(CompetitionTask.task_type.in_(map(literal, gpu_types)), not_(is_listening))
    query = _DECLARED.add_columns(case((waits, waiting))).join(PhaseTask.task)
    return query.where(Competition.name == bindparam("competition")) if is_one_competition else query


def freshness(engine: Engine, competition: str | None, now: datetime) -> str | None:
    """Return the fingerprint of one competition, or of all if `competition` is None; None if it does not exist."""
    query = _query(tuple(gpu_types()), is_one_competition=competition is not None)
    values = {"heard_since": heard_since(now), "competition": competition}
    with engine_for_reading(engine).connect() as connection:
        rows = tuple(tuple(row) for row in connection.execute(query, values))
    if not rows and competition is not None:
        return None
    digest, moments = _declared(rows)
    return f"{digest}-{bisect_right(moments, now)}"


@lru_cache(maxsize=256)
def _declared(rows: tuple[tuple[Any, ...], ...]) -> tuple[str, Sequence[datetime]]:
    """Return a digest of the declarations, and the times at which something changes by itself, in order."""
    digest = hashlib.sha256(repr(rows).encode()).hexdigest()[:32]
    return digest, sorted({moment for row in rows for value in row for moment in _moments(value)})


def _moments(value: Any) -> Iterator[datetime]:
    """Yield the times in a column: its value, or values of a JSON object, in which organisers may have used a time as a
    name.
    """
    if isinstance(value, datetime):
        yield value
    elif isinstance(value, str):
        yield from (moment for text in json.loads(value).values() if (moment := _moment(text)) is not None)


def _moment(text: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(text).astimezone(UTC) if isinstance(text, str) else None
    except ValueError:
        return None
