"""Scatter plots: of a board, and of human against automatic scores.

On a page every point of the second kind can be hovered and focused by keyboard, and then shows its text above the
drawing; this is done by a style sheet (figures.css), without a script. Kinds differ in shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree.ElementTree import Element, SubElement

from app.charts.axes import draw_x_axis, draw_y_axis, left_of_ticks, plot_axis
from app.charts.labels import Box, Room, around
from app.charts.marks import (
    OWN_MARK,
    REACH,
    SYSTEM_MARKS,
    Key,
    add_mark,
    add_tooltip,
    draw_keys,
    keys_height,
    name_point,
    point_box,
    shown_name,
)
from app.charts.picture import Picture, PointOut
from app.charts.rules import draw_upright_rules, rules_height
from app.charts.sheet import NARROW, SIZE, Plot, plot_of, sheet, sheet_of, svg_text, write
from evergold.figures.axes import Axis, draw_axes
from evergold.figures.svg import (
    add_heading,
    add_line,
    add_names,
    add_text,
    clean,
    heading_height,
    heading_lines,
    shortened,
)

Kind = Literal["team", "baseline"]

WIDTH = 480
#: A longer name is cut next to its point; the point's own text shows more of it, the data table all.
NAME_CHARACTERS = 24
TIP_CHARACTERS = 40

_PLOT_HEIGHT = 320
_LEFT, _RIGHT, _TIP, _BELOW, _LEGEND = 52, 16, 26, 46, 24
_TITLE_CHARACTERS = 50
_HIT = 11.0
#: Approximate width of a character of a name.
_CHARACTER = 7.2
_KINDS: dict[Kind, str] = {"team": "Team", "baseline": "Baseline"}


@dataclass(frozen=True, slots=True)
class ScatterPoint:
    """A system. x, y: None if it has no such score; it is then listed with the reason instead of drawn."""

    label: str
    x: float | None
    y: float | None
    kind: Kind = "team"
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Scatter:
    """A scatter plot. name: in addresses and as an id; context: text below the title of a file, which has no page
    around it.
    """

    name: str
    title: str
    x: Axis
    y: Axis
    points: tuple[ScatterPoint, ...]
    context: str = ""

    @property
    def drawn(self) -> tuple[ScatterPoint, ...]:
        """The points with both values."""
        return tuple(point for point in self.points if point.x is not None and point.y is not None)

    @property
    def description(self) -> str:
        """The description of the plot in words."""
        texts = [self.text_of(point) for point in self.points]
        return f"{self.y.title} against {self.x.title}. {'; '.join(texts)}."

    def text_of(self, point: ScatterPoint) -> str:
        """Return the description of one point in words."""
        if point.x is None or point.y is None:
            return f"{point.label}: not drawn, {point.reason}"
        return f"{point.label}: {self.y.title} {self.y.text_of(point.y)}, {self.x.title} {self.x.text_of(point.x)}"


def scatter_svg(scatter: Scatter, *, is_file: bool = False) -> str:
    """Draw the plot and return its SVG: for a page, whose caption has the title, or as a file with its title."""
    heading = heading_lines(scatter.title, [scatter.context], _TITLE_CHARACTERS)
    top = heading_height(heading) if is_file else _TIP
    bottom = top + _PLOT_HEIGHT
    kinds = [kind for kind in _KINDS if any(point.kind == kind for point in scatter.drawn)]
    height = bottom + _BELOW + (_LEGEND if len(kinds) > 1 else 0)
    svg = sheet(WIDTH, height, role="img" if is_file else "group")
    add_names(svg, scatter.name, scatter.title, scatter.description)
    if is_file:
        add_heading(svg, heading, _LEFT, WIDTH, height)
    draw_axes(svg, scatter.x, scatter.y, _LEFT, WIDTH - _RIGHT, top, bottom)
    _draw_points(svg, scatter, top, bottom, is_file=is_file)
    if len(kinds) > 1:
        _draw_legend(svg, kinds, bottom + _BELOW + 4)
    return svg_text(svg)


# ---------------------------------------------------------------------------------------------------------- where


def _places(scatter: Scatter, top: float, bottom: float) -> list[tuple[ScatterPoint, float, float]]:
    return [
        (point, scatter.x.place(point.x, _LEFT, WIDTH - _RIGHT), scatter.y.place(point.y, bottom, top))
        for point in scatter.points
        if point.x is not None and point.y is not None
    ]


# -------------------------------------------------------------------------------------------------------- drawing


def _draw_points(svg: Element, scatter: Scatter, top: float, bottom: float, *, is_file: bool) -> None:
    placed = _places(scatter, top, bottom)
    room = Room(Box(_LEFT - 2, top - 4, WIDTH, bottom + 2))
    for _, x, y in placed:
        room.take(point_box(x, y))
    for point, x, y in placed:
        group = SubElement(svg, "g", {"class": "fig-point"})
        if is_file:
            SubElement(group, "title").text = clean(scatter.text_of(point))
        else:
            group.attrib |= {"tabindex": "0", "role": "img", "aria-label": clean(scatter.text_of(point))}
        name = shortened(point.label, NAME_CHARACTERS)
        found = room.find(around(name, SIZE, x, y, REACH + 4))
        _draw_mark(group, point, x, y)
        if found is not None:
            write(group, name, "fig-name", found)
        if not is_file:
            tip = scatter.text_of(ScatterPoint(shortened(point.label, TIP_CHARACTERS), point.x, point.y))
            add_text(group, tip, "fig-tip", _LEFT, 15).set("aria-hidden", "true")


def _draw_mark(group: Element, point: ScatterPoint, x: float, y: float) -> None:
    """Draw a mark, with a larger area around it to hover."""
    add_mark(group, "fig-hit", "circle", x, y, _HIT)
    add_mark(group, *SYSTEM_MARKS[point.kind], x, y)


def _draw_legend(svg: Element, kinds: Sequence[Kind], y: float) -> None:
    x = float(_LEFT)
    for kind in kinds:
        label = _KINDS[kind]
        _draw_mark(SubElement(svg, "g"), ScatterPoint(label, 0, 0, kind), x + 6, y)
        add_text(svg, label, "fig-remark", x + 18, y + 4)
        x += 18 + _CHARACTER * len(label) + 22


# ---------------------------------------------------------------------------------------------------------- board

#: Step length in which the diagonal is marked as occupied, so that nothing is written across it.
_DIAGONAL_STEP = 8.0


def draw_scatter(picture: Picture, width: int) -> Element:
    """Draw the scatter plot; points without both values are only in the table."""
    points = [(one.look, point) for one in picture.series for point in one.points if _has_place(point)]
    ends = [float(point.x or 0.0) for _, point in points], [float(point.y or 0.0) for _, point in points]
    if picture.diagonal:
        ends = (ends[0] + ends[1],) * 2
    x = plot_axis(picture.x, [*ends[0], *(line.value for line in picture.lines)])
    y = plot_axis(picture.y, ends[1])
    keys = [Key(one.name, *SYSTEM_MARKS[one.look]) for one in picture.series] if len(picture.series) > 1 else []
    top = 14 + keys_height(keys, width) + rules_height(picture.lines)
    bottom = top + (300 if width == NARROW else 480)
    svg = sheet_of(picture, width, bottom + 46)
    plot = plot_of(svg, width, left_of_ticks(y), top, bottom, 24)
    draw_keys(plot, keys, width)
    draw_x_axis(plot, x)
    draw_y_axis(plot, y)
    if picture.diagonal:
        _draw_diagonal(plot, x, y)
    draw_upright_rules(plot, picture.lines, x)
    places = [
        (look, one, x.place(float(one.x or 0), plot.left, plot.right), y.place(float(one.y or 0), bottom, top))
        for look, one in points
    ]
    for look, point, across, down in places:
        kind, shape = OWN_MARK if point.is_mine else SYSTEM_MARKS[look]
        mark = add_mark(svg, kind, shape, across, down, REACH + point.is_mine)
        add_tooltip(mark, _tooltip(picture, point), point.label)
        plot.room.take(point_box(across, down, REACH + 1))
    for _, point, across, down in sorted(places, key=lambda one: not one[1].is_mine):
        name_point(plot, shown_name(point), across, down, is_mine=point.is_mine, width=110 if width == NARROW else 190)
    return svg


def _has_place(point: PointOut) -> bool:
    return isinstance(point.x, float) and isinstance(point.y, float)


def _tooltip(picture: Picture, point: PointOut) -> str:
    up, across = picture.y.text_of(point.y), picture.x.text_of(point.x)
    return f"{point.label}\n{picture.y.title} {up}\n{picture.x.title} {across}"


def _draw_diagonal(plot: Plot, x: Axis, y: Axis) -> None:
    """Draw the line on which both scores are equal."""
    low, high = max(x.low, y.low), min(x.high, y.high)
    left, right = (x.place(end, plot.left, plot.right) for end in (low, high))
    bottom, top = (y.place(end, plot.bottom, plot.top) for end in (low, high))
    add_line(plot.svg, "fig-ideal", left, bottom, right, top)
    steps = max(1, int((right - left) / _DIAGONAL_STEP))
    for at in range(steps):
        here, there = (left + (right - left) * part / steps for part in (at, at + 1))
        lower, upper = (bottom + (top - bottom) * part / steps for part in (at, at + 1))
        plot.room.take(Box(here, upper, there, lower))
