"""Distributions as SVG: one row each, a ridge (histogram) over a box (quantiles), with the ideal value next to it.

Pure functions from numbers to text. They are drawn by hand because chart libraries write their colours into style
elements or attributes, which our content security policy blocks, and support only one theme. The drawing primitives are
in `evergold.figures.svg`. Series differ in shape, never in colour alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor
from typing import Literal
from xml.etree.ElementTree import Element, SubElement

from app.charts.marks import add_mark
from app.charts.sheet import sheet, svg_text
from evergold.figures.svg import (
    add,
    add_heading,
    add_line,
    add_names,
    add_rect,
    add_text,
    clean,
    heading_height,
    heading_lines,
    multiples,
    number_text,
    short,
    shortened,
)

Marker = Literal["circle", "square", "triangle"]

WIDTH = 420
#: A longer label is cut in the drawing; the tooltip of its row and the data table have the whole one.
LABEL_CHARACTERS = 42
_TITLE_CHARACTERS = 44
#: The quantiles that define a box.
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)

_SIDE, _TOP, _LINE = 20, 6, 19
_RIDGE, _BOX, _GAP, _AXIS, _LEGEND = 30, 12, 12, 42, 22
_TICK_STEPS = (0.05, 0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 5.0)
_MOST_TICKS = 6
_MARKER = 3.6
#: Keeps labels clear of an ideal value at the left end of the axis.
_CLEAR = 7
_TONES: dict[Marker, str] = {"circle": "fig-box", "square": "fig-box fig-tone-1", "triangle": "fig-box fig-tone-2"}


@dataclass(frozen=True, slots=True)
class Histogram:
    """The number of values in each of the equal bins from low to high."""

    low: float
    high: float
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Distribution:
    """A distribution of a row. quantiles: at `SHARES`, or empty; label, marker: to distinguish it in its row."""

    quantiles: tuple[float, ...]
    mean: float | None
    histogram: Histogram | None = None
    label: str = ""
    marker: Marker = "circle"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the figure. remark: shown to the right of the label if there is no ideal value."""

    label: str
    distributions: tuple[Distribution, ...]
    ideal: float | None = None
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure.

    name: in addresses and as an id.
    low, high: ends of the axis, beyond which drawings are clipped.
    context: text below the title of a file, which has no page around it.
    """

    name: str
    title: str
    description: str
    axis: str
    rows: tuple[Row, ...]
    low: float
    high: float
    legend: tuple[tuple[Marker, str], ...] = ()
    context: str = ""


def axis_ends(rows: Iterable[Row], least: float, most: float) -> tuple[float, float]:
    """Return the ends of an axis from least to most, extended in quarters to include all boxes and ideal values."""
    found = [value for row in rows for one in row.distributions for value in _reach(one)]
    found += [row.ideal for row in rows if row.ideal is not None]
    low, high = min([least, *found]), max([most, *found])
    return floor(4 * low + 1e-9) / 4, ceil(4 * high - 1e-9) / 4


def svg_of(figure: Figure, *, is_file: bool = False) -> str:
    """Draw the figure and return its SVG: for a page, whose caption has the title, or as a file that includes the
    title.
    """
    heading = heading_lines(figure.title, [figure.context], _TITLE_CHARACTERS)
    top = heading_height(heading) if is_file else _TOP
    tops, bottom = _places(figure, top)
    height = bottom + _AXIS + (_LEGEND if figure.legend else 0)
    svg = sheet(WIDTH, height)
    add_names(svg, figure.name, figure.title, figure.description)
    if is_file:
        add_heading(svg, heading, _SIDE, WIDTH, height)
    _draw_axis(svg, figure, top, bottom)
    common = _common_ideal(figure)
    if common is not None:
        _draw_ideal(svg, figure, common, top, bottom)
    for row, place in zip(figure.rows, tops, strict=True):
        _draw_row(svg, figure, row, place, with_ideal=common is None)
    if figure.legend:
        _draw_legend(svg, figure, bottom + _AXIS + 6)
    return svg_text(svg)


# ---------------------------------------------------------------------------------------------------------- where


def _places(figure: Figure, top: float) -> tuple[list[float], float]:
    """Return the top of each row, and the bottom of the last one."""
    tops = []
    for row in figure.rows:
        tops.append(top)
        top += _LINE + sum(_height(one) for one in row.distributions) + _GAP
    return tops, top


def _height(distribution: Distribution) -> float:
    return _BOX + 4 + (_RIDGE if distribution.histogram else 0)


def _common_ideal(figure: Figure) -> float | None:
    """Return the ideal value shared by all rows; None if they differ or there is none."""
    ideals = {row.ideal for row in figure.rows}
    return next(iter(ideals)) if len(ideals) == 1 else None


def _x(figure: Figure, value: float) -> float:
    share = (min(max(value, figure.low), figure.high) - figure.low) / (figure.high - figure.low)
    return _SIDE + share * (WIDTH - 2 * _SIDE)


def _reach(distribution: Distribution) -> list[float]:
    reached = list(distribution.quantiles)
    if distribution.mean is not None:
        reached.append(distribution.mean)
    if histogram := distribution.histogram:
        width = (histogram.high - histogram.low) / len(histogram.counts)
        filled = [place for place, count in enumerate(histogram.counts) if count]
        reached += [histogram.low + width * place for end in filled for place in (end, end + 1)]
    return reached


def _ticks(low: float, high: float) -> list[float]:
    step = next((s for s in _TICK_STEPS if (high - low) / s < _MOST_TICKS + 1e-9), high - low)
    return multiples(low, high, step)


# -------------------------------------------------------------------------------------------------------- drawing


def _draw_axis(svg: Element, figure: Figure, top: float, bottom: float) -> None:
    for tick in _ticks(figure.low, figure.high):
        x = _x(figure, tick)
        add_line(svg, "fig-grid", x, top, x, bottom)
        add_text(svg, short(tick), "fig-tick", x, bottom + 15, "middle")
    add_text(svg, figure.axis, "fig-tick", WIDTH / 2, bottom + 33, "middle")


def _draw_row(svg: Element, figure: Figure, row: Row, top: float, *, with_ideal: bool) -> None:
    group = SubElement(svg, "g", {"class": "fig-row"})
    SubElement(group, "title").text = clean(_tooltip(row))
    add_text(group, shortened(row.label, LABEL_CHARACTERS), "fig-label", _SIDE + _CLEAR, top + 14)
    place = top + _LINE
    for one in row.distributions:
        _draw_distribution(group, figure, one, place)
        place += _height(one)
    if row.ideal is not None and with_ideal:
        _draw_ideal(group, figure, row.ideal, top, place)
    elif row.ideal is None and row.remark:
        add_text(group, row.remark, "fig-remark", WIDTH - _SIDE - _CLEAR, top + 14, "end")


def _draw_distribution(group: Element, figure: Figure, one: Distribution, top: float) -> None:
    if one.histogram and any(one.histogram.counts):
        add(group, "path", "fig-ridge", d=_ridge(figure, one.histogram, top + _RIDGE))
    top += (_RIDGE if one.histogram else 0) + 2
    middle = top + _BOX / 2
    if len(one.quantiles) == len(SHARES):
        least, low, median, high, most = (_x(figure, value) for value in one.quantiles)
        add_line(group, "fig-whisker", least, middle, most, middle)
        for end in (least, most):
            add_line(group, "fig-whisker", end, middle - 3, end, middle + 3)
        add_rect(group, _TONES[one.marker], low, top, max(high - low, 0.5), _BOX)
        add_line(group, "fig-median", median, top, median, top + _BOX)
    if one.mean is not None:
        add_mark(group, "fig-mean", one.marker, _x(figure, one.mean), middle, _MARKER)


def _ridge(figure: Figure, histogram: Histogram, base: float) -> str:
    """Return the step path of a histogram; heights are relative to the row's highest bin."""
    width = (histogram.high - histogram.low) / len(histogram.counts)
    filled = [place for place, count in enumerate(histogram.counts) if count]
    most = max(histogram.counts)
    path = [f"M{_x(figure, histogram.low + width * filled[0]):.1f},{base:.1f}"]
    for place in range(filled[0], filled[-1] + 1):
        path.append(f"V{base - (_RIDGE - 2) * histogram.counts[place] / most:.1f}")
        path.append(f"H{_x(figure, histogram.low + width * (place + 1)):.1f}")
    return "".join([*path, f"V{base:.1f}Z"])


def _draw_ideal(group: Element, figure: Figure, ideal: float, top: float, bottom: float) -> None:
    """Draw a dashed line and a diamond at the ideal value, within the axis; its text is always on the right."""
    x, side, start = _x(figure, ideal), 4.2, top + _LINE
    add_line(group, "fig-ideal", x, start + side, x, bottom)
    add(group, "path", "fig-ideal-mark", d=f"M{x:.1f},{start - side:.1f}l{side},{side}l-{side},{side}l-{side},-{side}z")
    add_text(group, f"ideal {short(ideal)}", "fig-ideal-text", WIDTH - _SIDE - _CLEAR, top + 14, "end")


def _draw_legend(svg: Element, figure: Figure, y: float) -> None:
    x = float(_SIDE)
    for marker, label in figure.legend:
        add_rect(svg, _TONES[marker], x, y - 5, 18, 10)
        add_mark(svg, "fig-mean", marker, x + 9, y, _MARKER)
        add_text(svg, label, "fig-remark", x + 24, y + 4)
        x += 24 + 6.6 * len(label) + 18


def _tooltip(row: Row) -> str:
    """Return the text of the row's tooltip."""
    parts = []
    for one in row.distributions:
        mean = "no value" if one.mean is None else f"mean {number_text(one.mean)}"
        median = f", median {number_text(one.quantiles[2])}" if len(one.quantiles) == len(SHARES) else ""
        parts.append(f"{f'{one.label}: ' if one.label else ''}{mean}{median}")
    return f"{row.label}: {'; '.join(parts) or row.remark}"
