"""Dot plots: a row for each language or category, with a mark for each system, or for each part and their mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element

from app.charts.axes import draw_x_axis, plot_axis
from app.charts.labels import TextPosition, cut_to, text_place, text_width
from app.charts.marks import REACH, SHAPES, Key, Shape, add_mark, add_tooltip, draw_keys, keys_height, point_box
from app.charts.picture import Picture, PointOut, SeriesOut
from app.charts.sheet import LABEL_SIZE, NARROW, YOU, Plot, plot_of, reserve_text, sheet_of, write
from evergold.figures.axes import Axis
from evergold.figures.svg import add_line

_ROW = 30.0
#: Vertical offset between the marks of a row, so that equal values are all visible.
_STEP = 3.0


def draw_dots(picture: Picture, width: int) -> Element:
    """Draw the picture: values run from left to right; rows are in the order of the picture."""
    values = [point.x for one in picture.series for point in one.points if isinstance(point.x, float)]
    x = plot_axis(picture.x, values)
    keys = _keys(picture.series)
    top = 8 + keys_height(keys, width)
    bottom = top + _ROW * len(picture.y.categories)
    svg = sheet_of(picture, width, bottom + 46)
    most = 110 if width == NARROW else 240
    names = [cut_to(name, LABEL_SIZE, most) for name in picture.y.categories]
    plot = plot_of(svg, width, 14 + max(text_width(name, LABEL_SIZE) for name in names), top, bottom, 20)
    draw_keys(plot, keys, width)
    draw_x_axis(plot, x)
    rows = {name: top + _ROW * (at + 0.5) for at, name in enumerate(picture.y.categories)}
    for name, row in zip(names, rows.values(), strict=True):
        add_line(svg, "fig-grid", plot.left, row, plot.right, row)
        reserve_text(plot, name, "fig-label", text_place(name, LABEL_SIZE, plot.left - 8, row + 4.5, "end"))
    _draw_marks(plot, picture, x, rows)
    return svg


def _keys(series: Sequence[SeriesOut]) -> list[Key]:
    """Return a key for each system; the possibly many parts share one, and tooltips name them."""
    found = []
    for at, one in enumerate(series):
        own = any(point.is_mine for point in one.points)
        if one.look != "part":
            found.append(Key(f"{one.name} ({YOU})" if own else one.name, *_mark(one, at), owner=one.name))
    part = next((one for one in series if one.look == "part"), None)
    return [*found, Key("One language", *_mark(part, 0))] if part else found


def _mark(series: SeriesOut, at: int) -> tuple[str, Shape]:
    if series.look == "part":
        return "fig-entry", "circle"
    if series.look == "mean":
        return "fig-mark", "diamond"
    return f"fig-mark fig-s{at % len(SHAPES)}", SHAPES[at % len(SHAPES)]


def _draw_marks(plot: Plot, picture: Picture, x: Axis, rows: dict[str, float]) -> None:
    systems = [one for one in picture.series if one.look not in ("part", "mean")]
    drawn: list[tuple[SeriesOut, PointOut, float, float]] = []
    for at, one in enumerate(picture.series):
        kind, shape = _mark(one, at)
        lift = (at - (len(systems) - 1) / 2) * _STEP if systems else 0.0
        for point in one.points:
            if isinstance(point.x, float):
                across, down = x.place(point.x, plot.left, plot.right), rows[str(point.y)] + lift
                mark = add_mark(plot.svg, kind, shape, across, down, 4 if one.look == "part" else REACH)
                add_tooltip(mark, f"{point.label}\n{point.y}\n{picture.x.text_of(point.x)}", one.name)
                plot.room.take(point_box(across, down))
                drawn.append((one, point, across, down))
    for row in rows if not systems else ():
        _name_ends(plot, [(one, across, down) for one, point, across, down in drawn if point.y == row])


def _name_ends(plot: Plot, row: Sequence[tuple[SeriesOut, float, float]]) -> None:
    """Write the names of the lowest and the highest part of a row."""
    parts = sorted((across, down, one.name) for one, across, down in row if one.look == "part")
    for across, down, name in [*parts[:1], *parts[1:][-1:]]:
        found = plot.room.find(_places_for_name(name, across, down))
        if found is not None:
            write(plot.svg, name, "fig-end", found)


def _places_for_name(name: str, x: float, y: float) -> Iterator[TextPosition]:
    yield text_place(name, 11, x - REACH - 3, y + 4, "end")
    yield text_place(name, 11, x + REACH + 3, y + 4, "start")
