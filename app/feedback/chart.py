"""Scores over time as SVG: a point for each attempt, and a line of the best so far. Pure: numbers in, text out.

The table next to it has the same data as text, so the drawing has the role of a single image.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from math import ceil, floor
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from app.competitions.columns import BoardColumn
from app.feedback.history import Attempt
from evergold.figures.svg import (
    FONT,
    NAMESPACE,
    add,
    add_line,
    add_names,
    add_text,
    clean,
    multiples,
    number_text,
    round_step,
)

WIDTH, HEIGHT = 640, 260
_LEFT, _RIGHT, _TOP, _BELOW = 56, 18, 16, 34
_MOST_TICKS = 5
_SIZE, _RECORD_SIZE = 4.0, 5.5
#: Minimum span of the axis: values that hardly differ are not stretched to the full height.
_LEAST_SPAN = 0.01


def chart_svg(attempts: Sequence[Attempt], column: BoardColumn, title: str) -> str:
    """Draw the chart. attempts: at least one, oldest first."""
    svg = Element("svg", {"xmlns": NAMESPACE, "viewBox": f"0 0 {WIDTH} {HEIGHT}", "font-family": FONT, "role": "img"})
    add_names(svg, "course", title, _description(attempts, column))
    scale = 100.0 if column.percent else 1.0
    values = [attempt.value * scale for attempt in attempts]
    low, high, step = _axis(min(values), max(values), _LEAST_SPAN * scale)
    y_of = _place(low, high, HEIGHT - _BELOW, _TOP)
    moments = [attempt.submitted_at for attempt in attempts]
    x_of = _place(moments[0].timestamp(), moments[-1].timestamp(), _LEFT + 12, WIDTH - _RIGHT - 12)
    for tick in multiples(low, high, step):
        add_line(svg, "fig-grid", _LEFT, y_of(tick), WIDTH - _RIGHT, y_of(tick))
        add_text(svg, number_text(tick, _decimals(step)), "fig-tick", _LEFT - 8, y_of(tick) + 4, "end")
    _add_dates(svg, moments)
    points = [(x_of(moment.timestamp()), y_of(value)) for moment, value in zip(moments, values, strict=True)]
    _add_record_line(svg, points, attempts)
    for attempt, (x, y) in zip(attempts, points, strict=True):
        kind, size = ("fig-mark", _RECORD_SIZE) if attempt.is_record else ("fig-mark fig-hollow", _SIZE)
        mark = add(svg, "circle", kind, cx=f"{x:.1f}", cy=f"{y:.1f}", r=f"{size}")
        what = f"{_date(attempt.submitted_at)} {attempt.method}: {_value(attempt, column)}"
        SubElement(mark, "title").text = clean(what)
    return ElementTree.tostring(svg, encoding="unicode")


def _axis(low: float, high: float, least: float) -> tuple[float, float, float]:
    """Return the rounded ends of the axis around the values, and its step."""
    air = max((high - low) * 0.08, (least - (high - low)) / 2, 0.0)
    step = round_step(high - low + 2 * air, _MOST_TICKS)
    return floor((low - air) / step) * step, ceil((high + air) / step) * step, step


def _place(low: float, high: float, at_low: float, at_high: float) -> Callable[[float], float]:
    """Return a function from a value between low and high to its coordinate; the middle if low equals high."""

    def place(value: float) -> float:
        share = (value - low) / (high - low) if high > low else 0.5
        return at_low + share * (at_high - at_low)

    return place


def _add_dates(svg: Element, moments: Sequence[datetime]) -> None:
    first, last = _date(moments[0]), _date(moments[-1])
    y = HEIGHT - 10
    if first == last:
        add_text(svg, first, "fig-tick", (_LEFT + WIDTH - _RIGHT) / 2, y, "middle")
        return
    add_text(svg, first, "fig-tick", _LEFT, y)
    add_text(svg, last, "fig-tick", WIDTH - _RIGHT, y, "end")


def _add_record_line(svg: Element, points: Sequence[tuple[float, float]], attempts: Sequence[Attempt]) -> None:
    """Draw a step line: a record holds until the next one."""
    records = [point for point, attempt in zip(points, attempts, strict=True) if attempt.is_record]
    ends = [*(x for x, _ in records[1:]), WIDTH - _RIGHT]
    for number, ((x, y), end) in enumerate(zip(records, ends, strict=True)):
        add_line(svg, "fig-ideal", x, y, end, y)
        if number + 1 < len(records):
            add_line(svg, "fig-ideal", end, y, end, records[number + 1][1])


def _description(attempts: Sequence[Attempt], column: BoardColumn) -> str:
    best = next(attempt for attempt in reversed(attempts) if attempt.is_record)
    count = "One submission" if len(attempts) == 1 else f"{len(attempts)} submissions"
    return (
        f"{count} from {_date(attempts[0].submitted_at)} to {_date(attempts[-1].submitted_at)}; "
        f"the best is {_value(best, column)}, the last {_value(attempts[-1], column)}."
    )


def _value(attempt: Attempt, column: BoardColumn) -> str:
    return number_text(attempt.value * (100 if column.percent else 1), column.decimals)


def _decimals(step: float) -> int:
    return next((digits for digits in range(6) if abs(round(step, digits) - step) < 1e-9), 6)


def _date(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d")
