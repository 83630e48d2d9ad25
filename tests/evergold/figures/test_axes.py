"""Axes reach round numbers around the values, and their ticks have no more digits than needed."""

from __future__ import annotations

import pytest

from evergold.figures.axes import Axis, axis_around


@pytest.mark.parametrize(
    ("values", "ends"),
    [
        ([0.32, 0.78, 0.5], (0.2, 0.9)),
        ([0.78, 0.32], (0.2, 0.9)),
        ([], (0.0, 1.2)),
        ([0.0, 10.0], (0.0, 12.0)),
        ([-3.0, 4.0], (-4.0, 6.0)),
    ],
)
def test_an_axis_reaches_round_numbers_around_all_values(values: list[float], ends: tuple[float, float]) -> None:
    axis = axis_around(values, "Score")
    assert (axis.low, axis.high) == pytest.approx(ends)


@pytest.mark.parametrize(
    ("low", "high", "tick", "text"),
    [(0, 1, 0.5, "0.5"), (0, 1, 1.0, "1"), (0, 0.01, 0.002, "0.002"), (0.5, 0.502, 0.5012, "0.5012")],
)
def test_a_tick_has_the_digits_that_the_ticks_need(low: float, high: float, tick: float, text: str) -> None:
    assert Axis("Score", low, high).tick_text(tick) == text
