"""Metrics of a task: those of its type, or those that the organisers declare in its options.

Options may change after scoring: a metric that is no longer declared still has a name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache

from app.models import CompetitionTask
from evergold.scoring.errors import InvalidOptions
from evergold.scoring.task import Metric, read_options
from evergold.scoring.tasks import TASKS


class DeclaredMetrics(dict[str, Metric]):
    """Declared metrics by name; an unknown name gives a metric of which only the name is known."""

    def __missing__(self, name: str) -> Metric:
        return Metric(name, name, "No longer declared.", minimum=None, maximum=None, has_interval=False)


def metrics_of(task: CompetitionTask) -> Mapping[str, Metric]:
    """Return every metric of the task, by name."""
    type_ = TASKS[task.task_type]
    if type_.metrics_by is None:
        return type_.metrics
    return _declared(task.task_type, json.dumps(task.options, sort_keys=True))


@lru_cache(maxsize=128)
def _declared(task_type: str, options: str) -> Mapping[str, Metric]:
    """Return the metrics, cached because a board needs them several times."""
    type_ = TASKS[task_type]
    try:
        return DeclaredMetrics(type_.metrics_of(read_options(type_, json.loads(options))))
    except InvalidOptions:  # of another version of the task type; `check` reports it
        return DeclaredMetrics()
