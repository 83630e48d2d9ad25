"""Power before a competition: the smallest difference of two systems that a test set usually detects."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist, fmean, median

import numpy as np

from evergold.scoring.resampling.jackknife import Jackknife
from evergold.scoring.resampling.pairs import ROUNDING
from evergold.scoring.resampling.parts import Floats, Name
from evergold.scoring.resampling.sample import Sample

POWER, LEVEL = 0.8, 0.95


@dataclass(frozen=True, slots=True)
class Resolution:
    """Resolution of one score.

    score: mean score of the systems.
    smallest: the smallest difference that is detected `power` of the time.
    size: number of units on which the score rests.
    """

    score: float
    smallest: float
    size: int


def resolutions(samples: Sequence[Sample], power: float = POWER, level: float = LEVEL) -> dict[Name, Resolution]:
    """Compute the resolution of every score that depends on items and that all systems have.

    samples: of systems on the same units, whose differences are taken to be as uncertain as those of future systems (by
    the median of all pairs). A single system is compared with an equally good one whose errors are independent: that is
    the worst case. A score whose error is unknown is left out: it is undefined without some unit, or no unit moves it.
    """
    jackknife, sizes = Jackknife(samples[0].units), samples[0].sizes()
    values = [sample.scores() for sample in samples]
    moves = [_influences(jackknife, sample) for sample in samples]
    found = {}
    for name, size in sizes.items():
        scores = [score for of_system in values if (score := of_system.get(name)) is not None]
        if size < 2 or len(scores) < len(samples):
            continue
        error = _error_of_difference([of_system[name] for of_system in moves])
        if math.isfinite(error) and error > ROUNDING * max(map(abs, scores)):
            found[name] = Resolution(fmean(scores), smallest_difference(error, power, level), size)
    return found


def smallest_difference(error: float, power: float = POWER, level: float = LEVEL) -> float:
    """Return the difference that a two-sided test at 1 - level detects with this power, given its standard error."""
    normal = NormalDist()
    return (normal.inv_cdf((1 + level) / 2) + normal.inv_cdf(power)) * error


def smallest_of_shares(items: int, share: float = 0.75, power: float = POWER) -> float:
    """Apply `smallest_difference` to two systems that are each right with the probability `share`, with unrelated
    errors: a rule of thumb.
    """
    return smallest_difference(math.sqrt(2 * share * (1 - share) / items), power)


def _error_of_difference(moves: Sequence[Floats]) -> float:
    """Return the median standard error of all pairs' differences."""
    if len(moves) == 1:
        return math.sqrt(2) * float(np.sqrt(np.sum(moves[0] ** 2)))
    return median(float(np.sqrt(np.sum((one - other) ** 2))) for one, other in combinations(moves, 2))


def _influences(jackknife: Jackknife, sample: Sample) -> dict[Name, Floats]:
    return {name: jackknife.influences(values) for name, values in jackknife.values(sample).items()}
