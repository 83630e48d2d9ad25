"""Rank ranges, clusters and pair tests of the rows that a viewer sees: based on these alone, to reveal no others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from app.boards.pair_tests import PairTest
from app.boards.statistics import RunPair, Statistics
from evergold.scoring.resampling.pairs import Difference
from evergold.scoring.resampling.ranking import better_than, clusters, holm, rank_ranges


@dataclass(frozen=True, slots=True)
class RankRange:
    """The best and the worst rank that a row may have, and the number of its cluster, from 1 at the top."""

    best: int
    worst: int
    cluster: int


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """A row that may be compared: its run, its page, and if it has a rank."""

    run_id: int
    page_id: UUID
    is_ranked: bool


def rank_ranges_of(statistics: Statistics, runs: Sequence[int], *, higher_is_better: bool) -> dict[int, RankRange]:
    """Return the ranges by run for ranked runs, best first; empty unless statistics cover all, and there are
    comparisons.

    Two runs that could not be compared (one has no stored outcomes) count as not significantly different.
    """
    known = compared(statistics, runs) if statistics.covers(runs) else {}
    if not known:
        return {}
    better = better_than(len(runs), known, higher_is_better=higher_is_better)
    numbers = clusters(better, list(range(len(runs))))
    return {
        run: RankRange(best, worst, number)
        for run, (best, worst), number in zip(runs, rank_ranges(better), numbers, strict=True)
    }


def compared(statistics: Statistics, runs: Sequence[int]) -> dict[RunPair, Difference]:
    """Return the compared pairs among these runs, by their positions, in the order of the first and then the second.

    Iterates over the stored pairs, which are few compared with the possible ones.
    """
    places = {run: place for place, run in enumerate(runs)}
    found = {
        (places[first], places[second]): one
        for (first, second), one in statistics.pairs.items()
        if first in places and second in places
    }
    return dict(sorted(found.items(), key=lambda item: (min(item[0]), max(item[0]))))


def pair_tests(statistics: Statistics, rows: Sequence[ComparedRow]) -> dict[tuple[UUID, UUID], PairTest]:
    """Return the tests of all compared pairs; empty while statistics do not cover all ranked rows."""
    if not statistics.covers([row.run_id for row in rows if row.is_ranked]):
        return {}
    differences = compared(statistics, [row.run_id for row in rows])
    ranked = [pair for pair in differences if all(rows[place].is_ranked for place in pair)]
    corrected = dict(zip(ranked, holm([differences[pair].p for pair in ranked]), strict=True))
    return {
        (rows[second].page_id, rows[first].page_id): _test(one, corrected.get((first, second)))
        for (first, second), one in differences.items()
    }


def _test(one: Difference, corrected: float | None) -> PairTest:
    """Convert a stored difference, which is the second minus the first."""
    return PairTest(one.difference, one.low, one.high, one.level, one.p, corrected, one.method)
