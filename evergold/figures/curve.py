"""A curve as an SVG file: a mean over a band from the lowest to the highest value, with one marked point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from evergold.figures.axes import Axis, draw_axes
from evergold.figures.svg import (
    FONT,
    NAMESPACE,
    add,
    add_heading,
    add_line,
    add_names,
    add_text,
    heading_height,
    heading_lines,
)

WIDTH = 480

_PLOT_HEIGHT = 280
_LEFT, _RIGHT, _BELOW = 52, 16, 46
_TITLE_CHARACTERS, _SIZE = 50, 5.0


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """x, and the lowest, mean and highest y there."""

    x: float
    low: float
    mean: float
    high: float


@dataclass(frozen=True, slots=True)
class Curve:
    """The contents of a curve.

    points: by ascending x.
    marked, mark: a point, and its label.
    remarks: texts below the title in a file.
    """

    name: str
    title: str
    x: Axis
    y: Axis
    points: Sequence[CurvePoint]
    marked: tuple[float, float]
    mark: str
    remarks: Sequence[str] = ()

    @property
    def description(self) -> str:
        """A description of the drawing in words."""
        first, last = self.points[0], self.points[-1]
        ends = (f"{self.y.text_of(point.mean)} at {self.x.text_of(point.x)}" for point in (first, last))
        return f"{self.y.title} against {self.x.title}: {' to '.join(ends)}. Marked: {self.mark}."


def curve_svg(curve: Curve) -> str:
    """Draw the curve as a separate file."""
    heading = heading_lines(curve.title, curve.remarks, _TITLE_CHARACTERS)
    top = heading_height(heading)
    bottom = top + _PLOT_HEIGHT
    # In this order, which whoever published a split has in their file.
    size = {"width": f"{WIDTH}", "height": f"{bottom + _BELOW:g}", "viewBox": f"0 0 {WIDTH} {bottom + _BELOW:g}"}
    svg = Element("svg", {"xmlns": NAMESPACE, "class": "figure", "role": "img", "font-family": FONT, **size})
    add_names(svg, curve.name, curve.title, curve.description)
    add_heading(svg, heading, _LEFT, WIDTH, bottom + _BELOW)
    draw_axes(svg, curve.x, curve.y, _LEFT, WIDTH - _RIGHT, top, bottom)
    _draw_band(svg, curve, top, bottom)
    _draw_mark(svg, curve, top, bottom)
    return ElementTree.tostring(svg, encoding="unicode")


def _draw_band(svg: Element, curve: Curve, top: float, bottom: float) -> None:
    xs = [curve.x.place(point.x, _LEFT, WIDTH - _RIGHT) for point in curve.points]
    lows, means, highs = (
        [curve.y.place(value, bottom, top) for value in values]
        for values in zip(*((point.low, point.mean, point.high) for point in curve.points), strict=True)
    )
    around = [*zip(xs, highs, strict=True), *zip(reversed(xs), reversed(lows), strict=True)]
    add(svg, "polygon", "fig-band", points=_path(around))
    add(svg, "polyline", "fig-curve", points=_path(list(zip(xs, means, strict=True))))


def _draw_mark(svg: Element, curve: Curve, top: float, bottom: float) -> None:
    x, y = curve.x.place(curve.marked[0], _LEFT, WIDTH - _RIGHT), curve.y.place(curve.marked[1], bottom, top)
    add_line(svg, "fig-ideal", x, top, x, bottom)
    add(svg, "circle", "fig-mark", cx=f"{x:.1f}", cy=f"{y:.1f}", r=f"{_SIZE:g}")
    is_left = x < (_LEFT + WIDTH - _RIGHT) / 2
    add_text(svg, curve.mark, "fig-name", x + 9 if is_left else x - 9, bottom - 10, "start" if is_left else "end")


def _path(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
