"""Drawing of a board with its intervals: a row for each system, lines between clusters, rules for baselines."""

from __future__ import annotations

from itertools import pairwise
from xml.etree.ElementTree import Element

from app.charts.axes import draw_x_axis, plot_axis
from app.charts.labels import cut_to, text_width
from app.charts.marks import OWN_MARK, SYSTEM_MARKS, add_mark, add_tooltip, shown_name
from app.charts.picture import Look, Picture, PointOut
from app.charts.rules import draw_upright_rules, rules_height
from app.charts.sheet import LABEL_SIZE, NARROW, SIZE, Plot, plot_of, sheet_of
from evergold.figures.axes import Axis
from evergold.figures.svg import add_line, add_text

_ROW = 24.0
_RANKS, _NARROW_RANKS = 46, 40
_HEIGHT = 4.0


def draw_forest(picture: Picture, width: int) -> Element:
    """Draw the rows in the order of the board: rank, name, dot and interval; on wide pages also the numbers."""
    order = {name: at for at, name in enumerate(picture.y.categories)}
    found = [(one.look, point) for one in picture.series for point in one.points]
    found.sort(key=lambda one: order[str(one[1].y)])
    points = [point for _, point in found]
    ends = [value for point in points for value in (point.x, point.low, point.high) if isinstance(value, float)]
    x = plot_axis(picture.x, [*ends, *(line.value for line in picture.lines)])
    is_narrow = width == NARROW
    ranks = _NARROW_RANKS if is_narrow else _RANKS
    names = [cut_to(shown_name(point), LABEL_SIZE, 96 if is_narrow else 230) for point in points]
    numbers_px = 0.0 if is_narrow else max(text_width(_numbers(picture, point), SIZE) for point in points) + 16
    top = 8 + rules_height(picture.lines)
    bottom = top + _ROW * len(points)
    svg = sheet_of(picture, width, bottom + 46)
    left = ranks + 14 + max(text_width(name, LABEL_SIZE) for name in names)
    plot = plot_of(svg, width, left, top, bottom, numbers_px + 14)
    draw_x_axis(plot, x)
    draw_upright_rules(plot, picture.lines, x)
    rows = [(point, top + _ROW * (at + 0.5)) for at, point in enumerate(points)]
    for (above, y), (below, _) in pairwise(rows):
        if None not in (above.cluster, below.cluster) and above.cluster != below.cluster:
            add_line(svg, "fig-cluster", 4, y + _ROW / 2, width - 4, y + _ROW / 2)
    for (look, _), (point, y), name in zip(found, rows, names, strict=True):
        add_text(svg, point.rank, "fig-tick", ranks - 2, y + 4.5, "end")
        add_text(svg, name, "fig-you" if point.is_mine else "fig-label", ranks + 6, y + 4.5)
        if not is_narrow:
            add_text(svg, _numbers(picture, point), "fig-tick", width - 4, y + 4.5, "end")
        _draw_row(plot, picture, look, point, x, y)
    return svg


def _draw_row(plot: Plot, picture: Picture, look: Look, point: PointOut, x: Axis, y: float) -> None:
    if point.low is not None and point.high is not None:
        ends = sorted(x.place(end, plot.left, plot.right) for end in (point.low, point.high))
        add_line(plot.svg, "fig-interval", ends[0], y, ends[1], y)
        for end in ends:
            add_line(plot.svg, "fig-interval", end, y - _HEIGHT, end, y + _HEIGHT)
    if isinstance(point.x, float):
        kind, shape = OWN_MARK if point.is_mine else SYSTEM_MARKS[look]
        mark = add_mark(plot.svg, kind, shape, x.place(point.x, plot.left, plot.right), y, 4.6)
        rank = f"Rank {point.rank}\n" if point.rank else ""
        add_tooltip(mark, f"{point.label}\n{rank}{_numbers(picture, point)}", point.label)


def _numbers(picture: Picture, point: PointOut) -> str:
    """Return the score with its interval, such as `0.623 [0.601, 0.645]`."""
    value, low, high = (picture.x.text_of(one).removesuffix(" %") for one in (point.x, point.low, point.high))
    return value if point.low is None else f"{value} [{low}, {high}]"
