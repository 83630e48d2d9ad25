"""Tests of every two visible rows: the basis of pictures, tables and sentences about a board's rows.

On a board as a viewer sees it (`build_leaderboard`), with `cell` a row's in the ranking column: its dot is
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
    """One row's ranking score minus another's.

    low, high: interval of the difference, of this pair alone, None if too many resamples are undefined.
    p: two-sided, of this pair alone.
    corrected: p with Holm's correction over all pairs shown together: on a board every two rows that were compared,
    with or without a rank; between two submissions of a team every score tested. None where the pair stands alone.
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
        """The p that decides: the corrected one, from which ranges and clusters follow, too."""
        return self.p if self.corrected is None else self.corrected

    @property
    def is_significant(self) -> bool:
        """True if the two differ significantly; sign and column show which one is better."""
        return self.decisive_p <= ALPHA and self.difference != 0

    def rounded(self, decimals: int | None, difference: float | None) -> PairTest:
        """Round everything to the scores' decimals; None for full precision. difference: of the scores as shown."""
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
        """Return the test of the other row minus the first."""
        low, high = (None if end is None else -end for end in (self.high, self.low))
        return replace(self, difference=-self.difference, low=low, high=high)


def rounded_p(p: float) -> float:
    """Round up to four decimals, so that a non-significant p does not become significant."""
    return ceil(round(p * _P_STEPS, 6)) / _P_STEPS


#: By the pages of two rows (`LeaderboardRow.page_id`): the first row minus the second. Each pair is contained once.
PairTests = Mapping[tuple[UUID, UUID], PairTest]
