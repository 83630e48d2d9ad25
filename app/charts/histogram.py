"""Drawing of the score distribution: a bar for each range, lines for baselines and the reader's own score."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from xml.etree.ElementTree import Element

from app.charts.axes import draw_y_axis, left_of_ticks
from app.charts.labels import Place, text_place, text_width
from app.charts.marks import add_tooltip
from app.charts.picture import Picture
from app.charts.rules import draw_upright_rules, rules_height
from app.charts.sheet import NARROW, SIZE, TICK_SIZE, Plot, plot_of, sheet_of, write
from evergold.figures.axes import Axis, count_axis
from evergold.figures.svg import add_line, add_rect, add_text


def draw_histogram(picture: Picture, width: int) -> Element:
    """Draw the ranges side by side, from the lower end of the first one."""
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


def _above(words: str, left: float, each: float, end: float) -> Iterator[Place]:
    """Yield places above the middle of a bar, then to its sides, to avoid rules."""
    half = text_width(words, SIZE) / 2
    for share in (0.5, 0.3, 0.7, 0.15, 0.85):
        x = min(max(left + each * share, left + half + 1), left + each - half - 1)
        yield text_place(words, SIZE, x, end - 5, "middle")


def _draw_edges(plot: Plot, x: Axis, step: float) -> None:
    """Write the numbers at the edges of the ranges."""
    add_line(plot.svg, "fig-axis", plot.left, plot.bottom, plot.right, plot.bottom)
    count = round((x.high - x.low) / step)
    told = Axis(x.title, 0, 6 * step, x.decimals, x.scale)  # spans a few steps, so that numbers get enough digits
    texts = [told.tick_text(x.low + step * at) for at in range(count + 1)]
    widest = max(text_width(text, TICK_SIZE) for text in texts) + 12
    every = max(1, ceil(widest * count / (plot.right - plot.left)))
    for at in range(0, count + 1, every):
        place = x.place(x.low + step * at, plot.left, plot.right)
        add_line(plot.svg, "fig-axis", place, plot.bottom, place, plot.bottom + 4)
        add_text(plot.svg, texts[at], "fig-tick", place, plot.bottom + 18, "middle")
    add_text(plot.svg, x.heading, "fig-tick", plot.middle, plot.bottom + 36, "middle")
