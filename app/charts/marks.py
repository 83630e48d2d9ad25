"""Marks of charts: their shapes, tooltips and names, and the keys that explain them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree.ElementTree import Element, SubElement

from app.charts.labels import Box, around, cut_to, text_place, text_width
from app.charts.picture import Look, PointOut
from app.charts.sheet import LABEL_SIZE, SIZE, YOU, Plot, write
from evergold.figures.svg import add, clean, number

#: Radius of a mark.
REACH = 5.0

Shape = Literal["circle", "square", "triangle", "diamond", "wedge", "cross"]
SHAPES: tuple[Shape, ...] = ("circle", "square", "triangle", "diamond", "wedge", "cross")
#: Marks of teams, baselines and published results where they appear together.
SYSTEM_MARKS: dict[Look, tuple[str, Shape]] = {
    "team": ("fig-mark", "circle"),
    "baseline": ("fig-mark fig-tone-1", "square"),
    "published": ("fig-mark fig-hollow", "triangle"),
}
#: Mark of the viewer's own row, of any kind.
OWN_MARK: tuple[str, Shape] = ("fig-mark fig-mine", "circle")
_KEY_LINE, _KEY_GAP = 21.0, 22.0


@dataclass(frozen=True, slots=True)
class Key:
    """The meaning of a mark. owner: name of the system whose marks it explains, if viewers can select systems."""

    label: str
    kind: str
    shape: Shape
    owner: str = ""


# ------------------------------------------------------------------------------------------------------------ marks


def add_mark(parent: Element, kind: str, shape: Shape, x: float, y: float, size: float = REACH) -> Element:
    """Draw a mark centred at x and y, and return it."""
    if shape == "circle":
        return add(parent, "circle", kind, cx=number(x), cy=number(y), r=number(size))
    return add(parent, "path", kind, d=_PATHS[shape].format(x=x, y=y, s=size, d=2 * size))


_PATHS: dict[Shape, str] = {
    "square": "M{x:.1f},{y:.1f}m-{s:g},-{s:g}h{d:g}v{d:g}h-{d:g}z",
    "triangle": "M{x:.1f},{y:.1f}m0,-{s:g}l{s:g},{d:g}h-{d:g}z",
    "wedge": "M{x:.1f},{y:.1f}m0,{s:g}l{s:g},-{d:g}h-{d:g}z",
    "diamond": "M{x:.1f},{y:.1f}m0,-{s:g}l{s:g},{s:g}l-{s:g},{s:g}l-{s:g},-{s:g}z",
    "cross": "M{x:.1f},{y:.1f}m-2,-{s:g}h4v3h3v4h-3v3h-4v-3h-3v-4h3z",
}


def add_tooltip(mark: Element, words: str, owner: str = "") -> None:
    """Add a tooltip to a mark. owner: name of its system, so that a script finds all marks of one."""
    mark.set("class", f"{mark.get('class')} fig-spot")
    SubElement(mark, "title").text = "\n".join(map(clean, words.split("\n")))
    if owner:
        mark.set("data-of", clean(owner))


def point_box(x: float, y: float, reach: float = REACH) -> Box:
    """Return the box of a mark."""
    return Box(x - reach, y - reach, x + reach, y + reach)


def shown_name(point: PointOut) -> str:
    """Return the name of a point's system, with "you" if it is the viewer's."""
    return f"{point.label} ({YOU})" if point.is_mine else point.label


def name_point(plot: Plot, name: str, x: float, y: float, *, is_mine: bool = False, width: float = 170) -> None:
    """Write a name next to a point if there is room; the point's own box is already occupied."""
    text = cut_to(name, SIZE, width)
    found = plot.room.find(around(text, SIZE, x, y, REACH + 4))
    if found is not None:
        write(plot.svg, text, "fig-you" if is_mine else "fig-name", found)


# ------------------------------------------------------------------------------------------------------------- keys


def keys_height(keys: Sequence[Key], width: int, left: float = 14) -> float:
    """Return the height of the keys above a plot."""
    lines = max((line for line, _ in _key_places(keys, width, left)), default=-1) + 1
    return lines * _KEY_LINE + (6 if lines else 0)


def draw_keys(plot: Plot, keys: Sequence[Key], width: int, top: float = 4, left: float = 14) -> None:
    """Draw the keys side by side, on as many lines as needed; to be called before names of points are placed."""
    for key, (line, x) in zip(keys, _key_places(keys, width, left), strict=True):
        y = top + line * _KEY_LINE + 9
        group = SubElement(plot.svg, "g", {"class": "fig-key"})
        if key.owner:
            group.set("data-of", clean(key.owner))
        add_mark(group, key.kind, key.shape, x + 6, y)
        text = _key_text(key, width, left)
        place = text_place(text, LABEL_SIZE, x + 17, y + 4.5)
        write(group, text, "fig-label", place)
        for box in (point_box(x + 6, y), place.box):
            plot.room.take(box)


def _key_places(keys: Sequence[Key], width: int, left: float) -> Iterator[tuple[int, float]]:
    """Yield line and x of each key."""
    line, x = 0, left
    for key in keys:
        needs = 17 + text_width(_key_text(key, width, left), LABEL_SIZE)
        if x > left and x + needs > width - 4:
            line, x = line + 1, left
        yield line, x
        x += needs + _KEY_GAP


def _key_text(key: Key, width: int, left: float) -> str:
    return cut_to(key.label, LABEL_SIZE, min(260, width - left - 24))
