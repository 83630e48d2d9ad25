"""Public API of scoring: `score()` and `validate()` on files, the registered TASKS, and their result and error types.

`import evergold.scoring` alone is quick: the tasks, and numpy with them, are loaded on first use.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evergold.scoring.errors import (
    InvalidFile,
    InvalidGold,
    InvalidItems,
    InvalidOptions,
    InvalidPrediction,
    Problem,
    ScoringError,
    UnknownTask,
)

if TYPE_CHECKING:
    from evergold.scoring.task import Score
    from evergold.scoring.tasks import TASKS, get_task

__all__ = [
    "TASKS",
    "InvalidFile",
    "InvalidGold",
    "InvalidItems",
    "InvalidOptions",
    "InvalidPrediction",
    "Problem",
    "Score",
    "ScoringError",
    "UnknownTask",
    "get_task",
    "score",
    "validate",
]

FilePath = str | PathLike[str]


def score(
    task_name: str,
    gold: FilePath,
    prediction: FilePath,
    options: Mapping[str, Any] | None = None,
    items: FilePath | None = None,
    train: Iterable[FilePath] = (),
) -> list[Score]:
    """Return the scores of a prediction in the task's fixed order: the same numbers as on the server's boards.

    task_name: a name in TASKS; gold, prediction: paths of files (or of folders, where the task has these); options:
    what an organiser may set, by name; items: the blind file (None: the gold defines what a prediction must cover);
    train: training data for tasks that compare gold with it. Raises UnknownTask, InvalidOptions, InvalidGold,
    InvalidItems, InvalidPrediction, or OSError when a file cannot be opened.
    """
    from evergold.scoring.task import read_gold, read_options
    from evergold.scoring.tasks import get_task

    task = get_task(task_name)
    chosen = read_options(task, options)
    answers = read_gold(task, Path(gold), [Path(path) for path in train], chosen)
    wanted = task.read_items(Path(items), chosen) if items is not None else task.items_of(answers, chosen)
    return task.score(answers, task.read_prediction(Path(prediction), wanted, chosen), chosen)


def validate(
    task_name: str, items: FilePath, prediction: FilePath, options: Mapping[str, Any] | None = None
) -> tuple[Problem, ...]:
    """Return the warnings about a prediction that can be scored; no gold is needed. Arguments and errors as for
    `score`.
    """
    from evergold.scoring.task import read_options
    from evergold.scoring.tasks import get_task

    task = get_task(task_name)
    chosen = read_options(task, options)
    checked = task.read_prediction(Path(prediction), task.read_items(Path(items), chosen), chosen)
    warnings: tuple[Problem, ...] = checked.warnings
    return warnings


def __getattr__(name: str) -> Any:
    """Load TASKS, get_task and Score on first use."""
    if name in ("TASKS", "get_task"):
        from evergold.scoring import tasks as module
    elif name == "Score":
        from evergold.scoring import task as module  # type: ignore[no-redef]  # mypy sees one name for two modules
    else:
        raise AttributeError(f"module 'scoring' has no attribute {name!r}")
    return getattr(module, name)
