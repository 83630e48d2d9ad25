"""Totals of everything ever accepted and scored: counted once and stored, so that only newer rows are counted again.

The sweep counts whole hours, one hour after their end, when everything timed in them is in the database. Rows deleted
later (a competition, a discarded rescoring) stay included, so totals never decrease.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Engine, Float, and_, cast, func, select, true
from sqlalchemy.orm import Session

from app.base.db import likely, reading, writing
from app.models import TERMINAL, CompetitionTask, Heartbeat, PhaseTask, RunStatus, ScoringRun, Submission
from app.runs.claims import with_task

#: The name of their row; `beat_at` is the moment before which everything is counted.
TOTALS = "totals"
HOUR = timedelta(hours=1)
_NUMBERS = "numbers"


class Kind(StrEnum):
    ACCEPTED = "accepted"
    ENDED = "ended"  # by outcome
    TIMED = "timed"  # number of scored runs with known duration …
    SECONDS = "seconds"  # … and their total duration


class Key(NamedTuple):
    """A key of the totals; outcome: set for ended runs only."""

    kind: Kind
    task_type: str
    outcome: str = ""


Totals = Mapping[Key, float]


def totals(session: Session) -> Totals:
    """Return the totals up to now."""
    kept, until = _kept(session)
    return _sum(kept, _counted(session, until, None))


def keep_totals(engine: Engine, now: datetime) -> bool:
    """Count the past hours unless that is done; blocks nobody meanwhile, not even the first time."""
    until = now.replace(minute=0, second=0, microsecond=0) - HOUR
    with reading(engine) as session:
        kept, since = _kept(session)
        if since is not None and since >= until:
            return False
        found = _sum(kept, _counted(session, since, until))
    with writing(engine) as session:
        row = session.get(Heartbeat, TOTALS, with_for_update=True)
        if (row.beat_at if row else None) != since:  # another sweep was faster
            return False
        session.merge(
            Heartbeat(name=TOTALS, beat_at=until, counts={_NUMBERS: [[*key, number] for key, number in found.items()]})
        )
    return True


def _kept(session: Session) -> tuple[Totals, datetime | None]:
    """Return the stored totals and the moment up to which they were counted; None: never."""
    row = session.get(Heartbeat, TOTALS)
    if row is None:
        return {}, None
    return {Key(Kind(kind), *of): number for kind, *of, number in row.counts[_NUMBERS]}, row.beat_at


def _sum(some: Totals, others: Totals) -> Totals:
    return {key: some.get(key, 0) + others.get(key, 0) for key in sorted({*some, *others})}


def _counted(session: Session, since: datetime | None, until: datetime | None) -> Totals:
    """Count what was accepted and what ended in [since, until)."""
    there = Submission.phase_task_id == PhaseTask.id, _within(Submission.submitted_at, since, until)
    came = select(func.count()).select_from(Submission).where(*there).correlate(PhaseTask).scalar_subquery()
    accepted = (
        select(CompetitionTask.task_type, func.sum(came))
        .join(PhaseTask, PhaseTask.task_id == CompetitionTask.id)
        .group_by(CompetitionTask.task_type)
    )
    status = ScoringRun.status
    is_timed = and_(status == RunStatus.SCORED, ScoringRun.started_at.is_not(None))
    took = func.sum(_seconds(session, ScoringRun.finished_at) - _seconds(session, ScoringRun.started_at))
    ended = (
        with_task(
            select(
                CompetitionTask.task_type, status, func.count(), func.count().filter(is_timed), took.filter(is_timed)
            ).select_from(ScoringRun)
        )
        .where(likely(status.in_(TERMINAL)), _within(ScoringRun.finished_at, since, until))
        .group_by(CompetitionTask.task_type, status)
    )
    sent = session.execute(accepted).all()
    found: dict[Key, float] = {Key(Kind.ACCEPTED, name): int(count) for name, count in sent if count}
    for name, outcome, count, timed, seconds in session.execute(ended):
        found[Key(Kind.ENDED, name, str(outcome))] = count
        if timed:
            found |= {Key(Kind.TIMED, name): timed, Key(Kind.SECONDS, name): float(seconds)}
    return found


def _within(moment: Any, since: datetime | None, until: datetime | None) -> ColumnElement[bool]:
    later = moment >= since if since is not None else true()
    return and_(later, moment < until if until is not None else true())


def _seconds(session: Session, moment: Any) -> ColumnElement[float]:
    """Convert a moment to seconds, in this database's SQL."""
    if session.get_bind().dialect.name == "postgresql":
        return cast(func.extract("epoch", moment), Float)
    return cast(func.julianday(moment), Float) * 86400.0
