"""Certainty of a team's own scores: only of the scores that the phase shows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from app.boards.rows import Interval
from app.boards.run_statistics import StatisticsOfRun
from app.competitions.visibility import View
from app.feedback.certainty import _shown
from app.feedback.scores import OwnScores
from evergold.scoring.resampling.pairs import Difference
from tests.world import ONE_SHOT, ZERO_SHOT

SHOWN, HIDDEN = ("macro_f1", ZERO_SHOT), ("macro_f1", ONE_SHOT)


def test_neither_interval_nor_difference_of_a_score_that_is_not_shown() -> None:
    interval = Interval(0.41, 0.59, 0.95, "t")
    difference = Difference(0.5, 0.62, 0.12, 0.0312, 0.2088, 0.0071, 0, 10_000, 0.95, "paired:1|seed:0")
    kept = StatisticsOfRun(
        "key", (7,), {SHOWN: interval, HIDDEN: interval}, {(7, SHOWN): difference, (7, HIDDEN): difference}
    )
    own = cast(OwnScores, SimpleNamespace(view=View(only=frozenset({SHOWN}))))
    found = _shown(kept, own)
    assert (set(found.intervals), set(found.differences)) == ({SHOWN}, {(7, SHOWN)})
