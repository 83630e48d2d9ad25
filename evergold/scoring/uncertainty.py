"""Uncertainty of scores of local files: intervals of a submission, differences of two, as the server computes them.

This module reads the files; the arithmetic is in `resampling`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evergold.scoring.errors import Problem, ScoringError
from evergold.scoring.resampling.draws import RESAMPLES, Draws
from evergold.scoring.resampling.intervals import LEVEL, UNDEFINED, Interval, intervals
from evergold.scoring.resampling.pairs import Difference, compare
from evergold.scoring.resampling.sample import Sample
from evergold.scoring.task import AnyTask, Metric, Score, read_gold, read_options, score_with_outcomes


class NoOutcomes(ScoringError):
    """The task type's scores cannot be recomputed from single items."""


@dataclass(frozen=True)
class Scored:
    """A scored prediction: its scores, and the outcomes from which they follow."""

    task: AnyTask
    scores: list[Score]
    metrics: Mapping[str, Metric]
    sample: Sample
    warnings: tuple[Problem, ...]

    def intervals(self, level: float = LEVEL) -> list[Interval | str]:
        """Return for every score, in order, an interval, or the reason why there is none."""
        found = intervals(self.sample, self.metrics, level)
        return [found.get((score.metric, score.split), score.reason or UNDEFINED) for score in self.scores]


@dataclass(frozen=True)
class Reader:
    """Scores predictions against one gold, which is read once."""

    task: AnyTask
    options: Any
    gold: Any
    items: Any
    make_sample: Callable[[Mapping[str, Any]], Sample]

    @classmethod
    def of(
        cls,
        task: AnyTask,
        gold: Path,
        options: Mapping[str, Any],
        items: Path | None = None,
        train: Iterable[Path] = (),
    ) -> Reader:
        """Read gold and items; raises all errors of reading, and NoOutcomes."""
        if task.sample is None:
            raise NoOutcomes(f"{task.name} does not say what its scores are computed from, item by item")
        chosen = read_options(task, options)
        answers = read_gold(task, gold, list(train), chosen)
        wanted = task.read_items(items, chosen) if items is not None else task.items_of(answers, chosen)
        return cls(task, chosen, answers, wanted, task.sample)

    def read(self, path: Path) -> Scored:
        """Score the prediction in a file; raises InvalidPrediction."""
        return self.score(self.task.read_prediction(path, self.items, self.options))

    def score(self, prediction: Any) -> Scored:
        """Score a prediction that was read or simulated."""
        scores, outcomes = score_with_outcomes(self.task, self.gold, prediction, self.options)
        return Scored(
            self.task, scores, self.task.metrics_of(self.options), self.make_sample(outcomes or {}), prediction.warnings
        )


def differences(
    first: Scored,
    second: Scored,
    digest: str,
    names: Collection[tuple[str, str]] | None = None,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> dict[tuple[str, str], Difference]:
    """Compare every score that both predictions have: see `pairs.compare`. digest: seed of the random draws, see
    `gold_digest`.
    """
    return compare(first.sample, second.sample, Draws(first.sample.units, digest, resamples), names, level)


def gold_digest(path: Path) -> str:
    """Return an identifier of this gold where no server has sealed it: a sha256 of its files, with their names in a
    folder.
    """
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    whole = hashlib.sha256()
    for file in sorted(one for one in path.rglob("*") if one.is_file()):
        name = file.relative_to(path).as_posix().encode()
        whole.update(hashlib.sha256(name).digest() + hashlib.sha256(file.read_bytes()).digest())
    return whole.hexdigest()
