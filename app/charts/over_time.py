"""Drawings over time: records and entries, and a bar for each day or month."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from itertools import pairwise
from math import ceil
from xml.etree.ElementTree import Element

from app.charts.axes import day_name, draw_time_axis, draw_y_axis, left_of_ticks, month_name, plot_axis
from app.charts.labels import Box, text_place, text_width
from app.charts.marks import Shape, add_mark, add_tooltip, name_point, point_box
from app.charts.picture import AxisOut, Picture, PointOut
from app.charts.rules import draw_level_rules, rules_height
from app.charts.sheet import NARROW, SIZE, TICK_SIZE, YOU, Plot, plot_of, sheet_of, write
from evergold.figures.axes import count_axis
from evergold.figures.svg import add, add_line, add_rect, add_text, number

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


def draw_bars(picture: Picture, width: int) -> Element:
    """Draw a bar for each day or month, with its number where there is room."""
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
    """Return `2026-01-05` as `5 Jan`, `2026-01` as `Jan 2026`."""
    if len(name) == len("2026-01"):
        return month_name(datetime.combine(date.fromisoformat(f"{name}-01"), datetime.min.time()))
    return day_name(datetime.combine(date.fromisoformat(name), datetime.min.time()))
