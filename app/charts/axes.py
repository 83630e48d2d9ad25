"""The axes of plots: of numbers, below and on the left, and of time in UTC."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta

from app.charts.labels import Box, text_place, text_width
from app.charts.picture import AxisOut
from app.charts.sheet import TICK_SIZE, Plot, reserve_text
from evergold.figures.axes import Axis, axis_around
from evergold.figures.svg import add_line, add_text, number

_HOURS = (1, 2, 3, 6, 12)
_DAYS = (1, 2, 4, 7, 14)
_MONTHS = (1, 2, 3, 6, 12, 24, 60, 120)
_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


# ---------------------------------------------------------------------------------------------------------- numbers


def plot_axis(axis: AxisOut, values: Sequence[float]) -> Axis:
    """Return an axis of the plot that covers all values, with the number format of the picture."""
    around_one = 100.0 if axis.percent else 20.0  # around a single value, the axis shows a hundredth or a twentieth
    found = axis_around(values, axis.title, scale=around_one)
    high = min(found.high, 1.0) if max(values, default=2.0) <= 1 else found.high  # most scores end there
    return axis.between(found.low, high)


def left_of_ticks(axis: Axis) -> float:
    """Return the left margin in pixels that a vertical axis needs for its title and numbers."""
    return 30 + max(text_width(axis.tick_text(tick), TICK_SIZE) for tick in axis.ticks())


def draw_x_axis(plot: Plot, axis: Axis) -> None:
    """Draw the axis along the bottom: its numbers, a grid line for each, and its title."""
    ticks = axis.ticks()
    widest = max(text_width(axis.tick_text(tick), TICK_SIZE) for tick in ticks) + 14
    every = max(1, -int(-len(ticks) * widest // (plot.right - plot.left)))
    for tick in ticks[::every]:
        x = axis.place(tick, plot.left, plot.right)
        add_line(plot.svg, "fig-grid", x, plot.top, x, plot.bottom)
        words = axis.tick_text(tick)
        at = min(x, plot.room.within.right - text_width(words, TICK_SIZE) / 2)
        add_text(plot.svg, words, "fig-tick", at, plot.bottom + 16, "middle")
    add_text(plot.svg, axis.heading, "fig-tick", plot.middle, plot.bottom + 35, "middle")


def draw_y_axis(plot: Plot, axis: Axis) -> None:
    """Draw the axis on the left: its numbers, a grid line for each, and its title."""
    draw_levels(plot, axis)
    middle = (plot.top + plot.bottom) / 2
    title = add_text(plot.svg, axis.heading, "fig-tick", 13, middle, "middle")
    title.set("transform", f"rotate(-90 13 {number(middle)})")
    half = text_width(axis.heading, TICK_SIZE) / 2
    plot.room.take(Box(0, middle - half, 18, middle + half))


def draw_levels(plot: Plot, axis: Axis) -> None:
    """Draw the numbers of an axis on the left, and a grid line for each."""
    for tick in axis.ticks():
        y = axis.place(tick, plot.bottom, plot.top)
        add_line(plot.svg, "fig-grid", plot.left, y, plot.right, y)
        words = axis.tick_text(tick)
        reserve_text(plot, words, "fig-tick", text_place(words, TICK_SIZE, plot.left - 7, y + 4, "end"))


# ------------------------------------------------------------------------------------------------------------- time


def draw_time_axis(plot: Plot, first: datetime, last: datetime, most: int, title: str) -> None:
    """Draw the axis along the bottom, with at most this number of times."""
    add_line(plot.svg, "fig-axis", plot.left, plot.bottom, plot.right, plot.bottom)
    for moment, words in time_ticks(first, last, most):
        x = plot.left + (moment - first) / (last - first) * (plot.right - plot.left)
        add_line(plot.svg, "fig-axis", x, plot.bottom, x, plot.bottom + 4)
        half = text_width(words, TICK_SIZE) / 2
        at = min(max(x, plot.left + half - 20), plot.right + 10 - half)
        add_text(plot.svg, words, "fig-tick", at, plot.bottom + 18, "middle")
    add_text(plot.svg, f"{title} (UTC)", "fig-tick", plot.middle, plot.bottom + 36, "middle")


def time_ticks(first: datetime, last: datetime, most: int) -> list[tuple[datetime, str]]:
    """Return at most this number of round times from first to last, each with its label."""
    for step in _HOURS:
        if len(found := _multiples(first, last, timedelta(hours=step), most)) <= most:
            return [(moment, f"{moment:%H:%M}" if moment.hour else day_name(moment)) for moment in found]
    for step in _DAYS:
        if len(found := _multiples(first, last, timedelta(days=step), most)) <= most:
            return [(moment, day_name(moment)) for moment in found]
    for step in _MONTHS:
        if len(found := list(_months(first, last, step))) <= most:
            return [(moment, month_name(moment)) for moment in found]
    return [(first, month_name(first)), (last, month_name(last))]


def day_name(day: date) -> str:
    """Return a day as `5 Jan`."""
    return f"{day.day} {_NAMES[day.month - 1]}"


def month_name(day: date) -> str:
    """Return a month as `Jan 2026`."""
    return f"{_NAMES[day.month - 1]} {day.year}"


def _multiples(first: datetime, last: datetime, step: timedelta, most: int) -> list[datetime]:
    """Return multiples of the step from midnight of the first day, up to one more than `most`, so that callers notice
    excess.
    """
    moment = datetime(first.year, first.month, first.day, tzinfo=UTC)
    moment += max(0, -((moment - first) // step)) * step
    found: list[datetime] = []
    while moment <= last and len(found) <= most:
        found.append(moment)
        moment += step
    return found


def _months(first: datetime, last: datetime, step: int) -> Iterator[datetime]:
    """Yield the first days of every step-th month, counted from January."""
    number = 12 * first.year + first.month - 1
    number += -number % step
    while (moment := datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC)) <= last:
        if moment >= first:
            yield moment
        number += step
