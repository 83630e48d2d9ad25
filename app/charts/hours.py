"""Bar chart by hour as SVG: submissions, and those of them that were rejected or failed. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from xml.etree.ElementTree import Element, SubElement

from app.charts.axes import day_name, draw_levels
from app.charts.sheet import Drawn, Plot, draw_both, plot_of, sheet
from evergold.figures.axes import Axis, count_axis
from evergold.figures.svg import add_line, add_names, add_rect, add_text
from evergold.moments import moment_words

_WIDE, _NARROW = 720, 340
_LEFT, _TOP, _BOTTOM, _BELOW, _RIGHT = 30.0, 10.0, 120.0, 24.0, 4.0
_TICK_HOURS = 6


@dataclass(frozen=True, slots=True)
class Hour:
    """Submissions received in the hour from `start`, in UTC. in_vain: how many of them were rejected or failed."""

    start: datetime
    received: int
    in_vain: int


def draw_hours(name: str, title: str, hours: Sequence[Hour]) -> Drawn:
    """Draw the chart for a page. name: an id."""

    def draw(width: int) -> Element:
        size = "wide" if width == _WIDE else "narrow"
        svg = sheet(width, _BOTTOM + _BELOW, size=size)
        add_names(svg, f"{name}-{size}", title, description(hours))
        _draw_bars(plot_of(svg, width, _LEFT, _TOP, _BOTTOM, _RIGHT), hours, _TICK_HOURS * (1 if width == _WIDE else 2))
        return svg

    return draw_both(draw, _WIDE, _NARROW)


def _draw_bars(plot: Plot, hours: Sequence[Hour], tick_hours: int) -> None:
    y = count_axis("", max([1, *(hour.received for hour in hours)]))
    draw_levels(plot, y)
    each = (plot.right - plot.left) / len(hours)
    for at, hour in enumerate(hours):
        x = plot.left + each * at
        _draw_hour(plot, hour, x, each, y)
        if hour.start.hour % tick_hours == 0:
            add_line(plot.svg, "fig-axis", x, plot.bottom, x, plot.bottom + 4)
            words = f"{hour.start:%H:%M}" if hour.start.hour else day_name(hour.start)
            add_text(plot.svg, words, "fig-tick", x, plot.bottom + 18, "middle")
    add_line(plot.svg, "fig-axis", plot.left, plot.bottom, plot.right, plot.bottom)


def description(hours: Sequence[Hour]) -> str:
    """Return a description of the chart in words."""
    total, in_vain = sum(hour.received for hour in hours), sum(hour.in_vain for hour in hours)
    if not total:
        return f"No submissions arrived in the last {len(hours)} hours."
    busiest = max(hours, key=lambda hour: hour.received)
    return (
        f"{total} in the last {len(hours)} hours, {in_vain} of them rejected or failed. The busiest hour was "
        f"{moment_words(busiest.start)} with {busiest.received}."
    )


def _draw_hour(plot: Plot, hour: Hour, x: float, each: float, y: Axis) -> None:
    """Draw an hour, with rejected and failed submissions on top of the others."""
    if not hour.received:
        return
    group = SubElement(plot.svg, "g")
    words = f"{hour.start:%H:%M} UTC: {hour.received}" + (f", {hour.in_vain} in vain" if hour.in_vain else "")
    SubElement(group, "title").text = words
    low = 0
    for kind, count in (("fig-bar", hour.received - hour.in_vain), ("fig-bar fig-vain", hour.in_vain)):
        if count:
            top, base = (y.place(value, plot.bottom, plot.top) for value in (low + count, low))
            add_rect(group, kind, x + each * 0.1, top, each * 0.8, base - top)
        low += count
