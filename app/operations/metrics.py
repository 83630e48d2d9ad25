"""Metrics for Prometheus, and the few of them that are public.

Counted in the database, since there are several processes, which restart (`app.operations.totals`). The label `task` is
the task type: numbers of a single competition could reveal what its board hides.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from datetime import datetime, timedelta

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric, SummaryMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.base.db import likely
from app.models import CompetitionTask, Heartbeat, RunStatus, ScoringRun
from app.operations.health import SWEEP, oldest_waiting
from app.operations.totals import Key, Kind, Totals, totals
from app.people.mail import waiting_count
from app.runs.claims import with_task
from app.runs.workers import live_workers
from evergold.version import VERSION

#: Time span of the runs for the usual duration …
USUAL_SPAN = timedelta(hours=24)
#: … and their maximum number.
USUAL_RUNS = 500


def exposition(session: Session, now: datetime) -> bytes:
    """Return all metrics in the text format of Prometheus."""
    registry = CollectorRegistry()
    registry.register(_Found(_metrics(session, now)))
    return generate_latest(registry)


def usual_seconds(session: Session, now: datetime) -> float | None:
    """Return the median seconds from upload to scores over the last day's runs; None if there were none."""
    ended = session.execute(
        select(ScoringRun.queued_at, ScoringRun.finished_at)
        .where(
            # Phrased so that SQLite uses only the index of end times.
            likely(ScoringRun.status == RunStatus.SCORED),
            func.coalesce(ScoringRun.rescoring_id, 0) == 0,  # nobody waits for those
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
            "How long the oldest waiting run waits; 0: none does.",
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
    metric = CounterMetricFamily("evergold_runs_ended", "Runs that ended, by how.", labels=["task", "outcome"])
    for key, count in counted.items():
        if key.kind is Kind.ENDED:
            metric.add_metric([key.task_type, key.outcome], count)
    return metric


def _current(session: Session) -> Metric:
    metric = GaugeMetricFamily("evergold_runs", "Runs that have not ended.", labels=["task", "status"])
    waiting = with_task(select(CompetitionTask.task_type, ScoringRun.status, func.count()).select_from(ScoringRun))
    waiting = waiting.where(ScoringRun.status.in_((RunStatus.QUEUED, RunStatus.RUNNING)))
    for task_type, status, count in session.execute(waiting.group_by(CompetitionTask.task_type, ScoringRun.status)):
        metric.add_metric([task_type, str(status)], count)
    return metric


def _scoring_seconds(counted: Totals) -> Metric:
    metric = SummaryMetricFamily(
        "evergold_scoring_seconds", "From a worker's claim to the scores, of scored runs.", labels=["task"]
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
    actions = CounterMetricFamily("evergold_sweep_actions", "What the sweep has done.", labels=["action"])
    for name, count in sorted(last.counts.items()):
        actions.add_metric([name], count)
    last_ran = "When the sweep last ran."
    at = GaugeMetricFamily("evergold_sweep_last_timestamp_seconds", last_ran, last.beat_at.timestamp())
    return [actions, at]
