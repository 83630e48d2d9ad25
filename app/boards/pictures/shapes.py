"""What a picture is made of: axes, points, lines to compare with, and the same told as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from app.base.times import in_utc
from app.competitions.columns import BoardColumn
from evergold.figures.svg import number_text

#: How a picture is drawn.
Kind = Literal["steps", "bars", "histogram", "dots", "scatter", "forest", "matrix"]
#: What a series stands for; it decides mark and line, so that nothing is told by colour alone.
Look = Literal["record", "team", "baseline", "published", "count", "part", "mean", "better", "worse", "same"]
AxisKind = Literal["value", "time", "category"]
UNDEFINED = "–"


@dataclass(frozen=True, slots=True)
class Axis:
    """kind: numbers, moments (ISO 8601 in UTC), or names in this order; decimals, percent: how a number is told."""

    title: str
    kind: AxisKind = "value"
    categories: tuple[str, ...] = ()
    decimals: int = 0
    percent: bool = False

    def text_of(self, value: float | str | None) -> str:
        """A value of this axis, as people write it."""
        if isinstance(value, str):
            return in_utc(datetime.fromisoformat(value)) if self.kind == "time" else value
        if value is None:
            return UNDEFINED
        return f"{number_text(100 * value, self.decimals)} %" if self.percent else number_text(value, self.decimals)


@dataclass(frozen=True, slots=True)
class Point:
    """x, y: on the axes, None where there is no value, for a reason; label: whose.

    low, high: the ends of its interval, None where it has none; value: of a cell in a matrix; rank: as the board writes
    it, empty where it has none; cluster: from 1 at the top, None where there are none.
    """

    x: float | str | None
    y: float | str | None
    label: str = ""
    value: float | None = None
    reason: str = ""
    is_mine: bool = False
    low: float | None = None
    high: float | None = None
    rank: str = ""
    cluster: int | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """Points that belong together, in their order."""

    name: str
    look: Look
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A value to compare with, across the whole picture; axis: the one that it is a value of; is_mine: the viewer's."""

    label: str
    axis: Literal["x", "y"]
    value: float
    is_mine: bool = False


@dataclass(frozen=True, slots=True)
class Heading:
    """A column of the table; is_number: of numbers."""

    title: str
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """The numbers as text; the first cell of a row names it."""

    headings: tuple[Heading, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Something that a picture can be asked for: `value` in its address."""

    title: str
    value: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Picture:
    """name: in addresses; about: how to read it; summary: what is to be seen, in a sentence or two.

    scale: of the cells of a matrix; width: of the ranges of a histogram; diagonal: whether a line marks where x is y;
    splits, teams: what can be chosen instead (parts of the items, systems); several: whether more than one system can;
    left_out: how many points are too many.
    """

    name: str
    title: str
    kind: Kind
    about: str
    summary: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    table: Table
    lines: tuple[Line, ...] = ()
    scale: Axis | None = None
    width: float | None = None
    diagonal: bool = False
    splits: tuple[Choice, ...] = ()
    teams: tuple[Choice, ...] = ()
    several: bool = False
    left_out: int = 0


def value_axis(column: BoardColumn, title: str) -> Axis:
    """The axis of a column's values, told as the board tells them."""
    return Axis(title, "value", decimals=column.decimals, percent=column.percent)


def listed(names: Sequence[str]) -> str:
    """`A`, `A and B`, `A, B and C`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
