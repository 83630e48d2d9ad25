"""The axis for the ranking scores of a board: positions of values, from the worse end to the better one.

Positions are in percent of the axis, so that pages, pictures and mails draw alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from app.boards.rows import Cell, Leaderboard
from evergold.figures.svg import round_step

#: Maximum number of steps of an axis, each 1, 2 or 5 times a power of ten.
_STEPS = 6
_ROUND = (1, 2, 5, 10)


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis with the values at its ends; the worse one is on the left."""

    worse: float
    better: float

    def place(self, value: float) -> float:
        """Return the position in percent, with one decimal."""
        share = (value - self.worse) / (self.better - self.worse)
        return round(100 * (0.0 if share < 0 else 1.0 if share > 1 else share), 1)

    def holds(self, value: float) -> bool:
        """Return True if the value lies on the axis, not beyond one of its ends."""
        return min(self.worse, self.better) <= value <= max(self.worse, self.better)


class Spread(NamedTuple):
    """Positions of a row's value and of the ends of its interval; None without an interval."""

    place: float
    low: float | None = None
    high: float | None = None


def axis_of(board: Leaderboard) -> Axis | None:
    """Return a rounded axis for the ranking scores with their intervals; None if all scores are equal.

    Baselines may lie beyond its ends, so that systems do not crowd at one end.
    """
    column = board.columns[board.rank_by]
    systems = [row.cells[board.rank_by] for row in board.rows if row.kind != "baseline"]
    everything = [row.cells[board.rank_by] for row in board.rows]
    cells = next((some for some in (systems, everything) if len(_values(some)) > 1), None)
    if cells is None:
        return None
    values = sorted(_values(cells))
    values += [end for cell in cells if cell.interval for end in (cell.interval.low, cell.interval.high)]
    low, high = _round_ends(values)
    return Axis(low, high) if column.higher_is_better else Axis(high, low)


def _values(cells: Sequence[Cell]) -> set[float]:
    return {cell.value for cell in cells if cell.value is not None}


def spread_of(axis: Axis, cell: Cell) -> Spread | None:
    """Return the position of a value and its interval, left end first; None if it is undefined."""
    if cell.value is None:
        return None
    if cell.interval is None:
        return Spread(axis.place(cell.value))
    low, high = sorted(axis.place(end) for end in (cell.interval.low, cell.interval.high))
    return Spread(axis.place(cell.value), low, high)


def baseline_value(board: Leaderboard) -> float | None:
    """Return the score of the best baseline, the reference for all systems; None if the board has none."""
    place, higher = board.rank_by, board.columns[board.rank_by].higher_is_better
    values = [value for row in board.rows if row.kind == "baseline" and (value := row.cells[place].value) is not None]
    return (max if higher else min)(values, default=None)


def _round_ends(values: Sequence[float]) -> tuple[float, float]:
    """Return the multiples of a round step that enclose all values most closely."""
    low, high = min(values), max(values)
    step = round_step(high - low, _STEPS, _ROUND)
    digits = max(0, -math.floor(math.log10(step)))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return round(first * step, digits), round(last * step, digits)
