"""Every two rows that somebody sees, tested: what pictures, tables and sentences about a board's rows begin with.

Of a board as a viewer is shown it (`build_leaderboard`), with `cell` a row's in the ranking column: its
dot is `cell.value`, its interval `cell.interval`, its ranks `row.rank_range`, its cluster `row.cluster`, and who
beats whom `board.pair_test(row, other)`. Nothing is here that this viewer may not see.
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
    """One row's ranking score less another's. low, high: the interval of that, None where too many resamples are
    undefined; p: two-sided, of this pair alone; corrected: the same with Holm's correction over all pairs of ranked
    rows, None where one of the two has no rank, as a baseline."""

    difference: float
    low: float | None
    high: float | None
    level: float
    p: float
    corrected: float | None
    method: str

    @property
    def decisive_p(self) -> float:
        """The p that decides: corrected where both rows are ranked, by which ranges and clusters are drawn."""
        return self.p if self.corrected is None else self.corrected

    @property
    def is_significant(self) -> bool:
        """Whether the two are told apart; which one is better, the sign and the column say."""
        return self.decisive_p <= ALPHA and self.difference != 0

    def rounded(self, decimals: int | None, difference: float | None) -> PairTest:
        """Round everything to the decimals of the scores; None leaves it whole. difference: of the scores as shown."""
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
        """The other less the one."""
        low, high = (None if end is None else -end for end in (self.high, self.low))
        return replace(self, difference=-self.difference, low=low, high=high)


def rounded_p(p: float) -> float:
    """Four decimals, rounded up, so that what is not significant does not become so."""
    return ceil(round(p * _P_STEPS, 6)) / _P_STEPS


#: By the pages of two rows (`LeaderboardRow.page_id`): the first row less the second. Each pair stands there once.
PairTests = Mapping[tuple[UUID, UUID], PairTest]
