"""Statistics of the runs of a board: an interval for each score, and comparisons of all pairs of runs.

They are stored for a set of runs, unfiltered: `app.boards.view` has the access rules, and `rank_ranges` computes ranges
and clusters of visible rows. Boards with a Ladder have none: they would reveal more than it does.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.boards.rows import Interval
from app.models import BoardStatistics
from evergold.scoring.halves import Half
from evergold.scoring.resampling.pairs import Difference

#: A metric and a split.
Score = tuple[str, str]
RunPair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Statistics:
    """The statistics of a board.

    key: of the computation, so that results of another method are never mixed with these.
    runs: all runs covered, including those without stored outcomes.
    intervals: by run and score.
    pairs: ranking score of the second minus the first run, by pairs of runs with the smaller number first.
    """

    key: str
    runs: frozenset[int] = frozenset()
    intervals: Mapping[int, Mapping[Score, Interval]] = field(default_factory=dict)
    pairs: Mapping[RunPair, Difference] = field(default_factory=dict)

    def interval(self, run_id: int | None, metric: str, split: str) -> Interval | None:
        """Return the interval of a score; None if there is none."""
        return self.intervals.get(run_id or 0, {}).get((metric, split))

    def covers(self, runs: Collection[int]) -> bool:
        """Return True if the statistics cover all given runs."""
        return self.runs.issuperset(runs)


def statistics_of(session: Session, phase_task_id: int, board_id: int, half: Half | None = None) -> Statistics | None:
    """Return the stored statistics; None if there are none. half: the part of divided items."""
    kept = session.get(BoardStatistics, (phase_task_id, board_id))
    document = kept.document if kept else None
    if document is not None and half is Half.PRIVATE:
        document = document.get(Half.PRIVATE)
    return read_statistics(document) if document else None


def has_statistics(session: Session, phase_task_id: int, board_id: int) -> bool:
    """Return True if there are stored statistics, without reading their document."""
    place = BoardStatistics.phase_task_id == phase_task_id, BoardStatistics.board_id == board_id
    return session.scalar(select(BoardStatistics.board_id).where(*place)) is not None


def statistics_document(statistics: Statistics) -> dict[str, Any]:
    """Return the document to store; `read_statistics` reads it."""
    return {
        "key": statistics.key,
        "runs": sorted(statistics.runs),
        "intervals": [
            [run, metric, split, one.low, one.high, one.level, one.method]
            for run, of_run in sorted(statistics.intervals.items())
            for (metric, split), one in sorted(of_run.items())
        ],
        "pairs": [
            [*pair, one.first, one.second, one.difference, one.low, one.high, one.p, one.undefined]
            for pair, one in sorted(statistics.pairs.items())
        ],
        "pairs_by": _common(statistics.pairs),
    }


def read_statistics(document: Mapping[str, Any]) -> Statistics:
    """Parse a document from `statistics_document`."""
    intervals: dict[int, dict[Score, Interval]] = {}
    for run, metric, split, *rest in document["intervals"]:
        intervals.setdefault(run, {})[metric, split] = Interval(*rest)
    by = document["pairs_by"]
    pairs = {(first, second): Difference(*rest, *by) for first, second, *rest in document["pairs"]}
    return Statistics(document["key"], frozenset(document["runs"]), intervals, pairs)


def _common(pairs: Mapping[RunPair, Difference]) -> list[Any]:
    """Return the values that all pairs share: resamples, level and method."""
    return next(([one.resamples, one.level, one.method] for one in pairs.values()), [])
