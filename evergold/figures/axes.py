"""Axes of a plot: their ends, round ticks, and the position of a value between two edges."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor
from xml.etree.ElementTree import Element

from evergold.figures.svg import add_line, add_text, multiples, number_text, round_step

_MOST_TICKS = 6
#: Margin between the outermost values and the ends of an axis, as a share of their distance.
_AIR = 0.06


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis. low, high: its ends; scale: factor for values in texts, such as 100 for percent."""

    title: str
    low: float
    high: float
    decimals: int = 2
    scale: float = 1.0
    unit: str = ""

    def text_of(self, value: float) -> str:
        """Return a value of this axis as people write it."""
        return f"{number_text(self.scale * value, self.decimals)}{self.unit}"

    def place(self, value: float, start: float, end: float) -> float:
        """Return the position of a value between `start` (the position of `low`) and `end` (that of `high`)."""
        return start + (value - self.low) / (self.high - self.low) * (end - start)

    def ticks(self) -> list[float]:
        """Return the values at which a line and a number are drawn."""
        return multiples(self.low, self.high, self._step)

    def tick_text(self, tick: float) -> str:
        """Return the number of a tick without its unit: no more digits than the ticks need, but at least two."""
        step = self.scale * self._step
        digits = next((digits for digits in range(2, 9) if abs(round(step, digits) - step) < step * 1e-6), 9)
        return number_text(self.scale * tick, digits).rstrip("0").rstrip(".")

    @property
    def heading(self) -> str:
        """The title with the unit of the numbers."""
        return f"{self.title} ({self.unit.strip()})" if self.unit else self.title

    @property
    def _step(self) -> float:
        step = round_step(self.high - self.low, _MOST_TICKS + 1)
        is_counted = self.decimals == 0 and self.scale == 1
        return float(max(1, ceil(step - 1e-9))) if is_counted else step


def axis_around(values: Iterable[float], title: str, *, decimals: int = 2, scale: float = 1.0, unit: str = "") -> Axis:
    """Return an axis with round ends around all values, with a small margin; from 0 to 1 if there are no values."""
    found = list(values) or [0.0, 1.0]
    low, high = min(found), max(found)
    air = _AIR * (high - low) or 1 / scale
    step = round_step(high - low + 2 * air, _MOST_TICKS)
    low = max(low - air, 0.0) if low >= 0 else low - air
    return Axis(title, step * floor(low / step + 1e-9), step * ceil((high + air) / step - 1e-9), decimals, scale, unit)


def count_axis(title: str, most: float) -> Axis:
    """Return an axis from 0 to the next whole round number."""
    step = max(1.0, round_step(most, 5))
    return Axis(title, 0, step * ceil(most / step), 0)


def draw_axes(svg: Element, x: Axis, y: Axis, left: float, right: float, top: float, bottom: float) -> None:
    """Draw lines, numbers and titles of both axes around this rectangle."""
    for tick in x.ticks():
        at = x.place(tick, left, right)
        add_line(svg, "fig-grid", at, top, at, bottom)
        add_text(svg, x.tick_text(tick), "fig-tick", at, bottom + 16, "middle")
    for tick in y.ticks():
        at = y.place(tick, bottom, top)
        add_line(svg, "fig-grid", left, at, right, at)
        add_text(svg, y.tick_text(tick), "fig-tick", left - 6, at + 4, "end")
    add_text(svg, x.heading, "fig-tick", (left + right) / 2, bottom + 36, "middle")
    title = add_text(svg, y.heading, "fig-tick", 14, (top + bottom) / 2, "middle")
    title.set("transform", f"rotate(-90 14 {(top + bottom) / 2:.1f})")
