"""Tests of all pairs of visible rows, for pictures, tables and sentences about a board's rows.

On a board as a viewer sees it (`build_leaderboard`), where `cell` is a row's cell in the ranking column: its dot is
`cell.value`, its interval `cell.interval`, its ranks `row.rank_range`, its cluster `row.cluster`, and its test against
another row `board.pair_test(row, other)`. These contain nothing that the viewer may not see.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil
from uuid import UUID

from app.competitions.visibility import rounded
from evergold.scoring.resampling.ranking import ALPHA

_P_STEPS = 10_000


@dataclass(frozen=True, slots=True)
class PairTest:
    """The difference between two rows' ranking scores, with its test.

    low, high: interval of the difference, for this pair alone; None if too many resamples are undefined.
    p: two-sided, for this pair alone.
    corrected: p with Holm's correction over all pairs shown together: on a board, all pairs of compared rows, ranked or
    not; between two submissions of a team, all scores tested. None if the pair is not part of a family.
    """

    difference: float
    low: float | None
    high: float | None
    level: float
    p: float
    corrected: float | None
    method: str

    @property
    def decisive_p(self) -> float:
        """The p that decides on significance: the corrected one if there is one, as for ranges and clusters."""
        return self.p if self.corrected is None else self.corrected

    @property
    def is_significant(self) -> bool:
        """True if the two differ significantly.

        Which one is better follows from the sign of `difference` and the column's direction.
        """
        return self.decisive_p <= ALPHA and self.difference != 0

    def rounded(self, decimals: int | None, difference: float | None) -> PairTest:
        """Return the test rounded to the scores' decimals; None for full precision. difference: of the shown scores."""
        if decimals is None:
            return self
        return replace(
            self,
            difference=difference or 0.0,
            low=rounded(self.low, decimals),
            high=rounded(self.high, decimals),
            p=rounded_p(self.p),
            corrected=None if self.corrected is None else rounded_p(self.corrected),
        )

    def turned(self) -> PairTest:
        """Return the same test with the rows swapped."""
        low, high = (None if end is None else -end for end in (self.high, self.low))
        return replace(self, difference=-self.difference, low=low, high=high)


def rounded_p(p: float) -> float:
    """Return p rounded up to four decimals, so that a non-significant p does not become significant."""
    return ceil(round(p * _P_STEPS, 6)) / _P_STEPS


#: By the pages of two rows (`LeaderboardRow.page_id`): the first row minus the second. Each pair is contained once.
PairTests = Mapping[tuple[UUID, UUID], PairTest]
