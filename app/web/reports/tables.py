"""View models of report tables: headings that sort by a link, cells with a text, a tone or a reason.

A sort is a column's key, with a leading minus for descending order; it is part of the address, so that a sorted table
can be shared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from app.competitions.ordering import goodness
from evergold.scoring.task import Metric, Score

#: Tones of a heat map range from 0 for the lowest value to this for the highest.
TONES = 10
#: Returns the address of the same table with another sort.
Linked = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Column:
    """A column. key: its name in sorts; title: its heading; hint: tooltip; percent: the unit."""

    key: str
    title: str
    hint: str = ""
    percent: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell.

    text: "" if there is nothing to show; value: for sorting; reason: for a missing value; hint: tooltip; tone: None
    outside of heat maps.
    """

    text: str = ""
    value: float | None = None
    reason: str = ""
    hint: str = ""
    tone: int | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A row. name: its heading; note: short text next to the name."""

    name: str
    cells: tuple[Cell, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """A column heading. address: of the table sorted by it."""

    column: Column
    address: str
    sorted: Literal["ascending", "descending"] | None


@dataclass(frozen=True, slots=True)
class Table:
    """A table. name: its id on the page; corner: heading of the row names; totals: rows at the end, never sorted."""

    name: str
    caption: str
    corner: Heading
    headings: tuple[Heading, ...]
    rows: tuple[Row, ...]
    totals: tuple[Row, ...] = ()
    is_heat_map: bool = False


def make_table(
    name: str,
    caption: str,
    corner: Column,
    columns: Sequence[Column],
    rows: Sequence[Row],
    *,
    totals: Sequence[Row] = (),
    is_heat_map: bool = False,
    sort: str,
    linked: Linked,
) -> Table:
    """Return the table with its rows sorted; an unknown column keeps their order."""
    return Table(
        name=name,
        caption=caption,
        corner=_heading(corner, sort, linked, is_text=True),
        headings=tuple(_heading(column, sort, linked) for column in columns),
        rows=tuple(sorted_rows(rows, corner, columns, sort)),
        totals=tuple(totals),
        is_heat_map=is_heat_map,
    )


def sorted_rows(rows: Sequence[Row], corner: Column, columns: Sequence[Column], sort: str) -> list[Row]:
    """Return the rows sorted; ties keep their order, and rows without a value come last in both directions."""
    key, is_descending = sort.removeprefix("-"), sort.startswith("-")
    if key == corner.key:
        return sorted(rows, key=lambda row: row.name, reverse=is_descending)
    place = next((place for place, column in enumerate(columns) if column.key == key), None)
    if place is None:
        return list(rows)
    sign = -1.0 if is_descending else 1.0
    return sorted(rows, key=lambda row: goodness(row.cells[place].value, sign))


def score_cell(
    score: Score | None, metric: Metric | None, *, in_heat_map: bool = False, precision: int | None = None
) -> Cell:
    """Return the cell of a score: in percent, as a fraction, or as a count; empty without a score.

    precision: maximum number of decimals shown, None for all.
    """
    if score is None:
        return Cell()
    if score.value is None:
        return Cell(reason=score.reason or "")
    value = float(score.value)  # JSON has whole numbers without a point
    if metric is not None and metric.percent:
        shown = number_cell(100 * value, _at_most(1 if in_heat_map else 2, precision, 2))
    elif metric is not None and metric.maximum is None:
        shown = number_cell(value, 0 if value.is_integer() else _at_most(2, precision))
    else:
        shown = number_cell(value, _at_most(4, precision))
    tone = round(TONES * min(max(value, 0.0), 1.0)) if in_heat_map else None
    return replace(shown, value=value, tone=tone)


def _at_most(decimals: int, precision: int | None, shift: int = 0) -> int:
    return decimals if precision is None else max(0, min(decimals, precision - shift))


def number_cell(value: float, decimals: int = 0) -> Cell:
    """Return a number with a real minus sign and thousands separators."""
    return Cell(f"{value:,.{decimals}f}".replace("-", "\N{MINUS SIGN}"), value)


def _heading(column: Column, sort: str, linked: Linked, *, is_text: bool = False) -> Heading:
    """Return a heading whose link sorts numbers in descending and names in ascending order first, then reverses."""
    first, second = (column.key, f"-{column.key}") if is_text else (f"-{column.key}", column.key)
    now: Literal["ascending", "descending"] | None = None
    if sort.removeprefix("-") == column.key:
        now = "descending" if sort.startswith("-") else "ascending"
    return Heading(column, linked(second if sort == first else first), now)
