"""Stored statistics of a board, and the ranges that follow for the visible rows; all by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

import pytest

from app.boards.rows import Interval
from app.boards.statistics import Statistics, read_statistics, statistics_document
from app.boards.view import ComparedRow, RankRange, compared, pair_tests, rank_ranges_of
from evergold.scoring.resampling.pairs import Difference


def pair(first: float, second: float, p: float) -> Difference:
    return Difference(first, second, second - first, None, 0.5, p, 3, 1000, 0.95, "paired:1")


#: Runs 3, 5 and 9 with 0.9, 0.7 and 0.6; 5 and 9 are not told apart, and alone 5's p with 3 would do, not among three.
THREE = Statistics(
    "key",
    frozenset({3, 5, 9, 11}),
    {3: {("f1", "all"): Interval(0.8, 0.95, 0.95, "t")}},
    {(3, 5): pair(0.9, 0.7, 0.02), (3, 9): pair(0.9, 0.6, 0.03), (5, 9): pair(0.7, 0.6, 0.4)},
)


def test_what_is_kept_is_read_back_the_same() -> None:
    assert read_statistics(json.loads(json.dumps(statistics_document(THREE)))) == THREE
    assert read_statistics(statistics_document(Statistics("key"))) == Statistics("key")


def test_ranges_are_corrected_among_the_rows_that_are_seen() -> None:
    """Check that of three pairs the smallest p counts three times, 0.06, so that none differs; without run 9 there is
    one pair, and 0.02 is enough.
    """
    assert ranges([3, 5, 9]) == {run: RankRange(1, 3, 1) for run in (3, 5, 9)}
    assert ranges([3, 5]) == {3: RankRange(1, 1, 1), 5: RankRange(2, 2, 2)}


def test_ranges_follow_from_the_family_that_the_table_shows() -> None:
    """Run 9, a baseline without a rank, belongs to the family: 3 × 0.02 separates 3 and 5 no more. A tenth as large a p
    does, and then the baseline has no place in the ranges."""
    rows = [row(3), row(5), row(9, is_ranked=False)]
    assert ranges([3, 5], rows) == {run: RankRange(1, 2, 1) for run in (3, 5)}
    surer = replace(THREE, pairs={**THREE.pairs, (3, 5): pair(0.9, 0.7, 0.002)})
    assert ranges([3, 5], rows, surer) == {3: RankRange(1, 1, 1), 5: RankRange(2, 2, 2)}


@pytest.mark.parametrize("higher_is_better", [True, False])
def test_who_is_better_does_not_depend_on_which_run_came_first(higher_is_better: bool) -> None:
    best, worst = (3, 5) if higher_is_better else (5, 3)
    found = ranges([best, worst], higher_is_better=higher_is_better)
    assert (found[best].best, found[worst].best) == (1, 2)


def test_there_are_no_ranges_as_long_as_a_row_was_not_looked_at() -> None:
    assert ranges([3, 5, 12]) == {}


def test_a_run_that_nobody_could_compare_may_have_any_rank() -> None:
    found = ranges([3, 5, 11])
    assert [found[run] for run in (3, 5, 11)] == [RankRange(1, 2, 1), RankRange(2, 3, 1), RankRange(1, 3, 1)]


def test_what_little_was_compared_is_found_of_very_many_rows() -> None:
    """Looking at every two of a million would never end."""
    assert list(compared(THREE, range(1_000_000))) == [(3, 5), (3, 9), (5, 9)]
    assert list(compared(THREE, [9, 5, 3])) == [(1, 0), (2, 0), (2, 1)]


def row(run: int, *, is_ranked: bool = True) -> ComparedRow:
    return ComparedRow(run, UUID(int=run), is_ranked)


def ranges(
    runs: Sequence[int],
    rows: Sequence[ComparedRow] | None = None,
    statistics: Statistics = THREE,
    *,
    higher_is_better: bool = True,
) -> dict[int, RankRange]:
    """Return the ranges by run. rows: all that are compared, by default the ranked ones alone."""
    tests = pair_tests(statistics, rows or [row(run) for run in runs])
    found = rank_ranges_of(tests, [UUID(int=run) for run in runs], higher_is_better=higher_is_better)
    return {page.int: one for page, one in found.items()}


def test_a_pair_has_its_own_p_and_the_one_that_is_corrected_among_all() -> None:
    """Check 0.02, 0.03 and 0.4 corrected by Holm: 3 × 0.02, then 2 × 0.03, then 0.4."""
    found = pair_tests(THREE, [row(9), row(3), row(5)])
    by_runs = {(one.int, other.int): test for (one, other), test in found.items()}
    assert {key: test.corrected for key, test in by_runs.items()} == pytest.approx(
        {(5, 3): 0.06, (9, 3): 0.06, (9, 5): 0.4}
    )
    first = by_runs[5, 3]
    assert (first.low, first.high, first.p, first.is_significant) == (None, 0.5, 0.02, False)
    assert (first.difference, first.decisive_p) == pytest.approx((-0.2, 0.06))
    turned = first.turned()
    assert (turned.low, turned.high, turned.p) == (-0.5, None, 0.02)
    assert turned.difference == pytest.approx(0.2)


def test_rows_with_and_without_a_rank_are_one_family() -> None:
    """Run 9 is a baseline: its pairs are corrected with the others, so that of two differences in one table the larger
    one is never "not significant" where the smaller one is, by another rule alone."""
    found = pair_tests(THREE, [row(3), row(5), row(9, is_ranked=False)])
    by_runs = {(one.int, other.int): test for (one, other), test in found.items()}
    assert {key: (test.p, test.decisive_p) for key, test in by_runs.items()} == {
        (5, 3): (0.02, pytest.approx(0.06)),
        (9, 3): (0.03, pytest.approx(0.06)),
        (9, 5): (0.4, 0.4),
    }
    assert not any(test.is_significant for test in by_runs.values())


def test_no_pair_is_told_as_long_as_a_ranked_row_was_not_looked_at() -> None:
    assert pair_tests(THREE, [row(3), row(5), row(12)]) == {}
    assert pair_tests(THREE, [row(3), row(5), row(12, is_ranked=False)]) != {}
