"""Splits of a corpus that leave a wanted number of MWEs unseen, chosen among random ones, after PARSEME 1.2's method.

Source: Ramisch et al. 2020, "Edition 1.2 of the PARSEME Shared Task", Corpus Splits. A part (test, later dev) is taken
out of a pool of units; an MWE in it is unseen when its multiset of lemmas is annotated nowhere in what remains. A
random split of any size is the beginning of a random order of the units. So one pass over an order gives the number of
unseen MWEs at every size: an MWE is unseen from the size on at which all MWEs of the same lemmas are in the part. That
number never falls as the part grows, and neither does its mean over N orders: the binary search for the size is exact.

Deviation: where the paper may draw anew at each size and once more for the choice, the same N orders serve for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

import numpy as np
import numpy.typing as npt

from evergold.corpora.annotated import AnnotatedCorpus, Numbers

Mask = npt.NDArray[np.bool_]

#: At so many sizes the course of the ratio is kept, to be drawn.
_COURSE_SIZES = 60


@dataclass(frozen=True, slots=True)
class Pool:
    """u units to choose from, and their MWEs: unit and lemmas of each, as test data (m) and as training data (k)."""

    unit_count: int
    test_units: Numbers
    test_lemmas: Numbers
    training_units: Numbers
    training_lemmas: Numbers
    lemma_count: int

    def without(self, part: Mask) -> Pool:
        """The pool of the units outside a part, numbered anew in their order."""
        numbers = np.cumsum(~part) - 1
        test, training = ~part[self.test_units], ~part[self.training_units]
        return Pool(
            int(np.count_nonzero(~part)),
            numbers[self.test_units[test]],
            self.test_lemmas[test],
            numbers[self.training_units[training]],
            self.training_lemmas[training],
            self.lemma_count,
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """unseen: the wanted number; repeats: N; seed; step: 0 for test, 1 for dev, so that both draw for themselves."""

    unseen: int
    repeats: int
    seed: int
    step: int


@dataclass(frozen=True, slots=True)
class CoursePoint:
    """The ratio of unseen MWEs at one size, over N splits."""

    size: int
    lowest: float
    mean: float
    highest: float


@dataclass(frozen=True, slots=True)
class Split:
    """The chosen part of a pool.

    part: which of u units are in it; size: how many; mean_unseen, mean_ratio: over N splits of this size (the ratio is
    what the others are held against, r_t); number: which of the N is chosen, from 0; unseen, ratios, costs: of each of
    the N; course: the ratio at sizes from 1 to the largest.
    """

    part: Mask
    size: int
    mean_unseen: float
    mean_ratio: float
    number: int
    unseen: tuple[int, ...]
    ratios: tuple[float, ...]
    costs: tuple[float, ...]
    course: tuple[CoursePoint, ...]


class Unreachable(ValueError):
    """Even the largest part has too few unseen MWEs; step: of the plan; mean_unseen: what it has, over N splits."""

    def __init__(self, step: int, mean_unseen: float) -> None:
        super().__init__(f"{mean_unseen:.1f} unseen MWEs at most, on average")
        self.step = step
        self.mean_unseen = mean_unseen


def pool_of(corpus: AnnotatedCorpus) -> Pool:
    """All units of a corpus."""
    test, training = corpus.test, corpus.training
    units = corpus.units[test.sentences], corpus.units[training.sentences]
    return Pool(corpus.unit_count, units[0], test.lemmas, units[1], training.lemmas, corpus.lemma_count)


def choose_split(pool: Pool, plan: Plan, largest: int) -> Split:
    """The best of `plan.repeats` random splits, at the size that has the wanted number of unseen MWEs on average.

    largest: how many units the part may have, below the pool's. Of two sizes around the wanted number the nearer one
    is taken; of N splits the one that minimises |u_t - u| / u_t + |r_t - r|, u being its number of unseen MWEs, r
    their share of its MWEs (0 where it has none), u_t the wanted number and r_t the mean share; the first of equals.
    Raises Unreachable.
    """
    sizes = np.unique(np.linspace(1, largest, _COURSE_SIZES).astype(np.int64))
    total = np.zeros(pool.unit_count + 1, np.int64)
    at_sizes, orders = [], []
    for number in range(plan.repeats):
        order = mwes_by_rank(pool, random_ranks(pool.unit_count, plan, number))
        unseen, mwes = order.counts(pool.unit_count)
        total += unseen
        at_sizes.append(_ratios(unseen[sizes], mwes[sizes]))
        orders.append(order)
    size = nearest_size(total[: largest + 1], plan.unseen * plan.repeats)
    if size is None:
        raise Unreachable(plan.step, int(total[largest]) / plan.repeats)
    return _chosen(pool, plan, size, orders, _course(sizes, at_sizes))


def random_ranks(count: int, plan: Plan, number: int) -> Numbers:
    """The place of each of `count` units in a random order: 0 to count - 1, the same on every machine.

    Raw words of PCG64, whose stream NumPy promises never to change, are sorted: what NumPy makes of them it may change.
    """
    words = np.random.PCG64([plan.seed, plan.step, number]).random_raw(count)
    bits = np.uint64(count.bit_length())
    # No two are equal, so that there is one way to sort them.
    numbered = words >> bits << bits | np.arange(count, dtype=np.uint64)
    numbered.sort()
    ranks = np.empty(count, np.int64)
    ranks[(numbered & ((np.uint64(1) << bits) - np.uint64(1))).astype(np.int64)] = np.arange(count)
    return ranks


@dataclass(frozen=True, slots=True)
class MwesByRank:
    """One order of the units, for its m MWEs: the rank of the unit each is in, and the highest rank of a unit that has
    its lemmas. A part of a size has the units of lower ranks. Kept small, for there are N."""

    own: npt.NDArray[np.int32]
    last: npt.NDArray[np.int32]

    def count(self, size: int) -> tuple[int, int]:
        """How many unseen MWEs, and how many MWEs, the part of one size has."""
        return int(np.count_nonzero(self.last < size)), int(np.count_nonzero(self.own < size))

    def counts(self, unit_count: int) -> tuple[Numbers, Numbers]:
        """The same for every size from 0 to u."""
        return _below(self.last, unit_count), _below(self.own, unit_count)


def mwes_by_rank(pool: Pool, ranks: Numbers) -> MwesByRank:
    """Where the MWEs of a pool stand in an order of its units."""
    last = np.full(pool.lemma_count, -1, np.int64)
    np.maximum.at(last, pool.training_lemmas, ranks[pool.training_units])
    own = ranks[pool.test_units]
    return MwesByRank(own.astype(np.int32), np.maximum(own, last[pool.test_lemmas]).astype(np.int32))


def nearest_size(total: Numbers, wanted: int) -> int | None:
    """The size at which a number that never falls is nearest to the wanted one, the smaller of equals, from 1; None
    where even the last one is too small. By binary search."""
    size = int(np.searchsorted(total, wanted))
    if size == len(total):
        return None
    if size > 1 and wanted - total[size - 1] <= total[size] - wanted:
        size = int(np.searchsorted(total, total[size - 1]))
    return max(size, 1)


def _below(ranks: npt.NDArray[np.int32], count: int) -> Numbers:
    """How many of the ranks are below 0, 1, … count."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(ranks, minlength=count))])


def _ratios(unseen: Numbers, mwes: Numbers) -> list[float]:
    return [a / b if b else 0.0 for a, b in zip(unseen.tolist(), mwes.tolist(), strict=True)]


def _course(sizes: Numbers, ratios: list[list[float]]) -> tuple[CoursePoint, ...]:
    """fsum: the mean is the same in whatever order a machine adds."""
    columns = zip(*ratios, strict=True)
    return tuple(
        CoursePoint(size, min(column), fsum(column) / len(column), max(column))
        for size, column in zip(sizes.tolist(), columns, strict=True)
    )


def _chosen(pool: Pool, plan: Plan, size: int, orders: Sequence[MwesByRank], course: tuple[CoursePoint, ...]) -> Split:
    counts = np.array([order.count(size) for order in orders], np.int64)
    unseen, ratios = counts[:, 0].tolist(), _ratios(counts[:, 0], counts[:, 1])
    ratio = fsum(ratios) / plan.repeats
    costs = [abs(plan.unseen - u) / plan.unseen + abs(ratio - r) for u, r in zip(unseen, ratios, strict=True)]
    number = costs.index(min(costs))
    part: Mask = random_ranks(pool.unit_count, plan, number) < size
    mean = sum(unseen) / plan.repeats
    return Split(part, size, mean, ratio, number, tuple(unseen), tuple(ratios), tuple(costs), course)
