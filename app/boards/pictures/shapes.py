"""The parts of a picture: axes, points, reference lines, and the table with the same data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from app.base.times import in_utc
from app.competitions.columns import BoardColumn
from evergold.figures.svg import number_text

#: Types of drawings.
Kind = Literal["steps", "bars", "histogram", "dots", "scatter", "forest", "matrix"]
#: Meaning of a series, which determines mark and line, so that colour is never the only difference.
Look = Literal["record", "team", "baseline", "published", "count", "part", "mean", "better", "worse", "same"]
AxisKind = Literal["value", "time", "category"]
UNDEFINED = "–"


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis. kind: numbers, moments (ISO 8601 in UTC), or names in this order; decimals, percent: number format."""

    title: str
    kind: AxisKind = "value"
    categories: tuple[str, ...] = ()
    decimals: int = 0
    percent: bool = False

    def text_of(self, value: float | str | None) -> str:
        """Format a value of this axis."""
        if isinstance(value, str):
            return in_utc(datetime.fromisoformat(value)) if self.kind == "time" else value
        if value is None:
            return UNDEFINED
        return f"{number_text(100 * value, self.decimals)} %" if self.percent else number_text(value, self.decimals)


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a series.

    x, y: on the axes, None if there is no value, with the reason; label: its system.
    low, high: ends of its interval, None if it has none.
    value: of a cell in a matrix.
    rank: as on the board, empty if it has none; cluster: from 1 at the top, None if there are none.
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
    """Points that belong together, in order."""

    name: str
    look: Look
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A reference value across the whole picture. axis: the one that it is a value of; is_mine: the viewer's own."""

    label: str
    axis: Literal["x", "y"]
    value: float
    is_mine: bool = False


@dataclass(frozen=True, slots=True)
class Heading:
    """A column of the table. is_number: its cells are numbers."""

    title: str
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """The numbers as text; the first cell of a row names it."""

    headings: tuple[Heading, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """An option of a picture. value: of the parameter in its address."""

    title: str
    value: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture.

    name: in addresses; about: how to read it; summary: its content in a sentence or two.
    scale: of the cells of a matrix; width: of the ranges of a histogram; diagonal: draw a line where x equals y.
    splits, teams: the options (parts of the items, systems); several: more than one system can be chosen.
    left_out: number of points that are left out because there are too many.
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
    """Return the axis of a column's values, in the board's number format."""
    return Axis(title, "value", decimals=column.decimals, percent=column.percent)


def listed(names: Sequence[str]) -> str:
    """Return `A`, `A and B`, `A, B and C`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
