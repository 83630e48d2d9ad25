"""Holm's correction, rank ranges and clusters, by hand; and that equal systems are seldom separated."""

from __future__ import annotations

import numpy as np
import pytest

from evergold.scoring.resampling.draws import Draws
from evergold.scoring.resampling.pairs import Difference, compare_all
from evergold.scoring.resampling.ranking import better_than, clusters, holm, rank_ranges
from evergold.scoring.resampling.sample import Sample
from evergold.scoring.resampling.units import Units
from evergold.scoring.samples.tables import label_sums


def test_holm_multiplies_step_by_step_and_never_falls() -> None:
    # Sorted .01 .02 .03 .04: times 4, 3, 2, 1 gives .04 .06 .06 .04, and the last may not fall below the one before.
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def difference(value: float, p: float) -> Difference:
    return Difference(0.0, value, value, None, None, p, 0, 0, 0.95, "")


def board(p_of_pairs: dict[tuple[int, int], float]) -> dict[tuple[int, int], Difference]:
    """Systems 0, 1, 2, … from best to worst."""
    return {pair: difference(-0.1, p) for pair, p in p_of_pairs.items()}


def test_who_is_better_takes_the_direction_of_the_metric_into_account() -> None:
    found = better_than(2, board({(0, 1): 0.01}))
    assert found.tolist() == [[False, True], [False, False]]
    assert better_than(2, board({(0, 1): 0.01}), higher_is_better=False).tolist() == [[False, False], [True, False]]
    assert not better_than(2, board({(0, 1): 0.06})).any()


def test_all_pairs_are_taken_together() -> None:
    alone = board({(0, 1): 0.03})
    assert better_than(3, alone).any()
    assert not better_than(3, alone | board({(0, 2): 0.5, (1, 2): 0.9})).any(), ".03 × 3 is not below .05"


def test_rank_ranges_and_clusters_as_by_hand() -> None:
    """0 and 1 beat 2 and 3; 0 beats 1 not, 2 beats 3 not; a fourth system in between beats nobody."""
    better = np.zeros((5, 5), dtype=bool)
    for winner in (0, 1):
        better[winner, [3, 4]] = True
    order = [0, 1, 2, 3, 4]
    assert rank_ranges(better) == [(1, 3), (1, 3), (1, 5), (3, 5), (3, 5)]
    assert clusters(better, order) == [1, 1, 1, 1, 1], "system 2 belongs to both sides, so there is no line"
    better[[0, 1], 2] = True
    assert clusters(better, order) == [1, 1, 2, 2, 2]
    assert clusters(better[np.ix_([4, 3, 2, 1, 0], [4, 3, 2, 1, 0])], [4, 3, 2, 1, 0]) == [2, 2, 2, 1, 1]


def test_one_system_has_one_rank() -> None:
    assert rank_ranges(np.zeros((1, 1), dtype=bool)) == [(1, 1)]
    assert clusters(np.zeros((1, 1), dtype=bool), [0]) == [1]


def share_of_boards_with_a_separation(boards: int, systems: int, items: int, resamples: int) -> float:
    chance, every = np.random.default_rng(1), np.arange(items)
    units = Units(tuple(map(str, every)))
    separated = 0
    for number in range(boards):
        gold = chance.integers(0, 2, items)
        answers = [np.where(chance.random(items) < 0.8, gold, 1 - gold) for _ in range(systems)]
        samples = [Sample(units, (label_sums(("macro_f1",), "all", ("a", "b"), (gold, a), every),)) for a in answers]
        found = compare_all(samples, [("macro_f1", "all")], Draws(units, f"board {number}", resamples))
        separated += bool(better_than(systems, found["macro_f1", "all"]).any())
    return separated / boards


def test_boards_of_equal_systems_show_no_separation_most_of_the_time() -> None:
    assert share_of_boards_with_a_separation(20, 5, 200, 500) <= 0.2


@pytest.mark.soak
def test_boards_of_20_equal_systems_show_a_separation_at_most_one_time_in_twenty() -> None:
    # At most 5 %; of 200 boards by chance up to 5 % + 2.5 · 1.54 %.
    assert share_of_boards_with_a_separation(200, 20, 300, 10_000) <= 0.09
