"""Drawing of two scores at once: a mark for each system, with its name where there is room."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from app.boards.drawings.frame import (
    NARROW,
    OWN_MARK,
    REACH,
    SYSTEM_MARKS,
    YOU,
    Key,
    Plot,
    add_mark,
    add_tooltip,
    draw_below,
    draw_keys,
    draw_y_axis,
    keys_height,
    left_of_ticks,
    name_point,
    numeric,
    plot_of,
    point_box,
    sheet_of,
)
from app.boards.drawings.rules import draw_upright_rules, rules_height
from app.boards.pictures.shapes import Picture, Point
from app.charts.labels import Box
from evergold.figures import axes
from evergold.figures.svg import add_line

#: Step length in which the diagonal is marked as occupied, so that nothing is written across it.
_STEP = 8.0


def draw_scatter(picture: Picture, width: int) -> Element:
    """Draw the scatter; points without both values are only in the table."""
    points = [(one.look, point) for one in picture.series for point in one.points if _has_place(point)]
    ends = [float(point.x or 0.0) for _, point in points], [float(point.y or 0.0) for _, point in points]
    if picture.diagonal:
        ends = (ends[0] + ends[1],) * 2
    x = numeric(picture.x, [*ends[0], *(line.value for line in picture.lines)])
    y = numeric(picture.y, ends[1])
    keys = [Key(one.name, *SYSTEM_MARKS[one.look]) for one in picture.series] if len(picture.series) > 1 else []
    top = 14 + keys_height(keys, width) + rules_height(picture.lines)
    bottom = top + (300 if width == NARROW else 480)
    svg = sheet_of(picture, width, bottom + 46)
    plot = plot_of(svg, width, left_of_ticks(y), top, bottom, 24)
    draw_keys(plot, keys, width)
    draw_below(plot, x)
    draw_y_axis(plot, y)
    if picture.diagonal:
        _draw_diagonal(plot, x, y)
    draw_upright_rules(plot, picture.lines, x, picture.x)
    places = [
        (look, one, x.place(float(one.x or 0), plot.left, plot.right), y.place(float(one.y or 0), bottom, top))
        for look, one in points
    ]
    for look, point, across, down in places:
        kind, shape = OWN_MARK if point.is_mine else SYSTEM_MARKS[look]
        mark = add_mark(svg, kind, shape, across, down, REACH + point.is_mine)
        add_tooltip(mark, _words(picture, point), point.label)
        plot.room.take(point_box(across, down, REACH + 1))
    for _, point, across, down in sorted(places, key=lambda one: not one[1].is_mine):
        name = f"{point.label} ({YOU})" if point.is_mine else point.label
        name_point(plot, name, across, down, is_mine=point.is_mine, width=110 if width == NARROW else 190)
    return svg


def _has_place(point: Point) -> bool:
    return isinstance(point.x, float) and isinstance(point.y, float)


def _words(picture: Picture, point: Point) -> str:
    up, across = picture.y.text_of(point.y), picture.x.text_of(point.x)
    return f"{point.label}\n{picture.y.title} {up}\n{picture.x.title} {across}"


def _draw_diagonal(plot: Plot, x: axes.Axis, y: axes.Axis) -> None:
    """Draw the line on which both are equal."""
    low, high = max(x.low, y.low), min(x.high, y.high)
    left, right = (x.place(end, plot.left, plot.right) for end in (low, high))
    bottom, top = (y.place(end, plot.bottom, plot.top) for end in (low, high))
    add_line(plot.svg, "fig-ideal", left, bottom, right, top)
    steps = max(1, int((right - left) / _STEP))
    for at in range(steps):
        here, there = (left + (right - left) * part / steps for part in (at, at + 1))
        lower, upper = (bottom + (top - bottom) * part / steps for part in (at, at + 1))
        plot.room.take(Box(here, upper, there, lower))
