"""History of a team's scores as SVG: a mark for each submission, and a line for the record so far."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from math import ceil, floor
from xml.etree.ElementTree import SubElement

from app.charts.marks import add_mark
from app.charts.picture import AxisOut, PointOut
from app.charts.sheet import Plot, plot_of, sheet, svg_text
from evergold.figures.axes import Axis
from evergold.figures.svg import add_line, add_names, add_text, clean, multiples, number_text, round_step
from evergold.moments import date_words

WIDTH, HEIGHT = 640, 260
_LEFT, _RIGHT, _TOP, _BELOW = 56, 18, 16, 34
#: Distance of the first and the last mark from the ends of the plot.
_INSET = 12
_MOST_TICKS = 5
_SIZE, _RECORD_SIZE, _RING_SIZE = 4.0, 5.5, 9.0
#: Minimum span of the axis: values that hardly differ are not stretched to the full height.
_LEAST_SPAN = 0.01


def draw_history(
    title: str,
    axis: AxisOut,
    entries: Sequence[PointOut],
    records: Sequence[PointOut],
    counting: PointOut | None = None,
) -> str:
    """Draw the chart and return its SVG.

    entries: at least one, oldest first; records: entries that were better than all before; counting: the submission
    that counts, if known.
    """
    svg = sheet(WIDTH, HEIGHT)
    add_names(svg, "course", title, _description(axis, entries, records[-1]))
    plot = plot_of(svg, WIDTH, _LEFT, _TOP, HEIGHT - _BELOW, _RIGHT)
    scale = 100.0 if axis.percent else 1.0
    y = _draw_levels(plot, [scale * _value(entry) for entry in entries], _LEAST_SPAN * scale)
    _draw_dates(plot, _date(entries[0]), _date(entries[-1]))
    first, last = (_moment(entry).timestamp() for entry in (entries[0], entries[-1]))

    def place(entry: PointOut) -> tuple[float, float]:
        share = (_moment(entry).timestamp() - first) / (last - first) if last > first else 0.5
        x = plot.left + _INSET + share * (plot.right - plot.left - 2 * _INSET)
        return x, y.place(scale * _value(entry), plot.bottom, plot.top)

    places = {_spot(entry): place(entry) for entry in entries}
    held = set(map(_spot, records))
    _draw_record_line(plot, [places[_spot(entry)] for entry in records])
    for entry in entries:
        kind, size = ("fig-mark", _RECORD_SIZE) if _spot(entry) in held else ("fig-mark fig-hollow", _SIZE)
        mark = add_mark(svg, kind, "circle", *places[_spot(entry)], size)
        SubElement(mark, "title").text = clean(f"{_date(entry)} {entry.label}: {_text(axis, entry)}")
    if counting is not None:
        ring = add_mark(svg, "fig-ring", "circle", *place(counting), _RING_SIZE)
        SubElement(ring, "title").text = clean(f"Counts: {_date(counting)} {_text(axis, counting)}")
    return svg_text(svg)


def _draw_levels(plot: Plot, values: Sequence[float], least: float) -> Axis:
    """Draw the numbers of the axis on the left, and return it. least: its minimum span."""
    low, high = min(values), max(values)
    air = max((high - low) * 0.08, (least - (high - low)) / 2, 0.0)
    step = round_step(high - low + 2 * air, _MOST_TICKS)
    digits = next((digits for digits in range(6) if abs(round(step, digits) - step) < 1e-9), 6)
    axis = Axis("", floor((low - air) / step) * step, ceil((high + air) / step) * step)
    for tick in multiples(axis.low, axis.high, step):
        y = axis.place(tick, plot.bottom, plot.top)
        add_line(plot.svg, "fig-grid", plot.left, y, plot.right, y)
        add_text(plot.svg, number_text(tick, digits), "fig-tick", plot.left - 8, y + 4, "end")
    return axis


def _draw_dates(plot: Plot, first: str, last: str) -> None:
    y = HEIGHT - 10
    if first == last:
        add_text(plot.svg, first, "fig-tick", plot.middle, y, "middle")
        return
    add_text(plot.svg, first, "fig-tick", plot.left, y)
    add_text(plot.svg, last, "fig-tick", plot.right, y, "end")


def _draw_record_line(plot: Plot, records: Sequence[tuple[float, float]]) -> None:
    """Draw a step line: a record holds until the next one."""
    for (x, y), (end, next_y) in pairwise(records):
        add_line(plot.svg, "fig-ideal", x, y, end, y)
        add_line(plot.svg, "fig-ideal", end, y, end, next_y)
    x, y = records[-1]
    add_line(plot.svg, "fig-ideal", x, y, plot.right, y)


def _description(axis: AxisOut, entries: Sequence[PointOut], best: PointOut) -> str:
    count = "One submission" if len(entries) == 1 else f"{len(entries)} submissions"
    return (
        f"{count} from {_date(entries[0])} to {_date(entries[-1])}; "
        f"the best is {_text(axis, best)}, the last {_text(axis, entries[-1])}."
    )


def _text(axis: AxisOut, entry: PointOut) -> str:
    return axis.text_of(entry.y).removesuffix(" %")


def _spot(entry: PointOut) -> tuple[object, ...]:
    """Return the position and label of an entry, which identify it."""
    return entry.x, entry.y, entry.label


def _value(entry: PointOut) -> float:
    return float(entry.y or 0.0)


def _moment(entry: PointOut) -> datetime:
    return datetime.fromisoformat(str(entry.x))


def _date(entry: PointOut) -> str:
    return date_words(_moment(entry))
