"""Pairwise tests on a board: Holm's correction, every system's range of ranks, clusters as WMT draws them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from evergold.scoring.resampling.pairs import Difference
from evergold.scoring.resampling.swaps import Pair

ALPHA = 0.05


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust the p-values of m tests that are considered together: m values from 0 to 1, same order (Holm 1979).

    The smallest is multiplied by m, the next by m - 1, …, none becoming smaller than one before it.
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    steps = p[order] * np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return [float(value) for value in adjusted]


def better_than(
    systems: int, differences: Mapping[Pair, Difference], *, higher_is_better: bool = True, alpha: float = ALPHA
) -> npt.NDArray[np.bool_]:
    """Return which systems are significantly better, all pairs taken together: n × n, true where the row beats the
    column.
    """
    better = np.zeros((systems, systems), dtype=bool)
    adjusted = holm([one.p for one in differences.values()])
    for (first, second), one, p in zip(differences, differences.values(), adjusted, strict=True):
        if p <= alpha and one.difference:
            wins = (one.difference > 0) == higher_is_better
            better[(second, first) if wins else (first, second)] = True
    return better


def rank_ranges(better: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the best and the worst possible rank of n systems: 1 + those that beat it, n - those that it beats.

    better: n × n, true where the row is significantly better than the column.
    """
    above, below = better.sum(axis=0), better.sum(axis=1)
    return [(1 + int(over), len(better) - int(under)) for over, under in zip(above, below, strict=True)]


def clusters(better: npt.NDArray[np.bool_], order: Sequence[int]) -> list[int]:
    """Return the number of each system's cluster, from 1.

    Systems are ordered by score, with a line wherever every system above is significantly better than every system
    below it. Source: WMT's tables of results. better: as for `rank_ranges`; order: the n systems, the best first.
    """
    found = [0] * len(order)
    cluster = 0
    for place, system in enumerate(order):
        upper, lower = list(order[:place]), list(order[place:])
        if better[np.ix_(upper, lower)].all():
            cluster += 1
        found[system] = cluster
    return found
