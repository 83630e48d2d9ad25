"""Comparison of two systems on the same items: the difference of their scores, and whether chance explains it.

The interval of the difference is a paired bootstrap: both systems are scored on the same resamples. The p is that of a
two-sided paired permutation test (approximate randomisation): unit by unit the two systems may be swapped. Sources:
Noreen 1989; Efron & Tibshirani 1993; Hesterberg 2015 for the percentiles; sacreBLEU does both in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist

import numpy as np

from evergold.scoring.optional import load_package
from evergold.scoring.resampling.draws import METHOD_VERSION, Draws
from evergold.scoring.resampling.parts import Floats, Name, Shared
from evergold.scoring.resampling.sample import Sample
from evergold.scoring.resampling.swaps import NotComparable, Pair, swapped_differences

LEVEL = 0.95
#: There is no interval if more of the resamples than this are undefined.
MOST_UNDEFINED = 0.05
#: P(S ≥ x) ≤ 3.18 P(Z ≥ x), Z normal, for sums S of numbers with chance signs (Bentkus & Dzindzalieta 2015).
_SIGNS = 1 / (4 * (1 - NormalDist().cdf(math.sqrt(2))))
#: Of the scores that are compared: differences that are closer than this share of them differ by rounding alone.
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Difference:
    """One score of two systems.

    difference: the second's minus the first's.
    low, high: the interval of the difference; None if the score is undefined in too many resamples, or if all resamples
    have the same difference, and so do not show its uncertainty.
    p: the two-sided p-value.
    undefined: in how many of `resamples` the score is undefined.
    method: how interval and p were computed, with the seed.
    """

    first: float
    second: float
    difference: float
    low: float | None
    high: float | None
    p: float
    undefined: int
    resamples: int
    level: float
    method: str


def compare(
    first: Sample, second: Sample, draws: Draws, names: Collection[Name] | None = None, level: float = LEVEL
) -> dict[Name, Difference]:
    """Compare every score that both samples have and that depends on items, in the order of the first. names: the
    scores to compare (None: all).

    draws: draws of the samples' units. Raises NotComparable if the samples do not have the same units.
    """
    others = second.scores()
    both = [
        name
        for name, value in first.scores().items()
        if value is not None and others.get(name) is not None and name not in first.constant
        and (names is None or name in names)
    ]  # fmt: skip
    found = compare_all([first, second], both, draws, level=level) if both else {}
    return {name: found[name][0, 1] for name in both if name in found}


def compare_all(
    samples: Sequence[Sample],
    names: Collection[Name],
    draws: Draws,
    pairs: Sequence[Pair] | None = None,
    level: float = LEVEL,
) -> dict[Name, dict[Pair, Difference]]:
    """Compare all pairs of systems, or only `pairs`, for every score in `names`; in all samples these must be defined.

    draws: draws of the units that all samples have; each pair's numbers are independent of the other pairs. Raises
    NotComparable.
    """
    wanted = list(combinations(range(len(samples)), 2)) if pairs is None else list(pairs)
    if any(sample.units.keys != draws.units.keys for sample in samples):
        raise NotComparable("the systems were not scored on the same items")
    few = [sample.only(names) for sample in samples]
    values = [sample.weighted(np.ones((1, len(sample.units)))) for sample in few]
    replicates = _replicates(few, names, draws)
    swapped = swapped_differences(few, wanted, draws)
    sizes = few[0].sizes()
    found: dict[Name, dict[Pair, Difference]] = {}
    for name in names:
        if name not in swapped:  # derived from ranks, such as a p
            continue
        each = np.array([float(value[name][0]) for value in values])
        both = each, replicates[name], swapped[name]
        found[name] = dict(zip(wanted, _differences(wanted, *both, sizes[name], draws, level), strict=True))
    return found


def _replicates(samples: Sequence[Sample], names: Collection[Name], draws: Draws) -> dict[Name, Floats]:
    """Return the scores of every system in every resample: systems × resamples."""
    found = {name: np.empty((len(samples), draws.resamples)) for name in names}
    start = 0
    for weights in draws.weights():
        shared: Shared = {}
        for number, sample in enumerate(samples):
            for name, values in sample.weighted(weights, shared).items():
                if name in found:
                    found[name][number, start : start + len(weights)] = values
        start += len(weights)
    return found


def _differences(
    pairs: Sequence[Pair], values: Floats, replicates: Floats, swapped: Floats, size: int, draws: Draws, level: float
) -> list[Difference]:
    method = f"paired:{METHOD_VERSION}|resamples:{draws.resamples}|units:{draws.units.kind},{size}|seed:{draws.seed}"
    found = []
    for (first, second), chance in zip(pairs, swapped, strict=True):
        difference = float(values[second] - values[first])
        moved = replicates[second] - replicates[first]
        known = moved[~np.isnan(moved)]
        low, high = _expanded_percentiles(known, size, level)
        undefined = len(moved) - len(known)
        size_of_scores = _largest(values[first], values[second], replicates[first], replicates[second])
        if undefined > MOST_UNDEFINED * len(moved) or not len(known) or np.ptp(known) <= ROUNDING * size_of_scores:
            low = high = None
        p = two_sided_p(difference, chance, max(abs(float(values[first])), abs(float(values[second]))))
        found.append(
            Difference(float(values[first]), float(values[second]), difference, low, high, p, undefined,
                       len(moved), level, method)
        )  # fmt: skip
    return found


def two_sided_p(difference: float, chance: Floats, scores: float) -> float:
    """Return how often chance makes a difference at least as large, counting the observed one: more than 0, at most 1.

    chance: the difference in each of r permutations, NaN where a score is undefined, which counts as large. scores: the
    larger of the two scores' absolute values; the tolerance for rounding is relative to it, so p is the same in any
    unit. If none of the permutations is as large, p is below 1 / (r + 1); a bound for sums with random signs then
    limits it, so that many comparisons can be corrected for without millions of permutations.
    """
    observed, whole = abs(difference), max(abs(difference), scores)
    large = int(np.sum(~(np.abs(chance) < observed - ROUNDING * whole)))
    p = (large + 1) / (len(chance) + 1)
    if large or not observed:
        return p
    # In units of the difference, so that no square is too small or too large for a number.
    spread = float(np.sqrt(np.mean((chance / observed) ** 2)))
    return max(min(p, _SIGNS * math.erfc(1 / spread / math.sqrt(2))), 1e-300) if spread else p


def _largest(*values: Floats | float) -> float:
    return float(max(np.max(np.abs(one), initial=0.0, where=~np.isnan(one)) for one in values))


def _expanded_percentiles(known: Floats, size: int, level: float) -> tuple[float | None, float | None]:
    """Return the quantiles of the replicates at `level`, widened for few units as Student's t is wider than a normal
    distribution; None without replicates or for fewer than two units.
    """
    if size < 2 or not len(known):
        return None, None
    t = float(load_package("scipy.special").stdtrit(size - 1, (1 + level) / 2))
    tail = NormalDist().cdf(-math.sqrt(size / (size - 1)) * t)
    low, high = np.quantile(known, [tail, 1 - tail])
    return float(low), float(high)
