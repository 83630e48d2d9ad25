"""The server's numbers for Prometheus, and the few of them that everybody may see.

Counted in the database and not in a process: there are several, and they are restarted. A task is here a task type:
numbers of a single competition could tell what its board does not.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric, SummaryMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy import ColumnElement, Float, cast, func, select
from sqlalchemy.orm import Session

from app.models import TERMINAL, CompetitionTask, Heartbeat, PhaseTask, RunStatus, ScoringRun, Submission
from app.operations.health import SWEEP, oldest_waiting
from app.people.mail import waiting_count
from app.runs.workers import live_workers
from evergold.version import VERSION

#: How far back one looks for what is usual …
USUAL_SPAN = timedelta(hours=24)
#: … and at how many runs at most.
USUAL_RUNS = 500


def exposition(session: Session, now: datetime) -> bytes:
    """All numbers, in the text format of Prometheus."""
    registry = CollectorRegistry()
    registry.register(_Found(_metrics(session, now)))
    return generate_latest(registry)


def usual_seconds(session: Session, now: datetime) -> float | None:
    """The median from upload to scores, of the last day's runs; None when there were none."""
    ended = session.execute(
        select(ScoringRun.queued_at, ScoringRun.finished_at)
        .where(
            ScoringRun.status == RunStatus.SCORED,
            ScoringRun.is_current,
            ScoringRun.rescoring_id.is_(None),  # nobody waits for those
            # What waited longer than the span itself is not usual, and an index has when it was queued.
            ScoringRun.queued_at > now - 2 * USUAL_SPAN,
            ScoringRun.finished_at > now - USUAL_SPAN,
        )
        .order_by(ScoringRun.finished_at.desc())
        .limit(USUAL_RUNS)
    ).all()
    spans = [(finished - queued).total_seconds() for queued, finished in ended if finished is not None]
    return statistics.median(spans) if spans else None


class _Found(Collector):
    """What was counted, as the library wants it handed over."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = list(metrics)

    def collect(self) -> Iterable[Metric]:
        return self._metrics


def _metrics(session: Session, now: datetime) -> list[Metric]:
    oldest = oldest_waiting(session)
    return [
        InfoMetricFamily("evergold_build", "What runs here.", {"version": VERSION}),
        _accepted(session),
        *_runs(session),
        _scoring_seconds(session),
        GaugeMetricFamily(
            "evergold_queue_oldest_seconds",
            "How long the oldest waiting run waits; 0: none does.",
            max(0.0, (now - oldest).total_seconds()) if oldest else 0.0,
        ),
        GaugeMetricFamily("evergold_workers", "Workers that said something lately.", len(live_workers(session, now))),
        GaugeMetricFamily("evergold_mail_waiting", "Mails that are still to be sent.", waiting_count(session)),
        *_sweep(session),
    ]


def _accepted(session: Session) -> Metric:
    metric = CounterMetricFamily("evergold_submissions_accepted", "Submissions accepted.", labels=["task"])
    counted = _by_task(select(CompetitionTask.task_type, func.count(Submission.id)).select_from(Submission))
    for task_type, count in session.execute(counted):
        metric.add_metric([task_type], count)
    return metric


def _runs(session: Session) -> list[Metric]:
    ended = CounterMetricFamily("evergold_runs_ended", "Runs that ended, by how.", labels=["task", "outcome"])
    current = GaugeMetricFamily("evergold_runs", "Runs that have not ended.", labels=["task", "status"])
    counted = _of_runs(select(CompetitionTask.task_type, ScoringRun.status, func.count(ScoringRun.id)))
    for task_type, status, count in session.execute(counted.group_by(ScoringRun.status)):
        (ended if status in TERMINAL else current).add_metric([task_type, str(status)], count)
    return [ended, current]


def _scoring_seconds(session: Session) -> Metric:
    metric = SummaryMetricFamily(
        "evergold_scoring_seconds", "From a worker's claim to the scores, of scored runs.", labels=["task"]
    )
    took = func.sum(_seconds(session, ScoringRun.finished_at) - _seconds(session, ScoringRun.started_at))
    counted = _of_runs(select(CompetitionTask.task_type, func.count(ScoringRun.id), took))
    is_timed = (ScoringRun.status == RunStatus.SCORED) & ScoringRun.started_at.is_not(None)
    for task_type, count, seconds in session.execute(counted.where(is_timed)):
        metric.add_metric([task_type], count_value=count, sum_value=float(seconds))
    return metric


def _sweep(session: Session) -> list[Metric]:
    last = session.get(Heartbeat, SWEEP)
    if last is None:
        return []
    actions = CounterMetricFamily("evergold_sweep_actions", "What the sweep has done.", labels=["action"])
    for name, count in sorted(last.counts.items()):
        actions.add_metric([name], count)
    last_ran = "When the sweep last ran."
    at = GaugeMetricFamily("evergold_sweep_last_timestamp_seconds", last_ran, last.beat_at.timestamp())
    return [actions, at]


def _of_runs(query: Any) -> Any:
    """Of runs, by task type."""
    return _by_task(query.select_from(ScoringRun).join(Submission, Submission.id == ScoringRun.submission_id))


def _by_task(query: Any) -> Any:
    """Of submissions, by task type; a query's type would name every column."""
    return (
        query.join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
        .group_by(CompetitionTask.task_type)
    )


def _seconds(session: Session, moment: Any) -> ColumnElement[float]:
    """A moment as seconds, as this database computes them."""
    if session.get_bind().dialect.name == "postgresql":
        return cast(func.extract("epoch", moment), Float)
    return cast(func.julianday(moment), Float) * 86400.0
