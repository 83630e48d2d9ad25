"""Reference values as dashed lines (rules) across a plot, each with its name above the plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations, product
from typing import Literal

from app.charts.labels import Box, TextPosition, cut_to, text_place
from app.charts.picture import LineOut
from app.charts.sheet import TICK_SIZE, Plot, reserve_text
from evergold.figures.axes import Axis
from evergold.figures.svg import add_line

_LINE, _CLEAR = 17.0, 1.5
#: Maximum widths of names, tried in this order while names cross other rules.
_WIDTHS = (600.0, 220.0, 150.0, 100.0, 64.0)

Side = Literal["start", "end"]
_SIDES: tuple[Side, Side] = ("start", "end")


def rules_height(lines: Sequence[LineOut]) -> float:
    """Return the height in pixels of the names of rules above a plot, one line each."""
    return _LINE * len(lines) + (4 if lines else 0)


def _text(line: LineOut, axis: Axis) -> str:
    """Return the text of a rule, such as `Baseline: Majority, 33.3 %`."""
    return f"{line.label}, {axis.text_of(line.value)}"


def draw_level_rules(plot: Plot, lines: Sequence[LineOut], axis: Axis, top: float) -> None:
    """Draw horizontal rules at values of the left axis; their names, each with a sample, are listed above the plot."""
    for row, line in enumerate(lines):
        y = axis.place(line.value, plot.bottom, plot.top)
        add_line(plot.svg, _kind(line, row), plot.left, y, plot.right, y)
        plot.room.take(Box(plot.left, y - _CLEAR, plot.right, y + _CLEAR))
        at = top + _LINE * row + 8
        add_line(plot.svg, _kind(line, row), plot.left, at, plot.left + 26, at)
        plot.room.take(Box(plot.left, at - _CLEAR, plot.left + 26, at + _CLEAR))
        text = cut_to(_text(line, axis), TICK_SIZE, plot.right - plot.left - 34)
        reserve_text(plot, text, _text_kind(line), text_place(text, TICK_SIZE, plot.left + 33, at + 4))


@dataclass(frozen=True, slots=True)
class _Rule:
    """A vertical rule, from the line of its name to the bottom. place: None if there is no room for the name."""

    line: LineOut
    x: float
    top: float
    text: str
    place: TextPosition | None

    def crosses(self, other: _Rule) -> bool:
        """Return True if the other rule or its name crosses this one's name."""
        if self.place is None:
            return False
        rule = Box(other.x - _CLEAR, other.top, other.x + _CLEAR, self.place.box.bottom + 1)
        return self.place.box.meets(rule) or (other.place is not None and self.place.box.meets(other.place.box))


def draw_upright_rules(plot: Plot, lines: Sequence[LineOut], axis: Axis) -> None:
    """Draw vertical rules at values of the bottom axis, each with its name next to it, on a separate line, across no
    other rule.
    """
    for rule in _arranged(plot, lines, axis):
        add_line(plot.svg, _kind(rule.line), rule.x, rule.top, rule.x, plot.bottom)
        plot.room.take(Box(rule.x - _CLEAR, rule.top, rule.x + _CLEAR, plot.bottom))
        if rule.place is not None:
            reserve_text(plot, rule.text, _text_kind(rule.line), rule.place)


def _arranged(plot: Plot, lines: Sequence[LineOut], axis: Axis) -> Sequence[_Rule]:
    """Return the first arrangement in which no name is crossed; rules without names if there is none."""
    xs = [axis.place(line.value, plot.left, plot.right) for line in lines]
    for width in _WIDTHS:
        texts = [cut_to(_text(line, axis), TICK_SIZE, width) for line in lines]
        for rows, sides in product(permutations(range(len(lines))), product(_SIDES, repeat=len(lines))):
            rules = [_rule(plot, *one) for one in zip(lines, xs, texts, rows, sides, strict=True)]
            if all(_fits(plot, one) for one in rules) and not any(
                one.crosses(other) for one in rules for other in rules if one is not other
            ):
                return rules
    return [_Rule(line, x, plot.top, "", None) for line, x in zip(lines, xs, strict=True)]


def _rule(plot: Plot, line: LineOut, x: float, text: str, row: int, side: Side) -> _Rule:
    baseline = plot.top - 6 - _LINE * row
    place = text_place(text, TICK_SIZE, x + (6 if side == "start" else -6), baseline, side)
    return _Rule(line, x, baseline - 10, text, place)


def _fits(plot: Plot, rule: _Rule) -> bool:
    return rule.place is None or plot.room.is_free(rule.place.box)


def _kind(line: LineOut, row: int = 0) -> str:
    return "fig-own-rule" if line.is_mine else ("fig-ideal", "fig-ideal fig-dots")[row % 2]


def _text_kind(line: LineOut) -> str:
    return "fig-you" if line.is_mine else "fig-ideal-text"
