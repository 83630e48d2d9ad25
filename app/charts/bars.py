"""Bar charts: the score distribution, a bar per range, and submissions, a bar per day or month."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from math import ceil
from xml.etree.ElementTree import Element

from app.charts.axes import day_name, draw_y_axis, left_of_ticks, month_name
from app.charts.labels import TextPosition, text_place, text_width
from app.charts.marks import add_tooltip
from app.charts.picture import AxisOut, Picture
from app.charts.rules import draw_upright_rules, rules_height
from app.charts.sheet import NARROW, SIZE, TICK_SIZE, Plot, plot_of, sheet_of, write
from evergold.figures.axes import Axis, count_axis
from evergold.figures.svg import add_line, add_rect, add_text


def draw_histogram(picture: Picture, width: int) -> Element:
    """Draw the ranges side by side, beginning with the lowest, with lines for baselines and the viewer's own score."""
    [counts] = picture.series
    heights = [float(point.y) for point in counts.points if isinstance(point.y, float)]
    y = count_axis(picture.y.title, max(heights))
    top = 22 + rules_height(picture.lines)
    bottom = top + (200 if width == NARROW else 250)
    svg = sheet_of(picture, width, bottom + 44)
    plot = plot_of(svg, width, left_of_ticks(y), top, bottom, 22)
    low, step = float(counts.points[0].x or 0.0), picture.width or 1.0
    x = picture.x.between(low, low + step * len(heights))
    draw_y_axis(plot, y)
    places = [(x.place(low + step * at, plot.left, plot.right), height) for at, height in enumerate(heights)]
    each = (plot.right - plot.left) / len(heights)
    for (left, height), name in zip(places, picture.x.categories, strict=True):
        if height:
            end = y.place(height, plot.bottom, plot.top)
            bar = add_rect(svg, "fig-bar", left + 1, end, each - 2, plot.bottom - end)
            add_tooltip(bar, f"{name}\n{picture.y.text_of(height)} {picture.y.title.lower()}")
    draw_upright_rules(plot, picture.lines, x)
    for left, height in places:
        if height:
            words = picture.y.text_of(height)
            found = plot.room.find(_above(words, left, each, y.place(height, plot.bottom, plot.top)))
            if found is not None:
                write(svg, words, "fig-value", found)
    _draw_edges(plot, x, step)
    return svg


def _above(words: str, left: float, each: float, end: float) -> Iterator[TextPosition]:
    """Yield positions for a label above the middle of a bar, then to its sides, to avoid rules."""
    half = text_width(words, SIZE) / 2
    for share in (0.5, 0.3, 0.7, 0.15, 0.85):
        x = min(max(left + each * share, left + half + 1), left + each - half - 1)
        yield text_place(words, SIZE, x, end - 5, "middle")


def _draw_edges(plot: Plot, x: Axis, step: float) -> None:
    """Write the numbers at the edges of the ranges."""
    add_line(plot.svg, "fig-axis", plot.left, plot.bottom, plot.right, plot.bottom)
    count = round((x.high - x.low) / step)
    scale = Axis(x.title, 0, 6 * step, x.decimals, x.scale)  # spans a few steps, so that numbers get enough digits
    texts = [scale.tick_text(x.low + step * at) for at in range(count + 1)]
    widest = max(text_width(text, TICK_SIZE) for text in texts) + 12
    every = max(1, ceil(widest * count / (plot.right - plot.left)))
    for at in range(0, count + 1, every):
        place = x.place(x.low + step * at, plot.left, plot.right)
        add_line(plot.svg, "fig-axis", place, plot.bottom, place, plot.bottom + 4)
        add_text(plot.svg, texts[at], "fig-tick", place, plot.bottom + 18, "middle")
    add_text(plot.svg, x.heading, "fig-tick", plot.middle, plot.bottom + 36, "middle")


def draw_bars(picture: Picture, width: int) -> Element:
    """Draw a bar for each day or month, with its number if there is room."""
    [counts] = picture.series
    most = max(int(point.y or 0) for point in counts.points if isinstance(point.y, float))
    y = count_axis(picture.y.title, most)
    bottom = 20 + (190 if width == NARROW else 230)
    svg = sheet_of(picture, width, bottom + 44)
    plot = plot_of(svg, width, left_of_ticks(y), 20, bottom)
    draw_y_axis(plot, y)
    each = (plot.right - plot.left) / len(counts.points)
    bar = min(each * 0.8, 44)
    for at, point in enumerate(counts.points):
        if point.y:
            x, top = plot.left + each * (at + 0.5), y.place(float(point.y), plot.bottom, plot.top)
            mark = add_rect(plot.svg, "fig-bar", x - bar / 2, top, bar, plot.bottom - top)
            add_tooltip(mark, f"{point.x}\n{picture.y.text_of(point.y)}")
            words = picture.y.text_of(point.y)
            if text_width(words, SIZE) + 3 < each:
                write(plot.svg, words, "fig-value", text_place(words, SIZE, x, top - 5, "middle"))
    add_line(plot.svg, "fig-axis", plot.left, plot.bottom, plot.right, plot.bottom)
    _name_days(plot, picture.x, each)
    return svg


def _name_days(plot: Plot, axis: AxisOut, each: float) -> None:
    names = [_day_or_month(name) for name in axis.categories]
    every = max(1, ceil((max(text_width(name, TICK_SIZE) for name in names) + 12) / each))
    for at in range(0, len(names), every):
        x = plot.left + each * (at + 0.5)
        half = text_width(names[at], TICK_SIZE) / 2
        add_text(plot.svg, names[at], "fig-tick", min(x, plot.right + 10 - half), plot.bottom + 17, "middle")
    add_text(plot.svg, axis.title, "fig-tick", plot.middle, plot.bottom + 36, "middle")


def _day_or_month(name: str) -> str:
    """Return `2026-01-05` as `5 Jan`, and `2026-01` as `Jan 2026`."""
    if len(name) == len("2026-01"):
        return month_name(date.fromisoformat(f"{name}-01"))
    return day_name(date.fromisoformat(name))
