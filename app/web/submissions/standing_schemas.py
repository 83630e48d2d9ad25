"""The standing of a scored submission on a board, for the API: rank, changes, certainty and peers."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Literal

from pydantic import Field

from app.base.answers import ApiModel
from app.boards.pair_tests import PairTest
from app.boards.rows import Interval
from app.boards.views import IntervalOut
from app.feedback.standings import PeerComparison, RunStanding

_TEST = {
    "difference": 0.0312,
    "low": 0.0121,
    "high": 0.0503,
    "level": 0.95,
    "p": 0.0013,
    "corrected": None,
    "method": "paired:1|resamples:10000|units:item,4217|seed:8c4f0a5b21d97e36",
}
EXAMPLE_STANDING: dict[str, Any] = {
    "board": "detection-zero-shot",
    "metric": "macro_f1",
    "split": "zero_shot/all",
    "value": 0.7037,
    "reason": None,
    "change": 0.0312,
    "to_best": 0.0312,
    "to_baseline": 0.3017,
    "rank": 4,
    "of": 34,
    "rank_then": 4,
    "up": 2,
    "counts": True,
    "why": "latest submission",
    "interval": {
        "low": 0.6911,
        "high": 0.7159,
        "level": 0.95,
        "method": "jackknife-logit-t:1|units:item,4217",
    },
    "change_test": _TEST,
    "rivals": {
        "state": "current",
        "baseline": "Majority class",
        "baseline_test": {**_TEST, "difference": 0.3017, "low": 0.2811, "high": 0.3223, "p": 0.0001},
        "not_distinguishable_from": ["Saudade Lab"],
        "ahead": 2,
        "behind": 30,
    },
}


class DifferenceTestOut(ApiModel):
    """A significance test of the difference of two submissions in one score."""

    difference: float
    low: float | None = Field(description="the end of its interval; null: it is undefined in too many resamples")
    high: float | None
    level: float = Field(description="of the interval")
    p: float = Field(description="of a two-sided paired permutation test, of these two alone")
    corrected: float | None = Field(description="with Holm's correction over all ranked rows; null: not one of these")
    method: str = Field(description="how it was computed, with the seed")


class RivalsOut(ApiModel):
    """An entry compared with the other rows of its board: which of them differ significantly."""

    state: Literal["current", "pending"] = Field(description="`pending`: it is being computed, there is nothing yet")
    baseline: str | None = Field(description="the best one that was compared with it")
    baseline_test: DifferenceTestOut | None = Field(description="what the run has more than that")
    not_distinguishable_from: list[str] = Field(description="teams, in the order of the board")
    ahead: int = Field(description="how many ranked rows are significantly better")
    behind: int = Field(description="how many are significantly worse")


class StandingOut(ApiModel):
    """A scored submission on one board, in the ranking column, as far as the phase shows it to its team."""

    board: str
    metric: str
    split: str
    value: float | None
    reason: str | None
    change: float | None = Field(description="from the team's previous submission; null for its first")
    to_best: float | None = Field(description="to the best of the team's other runs")
    to_baseline: float | None = Field(description="to the best baseline on the board")
    rank: int | None = Field(description="where this run would stand today, or stands if it counts")
    of: int | None = Field(description="among so many")
    rank_then: int | None = Field(description="the team's rank at submission; null in lists that leave it out")
    up: int | None = Field(description="how many places the team rose by this run; null as for `rank_then`")
    counts: bool | None = Field(description="whether this submission is the team's entry; null where that is hidden")
    why: str = Field(description="the rule by which a run counts", examples=["latest submission"])
    interval: IntervalOut | None = Field(
        description="of the value; null: none yet, none to see (see the phase's `precision`), or none at all"
    )
    change_test: DifferenceTestOut | None = Field(description="whether `change` may be chance; null as for `interval`")
    rivals: RivalsOut | None = Field(description="of a submission that counts; null where the board hides comparisons")


def standing_out(standing: RunStanding) -> StandingOut:
    """Return a standing as an API model."""
    return StandingOut(
        board=standing.board.name,
        metric=standing.score.metric,
        split=standing.score.split,
        value=standing.score.value,
        reason=standing.score.reason,
        change=standing.change,
        to_best=standing.to_best,
        to_baseline=standing.to_baseline,
        rank=standing.ranks.now,
        of=standing.ranks.of,
        rank_then=standing.ranks.then,
        up=standing.ranks.up,
        counts=standing.counts,
        why=standing.why,
        interval=interval_out(standing.interval),
        change_test=difference_test_out(standing.change_test),
        rivals=_rivals(standing.rivals) if standing.rivals else None,
    )


def _rivals(found: PeerComparison) -> RivalsOut:
    return RivalsOut(
        state="pending" if found.is_pending else "current",
        baseline=found.baseline or None,
        baseline_test=difference_test_out(found.baseline_test),
        not_distinguishable_from=list(found.alike),
        ahead=found.ahead,
        behind=found.behind,
    )


def interval_out(interval: Interval | None) -> IntervalOut | None:
    """Return an interval as an API model; None stays None."""
    return IntervalOut(**asdict(interval)) if interval else None


def difference_test_out(test: PairTest | None) -> DifferenceTestOut | None:
    """Return a test as an API model; None stays None."""
    return DifferenceTestOut(**asdict(test)) if test else None
