"""The arithmetic of splits: what is unseen at which size, the size chosen, the best of N, against plain loops."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest

from evergold.corpora.splitting import (
    Plan,
    Pool,
    Unreachable,
    choose_split,
    mwes_by_rank,
    nearest_size,
    random_ranks,
)


def pool(mwes: Sequence[Sequence[int]], training: Sequence[Sequence[int]] | None = None) -> Pool:
    """mwes: of each unit, the lemmas of its MWEs; training: the same as training data reads them."""
    units, lemmas = _flat(mwes)
    training_units, training_lemmas = _flat(mwes if training is None else training)
    return Pool(len(mwes), units, lemmas, training_units, training_lemmas, 1 + max([*lemmas, *training_lemmas]))


def _flat(mwes: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    pairs = [(unit, lemma) for unit, lemmas in enumerate(mwes) for lemma in lemmas]
    table = np.array(pairs, np.int64)
    return table[:, 0], table[:, 1]


def counted_by_hand(mwes: Sequence[Sequence[int]], part: set[int]) -> tuple[int, int]:
    """Return the numbers of unseen MWEs and of all MWEs of a part, computed with a set of the remaining ones."""
    known = {lemma for unit, lemmas in enumerate(mwes) for lemma in lemmas if unit not in part}
    inside = [lemma for unit in part for lemma in mwes[unit]]
    return sum(lemma not in known for lemma in inside), len(inside)


def text(units: int, seed: int) -> list[list[int]]:
    chance = random.Random(seed)
    counts = chance.choices((0, 1, 2), (2, 2, 1), k=units)
    return [[int(chance.paretovariate(0.35)) % 50_000 for _ in range(count)] for count in counts]


def test_an_mwe_is_unseen_from_the_size_on_at_which_all_of_its_lemmas_are_in_the_part() -> None:
    """Units in the order given: lemmas 0; 1 and 0; none; 1. The 0s are unseen from size 2 on, the 1s from size 4 on."""
    unseen, mwes = mwes_by_rank(pool([[0], [1, 0], [], [1]]), np.arange(4)).counts(4)
    assert unseen.tolist() == [0, 0, 2, 2, 4]
    assert mwes.tolist() == [0, 1, 3, 3, 4]


def test_what_training_reads_otherwise_leaves_an_mwe_unseen_at_once() -> None:
    """Unit 0 has lemma 0 as test data and 1 as training data, as where a lemma is `_`: nothing ever knows 0."""
    unseen, _ = mwes_by_rank(pool([[0], [0]], [[1], [1]]), np.arange(2)).counts(2)
    assert unseen.tolist() == [0, 1, 2]


def test_counts_at_every_size_are_those_of_a_plain_loop() -> None:
    mwes = text(60, 1)
    ranks = random_ranks(60, Plan(1, 1, 5, 0), 0)
    order = mwes_by_rank(pool(mwes), ranks)
    unseen, inside = order.counts(60)
    for size in range(61):
        part = {unit for unit in range(60) if ranks[unit] < size}
        assert order.count(size) == (unseen[size], inside[size]) == counted_by_hand(mwes, part)


@pytest.mark.parametrize(
    ("total", "wanted", "size"),
    [
        ([0, 0, 3, 8], 3, 2),
        ([0, 0, 3, 8], 5, 2),  # 3 is 2 away, 8 is 3 away
        ([0, 0, 3, 8], 6, 3),
        ([0, 2, 4], 3, 1),  # both are 1 away: the smaller
        ([0, 0, 0, 8], 3, 1),  # 0 is nearer, from size 1 on
        ([0, 0, 0, 8], 9, None),
    ],
)
def test_the_size_is_the_one_whose_mean_is_nearest(total: list[int], wanted: int, size: int | None) -> None:
    assert nearest_size(np.array(total), wanted) == size


def test_random_orders_are_pinned() -> None:
    """Check pinned orders: other ones on a new machine or with a new NumPy would move every split ever made from a
    seed.
    """
    ranks = random_ranks(8, Plan(1, 1, 7, 0), 0)
    assert sorted(ranks.tolist()) == list(range(8))
    assert ranks.tolist() == PINNED
    assert random_ranks(8, Plan(1, 1, 7, 1), 0).tolist() != PINNED
    assert random_ranks(8, Plan(1, 1, 7, 0), 1).tolist() != PINNED
    assert random_ranks(8, Plan(1, 1, 8, 0), 0).tolist() != PINNED


PINNED = [3, 7, 4, 1, 2, 6, 0, 5]


def test_units_before_and_after_are_the_same_when_a_part_is_taken_out() -> None:
    rest = pool([[0], [1], [2, 3], [1]]).without(np.array([False, True, False, False]))
    assert rest.unit_count == 3
    assert rest.test_units.tolist() == [0, 1, 1, 2]
    assert rest.test_lemmas.tolist() == [0, 2, 3, 1]
    assert rest.training_units.tolist() == [0, 1, 1, 2]


def test_too_many_unseen_mwes_are_refused_with_what_can_be_had() -> None:
    """Check with equal MWEs: as long as one unit with an MWE remains, none is unseen."""
    with pytest.raises(Unreachable) as refused:
        choose_split(pool([[0], [0], [0]]), Plan(2, 5, 0, 1), 2)
    assert refused.value.mean_unseen == 0
    assert refused.value.step == 1


def test_over_200_seeds_the_best_of_n_is_chosen_and_the_target_is_met() -> None:
    """Count each of 12 splits again by a plain loop. Of some 160 MWEs in 200 units 40 are wanted."""
    mwes = text(200, 3)
    given, repeats, wanted = pool(mwes), 12, 40
    means, chosen = [], []
    for seed in range(200):
        plan = Plan(wanted, repeats, seed, 0)
        split = choose_split(given, plan, 198)
        parts = [set(np.flatnonzero(random_ranks(200, plan, n) < split.size).tolist()) for n in range(repeats)]
        counts = [counted_by_hand(mwes, part) for part in parts]
        mean = sum(unseen / of for unseen, of in counts) / repeats
        costs = [abs(wanted - unseen) / wanted + abs(mean - unseen / of) for unseen, of in counts]
        assert set(np.flatnonzero(split.part).tolist()) == parts[split.number]
        assert costs[split.number] <= min(costs) + 1e-12
        assert split.costs == pytest.approx(costs)
        means.append(split.mean_unseen)
        chosen.append(split.unseen[split.number])
    assert np.mean(means) == pytest.approx(wanted, rel=0.02)
    assert np.mean(chosen) == pytest.approx(wanted, rel=0.02)


def test_the_course_of_the_ratio_is_that_of_the_splits() -> None:
    mwes = text(80, 4)
    plan = Plan(10, 6, 1, 0)
    split = choose_split(pool(mwes), plan, 78)
    for point in (split.course[0], split.course[17], split.course[-1]):
        ratios = []
        for number in range(6):
            ranks = random_ranks(80, plan, number)
            unseen, of = counted_by_hand(mwes, set(np.flatnonzero(ranks < point.size).tolist()))
            ratios.append(unseen / of if of else 0.0)
        assert (point.lowest, point.highest) == (min(ratios), max(ratios))
        assert point.mean == pytest.approx(sum(ratios) / 6)
    assert [split.course[0].size, split.course[-1].size] == [1, 78]
