"""Positions of ranking scores on the axis that all rows of a board share."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.boards.axis import Axis, Spread, axis_of, baseline_value, spread_of
from app.boards.rows import Cell, Interval, Leaderboard
from tests.boards.test_query import BOARD, COLUMNS, row


def board(*values: float | None, higher_is_better: bool = True) -> Leaderboard:
    columns = (replace(COLUMNS[0], higher_is_better=higher_is_better),)
    return replace(BOARD, columns=columns, rank_by=0, rows=tuple(row(f"t{n}", v) for n, v in enumerate(values)))


@pytest.mark.parametrize(
    ("values", "ends"),
    [
        ((0.4, 0.9487, 0.61), (0.4, 1.0)),
        ((0.71, 0.735), (0.71, 0.735)),  # steps of 0.005
        ((12.3, 88.0), (0.0, 100.0)),
        ((-0.3, 0.8), (-0.4, 0.8)),
    ],
)
def test_its_ends_are_round_and_hold_every_value(values: tuple[float, ...], ends: tuple[float, float]) -> None:
    assert axis_of(board(*values)) == Axis(*ends)


def test_better_is_to_the_right_whichever_end_wins() -> None:
    assert Axis(0.4, 1.0).place(0.7) == 50.0
    assert axis_of(board(2.0, 8.0, higher_is_better=False)) == Axis(8.0, 2.0)
    assert Axis(8.0, 2.0).place(2.0) == 100.0
    assert Axis(8.0, 2.0).place(6.5) == 25.0


def test_intervals_lie_within_the_axis_the_left_end_first() -> None:
    cell = Cell(0.5, None, None, Interval(0.31, 0.72, 0.95, "t"))
    rows = (row("a", 0.6), row("b", 0.6)._replace(cells=(cell,)))
    assert axis_of(replace(board(), rows=rows)) == Axis(0.3, 0.8)
    assert spread_of(Axis(0.3, 0.8), cell) == Spread(40.0, 2.0, 84.0)
    assert spread_of(Axis(0.8, 0.3), cell) == Spread(60.0, 16.0, 98.0)
    assert spread_of(Axis(0.3, 0.8), Cell(None, "not entered", None)) is None


def test_a_baseline_far_off_does_not_press_the_systems_together() -> None:
    rows = (*board(0.81, 0.94, 0.87).rows, row("majority", 0.31, kind="baseline"))
    axis = axis_of(replace(board(), rows=rows))
    assert axis == Axis(0.8, 0.95)
    assert (axis.holds(0.31), axis.holds(0.94), axis.place(0.31)) == (False, True, 0.0)
    two_baselines = (row("a", 0.4), row("majority", 0.3, kind="baseline"), row("random", 0.2, kind="baseline"))
    assert axis_of(replace(board(), rows=two_baselines)) == Axis(0.2, 0.4), "one system is no axis"


@pytest.mark.parametrize("values", [(), (0.5,), (0.5, 0.5), (None, 0.5), (None, None)])
def test_there_is_none_where_nothing_can_be_told_apart(values: tuple[float | None, ...]) -> None:
    assert axis_of(board(*values)) is None


def test_the_rule_stands_at_the_best_baseline() -> None:
    rows = (row("a", 0.9), row("Majority", 0.4, kind="baseline"), row("Random", 0.3, kind="baseline"))
    assert baseline_value(replace(board(), rows=rows)) == 0.4
    lower = replace(board(higher_is_better=False), rows=rows)
    assert baseline_value(lower) == 0.3
    assert baseline_value(board(0.9, 0.3)) is None
