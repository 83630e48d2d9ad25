"""Tables of a report as templates show them: headings that sort by a link, cells with a text, a tone or a reason.

A sort is a column's key, with a minus before it for the largest value first; it stands in the address, so that what one
sees can be sent to somebody else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from evergold.scoring.task import Metric, Score

#: Tones of a heat map, from 0 for the lowest value to this for the highest.
TONES = 10
#: Makes the address of the same table, sorted otherwise.
Linked = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Column:
    """key: what a sort calls it; title: what people read; hint: more words, on pointing at it; percent: the unit."""

    key: str
    title: str
    hint: str = ""
    percent: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """text: empty where there is nothing; value: what sorts; reason: why there is no value; hint: more words; tone:
    None outside of heat maps."""

    text: str = ""
    value: float | None = None
    reason: str = ""
    hint: str = ""
    tone: int | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """name: what the row is about; note: a word beside it."""

    name: str
    cells: tuple[Cell, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """A column's heading; address: of the table sorted by it."""

    column: Column
    address: str
    sorted: Literal["ascending", "descending"] | None


@dataclass(frozen=True, slots=True)
class Table:
    """name: an id on the page; corner: the heading of the rows' names; totals: rows below, which are never sorted."""

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
    """The table with its rows sorted; a sort that names no column leaves them in their order."""
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
    """Equal rows keep their order; those without a value come last, in whichever direction."""
    key, is_descending = sort.removeprefix("-"), sort.startswith("-")
    if key == corner.key:
        return sorted(rows, key=lambda row: row.name, reverse=is_descending)
    place = next((place for place, column in enumerate(columns) if column.key == key), None)
    if place is None:
        return list(rows)
    sign = -1.0 if is_descending else 1.0
    return sorted(rows, key=lambda row: _goodness(row.cells[place].value, sign))


def score_cell(
    score: Score | None, metric: Metric | None, *, in_heat_map: bool = False, precision: int | None = None
) -> Cell:
    """What a cell shows of a score: percent or a fraction, and counts as they are; nothing where there is no score.

    precision: decimals that its value has, None for all: no more are shown.
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
    """A number with a real minus sign, and thousands apart."""
    return Cell(f"{value:,.{decimals}f}".replace("-", "\N{MINUS SIGN}"), value)


def _heading(column: Column, sort: str, linked: Linked, *, is_text: bool = False) -> Heading:
    """Numbers are first sorted from the largest, names from the first; the same link again turns it round."""
    first, second = (column.key, f"-{column.key}") if is_text else (f"-{column.key}", column.key)
    now: Literal["ascending", "descending"] | None = None
    if sort.removeprefix("-") == column.key:
        now = "descending" if sort.startswith("-") else "ascending"
    return Heading(column, linked(second if sort == first else first), now)


def _goodness(value: float | None, sign: float) -> tuple[bool, float]:
    return value is None, sign * (value or 0.0)
