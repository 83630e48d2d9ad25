"""Bar chart by hour as SVG: submissions, and those of them that were rejected or failed. Pure: numbers in, text out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from app.charts.axes import day_name
from app.charts.sheet import sheet
from evergold.figures.axes import Axis, count_axis
from evergold.figures.svg import add, add_line, add_names, add_text, number, without_colours

WIDE, NARROW = 720, 340
_LEFT, _TOP, _PLOT, _BELOW, _RIGHT = 30.0, 10.0, 110.0, 24.0, 4.0
_TICK_HOURS = 6


@dataclass(frozen=True, slots=True)
class Hour:
    """One hour. start: in UTC; total: number of submissions; in_vain: number of those rejected or failed."""

    start: datetime
    total: int
    in_vain: int


def hours_svg(name: str, title: str, hours: Sequence[Hour], width: int) -> str:
    """Draw the chart for a page, at this width. name: an id."""
    size = "wide" if width == WIDE else "narrow"
    svg = sheet(width, _TOP + _PLOT + _BELOW, size=size)
    add_names(svg, f"{name}-{size}", title, description(hours))
    y = count_axis("", max([1, *(hour.total for hour in hours)]))
    bottom = _TOP + _PLOT
    for tick in y.ticks():
        at = y.place(tick, bottom, _TOP)
        add_line(svg, "fig-grid", _LEFT, at, width - _RIGHT, at)
        add_text(svg, y.tick_text(tick), "fig-tick", _LEFT - 6, at + 4, "end")
    each = (width - _LEFT - _RIGHT) / len(hours)
    for place, hour in enumerate(hours):
        _draw_hour(svg, hour, _LEFT + each * place, each, y)
        if hour.start.hour % _TICK_HOURS == 0 and (width == WIDE or hour.start.hour % (2 * _TICK_HOURS) == 0):
            x = _LEFT + each * place
            add_line(svg, "fig-axis", x, bottom, x, bottom + 4)
            words = f"{hour.start:%H:%M}" if hour.start.hour else day_name(hour.start)
            add_text(svg, words, "fig-tick", x, bottom + 18, "middle")
    add_line(svg, "fig-axis", _LEFT, bottom, width - _RIGHT, bottom)
    return ElementTree.tostring(without_colours(svg), encoding="unicode")


def description(hours: Sequence[Hour]) -> str:
    """Describe the chart in words."""
    total, in_vain = sum(hour.total for hour in hours), sum(hour.in_vain for hour in hours)
    if not total:
        return f"Nothing came in during the last {len(hours)} hours."
    busiest = max(hours, key=lambda hour: hour.total)
    return (
        f"{total} in the last {len(hours)} hours, {in_vain} of them rejected or failed. The busiest hour was "
        f"{busiest.start.astimezone(UTC):%Y-%m-%d %H:%M} UTC with {busiest.total}."
    )


def _draw_hour(svg: Element, hour: Hour, x: float, each: float, y: Axis) -> None:
    """Draw an hour, with rejected and failed submissions on top of the others."""
    if not hour.total:
        return
    bottom = _TOP + _PLOT
    group = SubElement(svg, "g")
    words = f"{hour.start:%H:%M} UTC: {hour.total}" + (f", {hour.in_vain} in vain" if hour.in_vain else "")
    SubElement(group, "title").text = words
    low = 0
    for kind, count in (("fig-bar", hour.total - hour.in_vain), ("fig-bar fig-vain", hour.in_vain)):
        if count:
            top, base = (y.place(value, bottom, _TOP) for value in (low + count, low))
            size = {"width": number(each * 0.8), "height": number(base - top)}
            add(group, "rect", kind, x=number(x + each * 0.1), y=number(top), **size)
        low += count
