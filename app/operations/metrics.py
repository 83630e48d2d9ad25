"""Metrics for Prometheus, some of which are public.

They are counted in the database, since there are several processes, which restart; the sweep stores totals of ended
runs.
The label `task` is the task type: numbers of a single competition could reveal what its board hides.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric, SummaryMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy import ColumnElement, Engine, Float, and_, cast, func, select, true
from sqlalchemy.orm import Session

from app.base.db import likely, reading, writing
from app.models import TERMINAL, CompetitionTask, Heartbeat, PhaseTask, RunStatus, ScoringRun, Submission
from app.operations.health import SWEEP, oldest_waiting
from app.people.mail import waiting_count
from app.runs.claims import with_task
from app.runs.workers import live_workers
from evergold.version import VERSION

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
    """A key of the totals. outcome: only set for ended runs."""

    kind: Kind
    task_type: str
    outcome: str = ""


Totals = Mapping[Key, float]


def totals(session: Session) -> Totals:
    """Return the current totals."""
    kept, until = _kept(session)
    return _sum(kept, _counted(session, until, None))


def keep_totals(engine: Engine, now: datetime) -> bool:
    """Add the past hours to the stored totals unless that is done; return whether they were added.

    Counts without holding a lock.
    """
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
    """Return the stored totals, and the time up to which they were counted, None for never."""
    row = session.get(Heartbeat, TOTALS)
    if row is None:
        return {}, None
    return {Key(Kind(kind), *of): number for kind, *of, number in row.counts[_NUMBERS]}, row.beat_at


def _sum(some: Totals, others: Totals) -> Totals:
    return {key: some.get(key, 0) + others.get(key, 0) for key in sorted({*some, *others})}


def _counted(session: Session, since: datetime | None, until: datetime | None) -> Totals:
    """Return the counts of what was accepted and what ended in [since, until)."""
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
    """Return the expression for a time in seconds, in this database's SQL."""
    if session.get_bind().dialect.name == "postgresql":
        return cast(func.extract("epoch", moment), Float)
    return cast(func.julianday(moment), Float) * 86400.0


#: Time span of the runs for the usual duration …
USUAL_SPAN = timedelta(hours=24)
#: … and their maximum number.
USUAL_RUNS = 500


def exposition(session: Session, now: datetime) -> bytes:
    """Return all metrics in Prometheus' text format."""
    registry = CollectorRegistry()
    registry.register(_Found(_metrics(session, now)))
    return generate_latest(registry)


def usual_seconds(session: Session, now: datetime) -> float | None:
    """Return the median time in seconds from upload to scores over the last day's runs; None if there were none."""
    ended = session.execute(
        select(ScoringRun.queued_at, ScoringRun.finished_at)
        .where(
            # Phrased so that SQLite uses only the index of end times.
            likely(ScoringRun.status == RunStatus.SCORED),
            func.coalesce(ScoringRun.rescoring_id, 0) == 0,  # rescored runs are not urgent
            ScoringRun.finished_at > now - USUAL_SPAN,
        )
        .order_by(ScoringRun.finished_at.desc())
        .limit(USUAL_RUNS)
    ).all()
    spans = [(finished - queued).total_seconds() for queued, finished in ended if finished is not None]
    return statistics.median(spans) if spans else None


class _Found(Collector):
    """Adapts the metrics to the library's interface."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = list(metrics)

    def collect(self) -> Iterable[Metric]:
        return self._metrics


def _metrics(session: Session, now: datetime) -> list[Metric]:
    oldest, counted = oldest_waiting(session), totals(session)
    return [
        InfoMetricFamily("evergold_build", "What runs here.", {"version": VERSION}),
        _accepted(counted),
        _ended(counted),
        _current(session),
        _scoring_seconds(counted),
        GaugeMetricFamily(
            "evergold_queue_oldest_seconds",
            "How long the oldest waiting run has waited; 0: none is waiting.",
            max(0.0, (now - oldest).total_seconds()) if oldest else 0.0,
        ),
        GaugeMetricFamily("evergold_workers", "Workers that reported recently.", len(live_workers(session, now))),
        GaugeMetricFamily("evergold_mail_waiting", "Mails that are still to be sent.", waiting_count(session)),
        *_sweep(session),
    ]


def _accepted(counted: Totals) -> Metric:
    metric = CounterMetricFamily("evergold_submissions_accepted", "Submissions accepted.", labels=["task"])
    for key, count in counted.items():
        if key.kind is Kind.ACCEPTED:
            metric.add_metric([key.task_type], count)
    return metric


def _ended(counted: Totals) -> Metric:
    metric = CounterMetricFamily("evergold_runs_ended", "Finished runs, by outcome.", labels=["task", "outcome"])
    for key, count in counted.items():
        if key.kind is Kind.ENDED:
            metric.add_metric([key.task_type, key.outcome], count)
    return metric


def _current(session: Session) -> Metric:
    metric = GaugeMetricFamily("evergold_runs", "Unfinished runs.", labels=["task", "status"])
    waiting = with_task(select(CompetitionTask.task_type, ScoringRun.status, func.count()).select_from(ScoringRun))
    waiting = waiting.where(ScoringRun.status.in_((RunStatus.QUEUED, RunStatus.RUNNING)))
    for task_type, status, count in session.execute(waiting.group_by(CompetitionTask.task_type, ScoringRun.status)):
        metric.add_metric([task_type, str(status)], count)
    return metric


def _scoring_seconds(counted: Totals) -> Metric:
    metric = SummaryMetricFamily(
        "evergold_scoring_seconds", "Time from a worker's claim to the scores, of scored runs.", labels=["task"]
    )
    for key, count in counted.items():
        if key.kind is Kind.TIMED:
            took = counted[Key(Kind.SECONDS, key.task_type)]
            metric.add_metric([key.task_type], count_value=int(count), sum_value=took)
    return metric


def _sweep(session: Session) -> list[Metric]:
    last = session.get(Heartbeat, SWEEP)
    if last is None:
        return []
    actions = CounterMetricFamily("evergold_sweep_actions", "Actions of the sweep.", labels=["action"])
    for name, count in sorted(last.counts.items()):
        actions.add_metric([name], count)
    last_ran = "Time when the sweep last ran."
    at = GaugeMetricFamily("evergold_sweep_last_timestamp_seconds", last_ran, last.beat_at.timestamp())
    return [actions, at]
