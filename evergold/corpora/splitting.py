"""Splits of a corpus that leave a wanted number of MWEs unseen, chosen among random ones, after PARSEME 1.2's method.

Source: Ramisch et al. 2020, "Edition 1.2 of the PARSEME Shared Task", Corpus Splits. A part (test, later dev) is taken
out of a pool of units; an MWE in it is unseen if its multiset of lemmas is annotated nowhere in the rest. A random
split of any size is the beginning of a random order of the units. So one pass over an order gives the number of unseen
MWEs at every size: an MWE is unseen from the size on at which all MWEs of the same lemmas are in the part. That number
never falls as the part grows, and neither does its mean over N orders: the binary search for the size is exact.

Deviation: where the paper may draw new orders at each size and once more for the choice, the same N orders serve for
all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

import numpy as np
import numpy.typing as npt

from evergold.corpora.annotated import AnnotatedCorpus, Numbers

Mask = npt.NDArray[np.bool_]

#: Number of sizes at which the ratio is recorded for the drawing.
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
        """Return the pool of the units outside a part, renumbered without gaps."""
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
    """Parameters of a split.

    unseen: the wanted number of unseen MWEs.
    repeats: the number N of random splits.
    step: 0 for test, 1 for dev, so that both draw independently.
    """

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

    part: for each of u units, True if it is in the part.
    size: number of units in the part.
    mean_unseen, mean_ratio: over N splits of this size (the ratio is r_t, with which the others are compared).
    number: the index of the chosen one of the N splits.
    unseen, ratios, costs: one value for each of the N splits.
    course: the ratio at sizes from 1 to the largest.
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
    """Even the largest part has too few unseen MWEs. step: the plan's; mean_unseen: the mean number over N splits."""

    def __init__(self, step: int, mean_unseen: float) -> None:
        super().__init__(f"{mean_unseen:.1f} unseen MWEs at most, on average")
        self.step = step
        self.mean_unseen = mean_unseen


def pool_of(corpus: AnnotatedCorpus) -> Pool:
    """Return the pool of all units of a corpus."""
    test, training = corpus.test, corpus.training
    units = corpus.units[test.sentences], corpus.units[training.sentences]
    return Pool(corpus.unit_count, units[0], test.lemmas, units[1], training.lemmas, corpus.lemma_count)


def choose_split(pool: Pool, plan: Plan, largest: int) -> Split:
    """Return the best of `plan.repeats` random splits, at the size with the wanted number of unseen MWEs on average.

    largest: the maximum number of units in the part, less than the pool has. Of two sizes around the wanted number the
    nearer one is taken; of N splits the one that minimises |u_t - u| / u_t + |r_t - r|, u being its number of unseen
    MWEs, r their share of its MWEs (0 if it has none), u_t the wanted number and r_t the mean share; the first of
    equally good ones. Raises Unreachable.
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
    """Return the rank of each of `count` units in a random order: 0 to count - 1, the same on every machine.

    It sorts raw words of PCG64, whose stream NumPy guarantees, because NumPy's derived distributions may change.
    """
    words = np.random.PCG64([plan.seed, plan.step, number]).random_raw(count)
    bits = np.uint64(count.bit_length())
    # No two are equal, so that there is only one way to sort them.
    numbered = words >> bits << bits | np.arange(count, dtype=np.uint64)
    numbered.sort()
    ranks = np.empty(count, np.int64)
    ranks[(numbered & ((np.uint64(1) << bits) - np.uint64(1))).astype(np.int64)] = np.arange(count)
    return ranks


@dataclass(frozen=True, slots=True)
class MwesByRank:
    """Ranks of the m MWEs in one order of the units.

    own: for each MWE the rank of its unit; last: the highest rank of a unit that has an MWE with its lemmas. A part of
    size s consists of the units with ranks below s. Compact, because there are N orders.
    """

    own: npt.NDArray[np.int32]
    last: npt.NDArray[np.int32]

    def count(self, size: int) -> tuple[int, int]:
        """Return the number of unseen MWEs, and of all MWEs, in the part of this size."""
        return int(np.count_nonzero(self.last < size)), int(np.count_nonzero(self.own < size))

    def counts(self, unit_count: int) -> tuple[Numbers, Numbers]:
        """Return `count` for every size from 0 to u."""
        return _below(self.last, unit_count), _below(self.own, unit_count)


def mwes_by_rank(pool: Pool, ranks: Numbers) -> MwesByRank:
    """Return the ranks of the MWEs of a pool in an order of its units."""
    last = np.full(pool.lemma_count, -1, np.int64)
    np.maximum.at(last, pool.training_lemmas, ranks[pool.training_units])
    own = ranks[pool.test_units]
    return MwesByRank(own.astype(np.int32), np.maximum(own, last[pool.test_lemmas]).astype(np.int32))


def nearest_size(total: Numbers, wanted: int) -> int | None:
    """Return the size (at least 1) at which a non-decreasing number is nearest to the wanted one, by binary search.

    total: the number at each size from 0. Of two equally near sizes, the smaller one; None if even the last number is
    too small.
    """
    size = int(np.searchsorted(total, wanted))
    if size == len(total):
        return None
    if size > 1 and wanted - total[size - 1] <= total[size] - wanted:
        size = int(np.searchsorted(total, total[size - 1]))
    return max(size, 1)


def _below(ranks: npt.NDArray[np.int32], count: int) -> Numbers:
    """Return, for each number from 0 to `count`, how many ranks are below it."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(ranks, minlength=count))])


def _ratios(unseen: Numbers, mwes: Numbers) -> list[float]:
    return [a / b if b else 0.0 for a, b in zip(unseen.tolist(), mwes.tolist(), strict=True)]


def _course(sizes: Numbers, ratios: list[list[float]]) -> tuple[CoursePoint, ...]:
    """Summarise the ratios at each size.

    The mean is computed with fsum, so that it does not depend on the order in which a machine adds.
    """
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


TRAIN, DEV, TEST = "train", "dev", "test"
PARTS = (TRAIN, DEV, TEST)


@dataclass(frozen=True, slots=True)
class SplitAims:
    """The numbers of unseen MWEs that test and dev should have (0 for dev: no dev); repeats: how many random splits are
    tried.
    """

    unseen_test: int
    unseen_dev: int
    repeats: int
    seed: int


@dataclass(frozen=True, slots=True)
class Partition:
    """A finished partition.

    test: the split of the whole corpus.
    dev: the split of the rest; None if no dev is wanted.
    parts: by name of the part, for each of n sentences, True if it is in the part.
    """

    test: Split
    dev: Split | None
    parts: dict[str, Mask]


@dataclass(frozen=True, slots=True)
class Unseen:
    """MWEs of a part that are annotated nowhere in the named other parts.

    unseen: their number.
    ratio: their share of the part's MWEs (None: it has none).
    categories: their number in each category.
    """

    against: tuple[str, ...]
    unseen: int
    ratio: float | None
    categories: dict[str, int]


@dataclass(frozen=True, slots=True)
class Described:
    """A part: its size, its MWEs by category, and those of them that are unseen in each of some other parts."""

    name: str
    sentences: int
    tokens: int
    mwes: int
    categories: dict[str, int]
    unseen: tuple[Unseen, ...]


def partition(corpus: AnnotatedCorpus, wanted: SplitAims) -> Partition:
    """Split test from the corpus, then dev from the rest; units stay whole, at least one is left for training.

    Raises Unreachable, whose step is 0 for test, 1 for dev.
    """
    pool = pool_of(corpus)
    left_over = 2 if wanted.unseen_dev else 1
    test = choose_split(pool, Plan(wanted.unseen_test, wanted.repeats, wanted.seed, 0), pool.unit_count - left_over)
    dev, in_dev = None, np.zeros(pool.unit_count, np.bool_)
    if wanted.unseen_dev:
        rest = pool.without(test.part)
        dev = choose_split(rest, Plan(wanted.unseen_dev, wanted.repeats, wanted.seed, 1), rest.unit_count - 1)
        in_dev[~test.part] = dev.part
    units = {TRAIN: ~test.part & ~in_dev, DEV: in_dev, TEST: test.part}
    return Partition(test, dev, {name: part[corpus.units] for name, part in units.items() if name != DEV or dev})


def describe(corpus: AnnotatedCorpus, parts: dict[str, Mask]) -> list[Described]:
    """Describe each part: dev is compared with train, test with train and with train and dev."""
    against: dict[str, list[tuple[str, ...]]] = {
        TRAIN: [],
        DEV: [(TRAIN,)],
        TEST: [(TRAIN,), (TRAIN, DEV)] if DEV in parts else [(TRAIN,)],
    }
    return [_described(corpus, parts, name, against[name]) for name in PARTS if name in parts]


def _described(corpus: AnnotatedCorpus, parts: dict[str, Mask], name: str, against: list[tuple[str, ...]]) -> Described:
    chosen = parts[name]
    mwes = chosen[corpus.test.sentences]
    number = int(np.count_nonzero(mwes))
    return Described(
        name,
        int(np.count_nonzero(chosen)),
        int(corpus.words[chosen].sum()),
        number,
        _by_category(corpus, mwes),
        tuple(_unseen(corpus, parts, mwes, others) for others in against),
    )


def _unseen(
    corpus: AnnotatedCorpus, parts: dict[str, Mask], mwes: npt.NDArray[np.bool_], against: tuple[str, ...]
) -> Unseen:
    in_training = np.logical_or.reduce([parts[other] for other in against])
    known = np.zeros(corpus.lemma_count, np.bool_)
    known[corpus.training.lemmas[in_training[corpus.training.sentences]]] = True
    unseen = mwes & ~known[corpus.test.lemmas]
    number, of = int(np.count_nonzero(unseen)), int(np.count_nonzero(mwes))
    return Unseen(against, number, number / of if of else None, _by_category(corpus, unseen))


def _by_category(corpus: AnnotatedCorpus, mwes: npt.NDArray[np.bool_]) -> dict[str, int]:
    chosen = np.flatnonzero(mwes).tolist()
    return dict(sorted(Counter(corpus.test.categories[place] for place in chosen).items()))
