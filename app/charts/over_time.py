"""The drawing of progress over time: records and entries."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from xml.etree.ElementTree import Element

from app.charts.axes import draw_time_axis, draw_y_axis, left_of_ticks, plot_axis
from app.charts.labels import Box
from app.charts.marks import Shape, add_mark, add_tooltip, name_point, point_box
from app.charts.picture import Picture, PointOut
from app.charts.rules import draw_level_rules, rules_height
from app.charts.sheet import NARROW, YOU, Plot, plot_of, sheet_of
from evergold.figures.svg import add, number

#: Margin around the first and the last moment, as a share of the time between them, and its minimum.
_AIR, _LEAST_AIR = 0.04, timedelta(hours=3)
_ENTRY, _RECORD = 3.6, 5.4

#: A point with its position.
Placed = tuple[PointOut, float, float]


def draw_steps(picture: Picture, width: int) -> Element:
    """Draw a step for each record, a point for each entry, and reference lines."""
    entries, record = picture.series
    values = [point.y for point in entries.points if isinstance(point.y, float)]
    y = plot_axis(picture.y, [*values, *(line.value for line in picture.lines)])
    top = 12 + rules_height(picture.lines)
    bottom = top + (250 if width == NARROW else 330)
    svg = sheet_of(picture, width, bottom + 44)
    plot = plot_of(svg, width, left_of_ticks(y), top, bottom)
    first, last = _ends([_moment(point) for point in entries.points])
    draw_time_axis(plot, first, last, 4 if width == NARROW else 8, picture.x.title)
    draw_y_axis(plot, y)
    draw_level_rules(plot, picture.lines, y, 4)

    def place(points: Sequence[PointOut]) -> list[Placed]:
        span = (last - first).total_seconds()
        return [
            (
                point,
                plot.left + (_moment(point) - first).total_seconds() / span * (plot.right - plot.left),
                y.place(float(point.y or 0.0), plot.bottom, plot.top),
            )
            for point in points
        ]

    _draw_progress(plot, picture, place(entries.points), place(record.points))
    return svg


def _draw_progress(plot: Plot, picture: Picture, entries: Sequence[Placed], records: Sequence[Placed]) -> None:
    path = "".join(
        f"{'M' if at == 0 else 'H'}{number(x)}{',' if at == 0 else 'V'}{number(y)}"
        for at, (_, x, y) in enumerate(records)
    )
    add(plot.svg, "path", "fig-record", d=f"{path}H{number(plot.right)}")
    for _, x, y in [*entries, *records]:
        plot.room.take(point_box(x, y, _ENTRY + 1))
    for (_, x, y), after in zip(records, [*(x for _, x, _ in records[1:]), plot.right], strict=True):
        plot.room.take(Box(x, y - 1.5, after, y + 1.5))
    for (_, _, before), (_, x, y) in pairwise(records):
        plot.room.take(Box(x - 1.5, min(before, y), x + 1.5, max(before, y)))
    for point, x, y in entries:
        mark = add_mark(plot.svg, "fig-mark fig-mine" if point.is_mine else "fig-entry", _shape(point), x, y, _ENTRY)
        add_tooltip(mark, _tooltip(picture, point), point.label)
    for point, x, y in records:
        add_tooltip(add_mark(plot.svg, "fig-mark", "diamond", x, y, _RECORD), _tooltip(picture, point), point.label)
    own = [one for one in entries if one[0].is_mine][-1:]
    for _, x, y in own:
        name_point(plot, YOU, x, y, is_mine=True)
    for place, (point, x, y) in reversed(list(enumerate(records))):
        is_last_of_team = place + 1 == len(records) or records[place + 1][0].label != point.label
        if is_last_of_team and not point.is_mine:
            name_point(plot, point.label, x, y, width=120 if plot.right < NARROW else 170)


def _shape(point: PointOut) -> Shape:
    return "square" if point.is_mine else "circle"


def _tooltip(picture: Picture, point: PointOut) -> str:
    return f"{point.label}\n{picture.y.text_of(point.y)}\n{picture.x.text_of(point.x)}"


def _moment(point: PointOut) -> datetime:
    return datetime.fromisoformat(str(point.x))


def _ends(moments: Sequence[datetime]) -> tuple[datetime, datetime]:
    first, last = min(moments), max(moments)
    air = max((last - first) * _AIR, _LEAST_AIR)
    return first - air, last + air
