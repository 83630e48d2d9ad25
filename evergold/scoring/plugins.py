"""External task types, registered by other distributions in the entry-point group `evergold.tasks` (name → Task).

An unusable plug-in is left out with a readable reason; it never stops anything else. Its scores carry the distribution
that they come from in their signature. docs/adding-a-task.md shows an example.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from evergold.scoring.errors import shorten
from evergold.scoring.running import ProgramScores
from evergold.scoring.task import API_VERSIONS, AnyTask, Score, Task

GROUP = "evergold.tasks"
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_REASON_CHARACTERS = 300


@dataclass(frozen=True)
class UnusablePlugin:
    """A registered task type that cannot be used; reason: completes the sentence of `str()`."""

    name: str
    distribution: str
    reason: str

    def __str__(self) -> str:
        return f"the task type '{self.name}' of {self.distribution} {self.reason}"


class _Unusable(Exception):
    """Carries the reason as text."""


def load_plugins(own: Collection[str]) -> tuple[dict[str, AnyTask], tuple[UnusablePlugin, ...]]:
    """Return the external task types, by name, and the plug-ins that cannot be used. own: names that are
    already taken.
    """
    by_name: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=GROUP):
        by_name.setdefault(point.name, []).append(point)
    tasks: dict[str, AnyTask] = {}
    unusable: list[UnusablePlugin] = []
    for name in sorted(by_name):
        for point in sorted(by_name[name], key=distribution_of):
            try:
                _check_name(point, by_name[name], own)
                tasks[name] = _load(point)
            except _Unusable as error:
                unusable.append(UnusablePlugin(name, distribution_of(point), str(error)))
    return tasks, tuple(unusable)


def distribution_of(point: EntryPoint) -> str:
    """Return name and version, such as `evergold-quiz 1.0.0`."""
    return f"{point.dist.name} {point.dist.version}" if point.dist else "an unknown distribution"


def _check_name(point: EntryPoint, rivals: Collection[EntryPoint], own: Collection[str]) -> None:
    """Raise _Unusable for a bad or a taken name. If two plug-ins share a name, neither is used: import order must not
    decide which one scores.
    """
    if not _NAME.fullmatch(point.name):
        raise _Unusable("has an invalid name: use only letters a-z, digits and hyphens")
    if point.name in own:
        raise _Unusable("has the name of a task type of Evergold itself")
    if others := sorted(distribution_of(rival) for rival in rivals if rival is not point):
        raise _Unusable(f"has the same name as that of {', '.join(others)}; neither is used")


def _load(point: EntryPoint) -> AnyTask:
    try:
        task = point.load()
    except (Exception, SystemExit) as error:  # an import may raise anything; the reason is reported
        reason = shorten(f"{type(error).__name__}: {error}", _REASON_CHARACTERS)
        raise _Unusable(f"cannot be loaded ({point.value}): {reason}") from None
    if not isinstance(task, Task):
        raise _Unusable(f"cannot be used: {point.value} is not an evergold.scoring.task.Task")
    if task.api_version not in API_VERSIONS:
        version = (
            ("does not declare its api_version") if task.api_version is None else f"has api_version {task.api_version}"
        )
        raise _Unusable(f"{version}; this Evergold needs {' or '.join(map(str, API_VERSIONS))}")
    if task.name != point.name:
        raise _Unusable(f"cannot be used: it calls itself '{task.name}'")
    origin = distribution_of(point)
    both = task.score_with_outcomes
    return dataclasses.replace(
        task,
        distribution=origin,
        score=partial(_signed_scores, task.score, origin),
        score_with_outcomes=partial(_signed_with_outcomes, both, origin) if both else None,
        run=partial(_signed_run, task.run, origin) if task.run else None,
    )


def _signed_scores(score: Callable[..., list[Score]], origin: str, *arguments: Any) -> list[Score]:
    """Return the scores of a plug-in, signed with its distribution: another release may compute others."""
    return [_signed(one, origin) for one in score(*arguments)]


def _signed_with_outcomes(
    both: Callable[..., tuple[list[Score], dict[str, Any]]], origin: str, *arguments: Any
) -> tuple[list[Score], dict[str, Any]]:
    scores, outcomes = both(*arguments)
    return [_signed(one, origin) for one in scores], outcomes


def _signed_run(run: Callable[..., ProgramScores], origin: str, *arguments: Any) -> ProgramScores:
    found = run(*arguments)
    return dataclasses.replace(found, scores=[_signed(one, origin) for one in found.scores])


def _signed(score: Score, origin: str) -> Score:
    return dataclasses.replace(score, signature=f"{score.signature}|from:{origin}")
