"""Common parts of drawings of boards: sizes, the plot between its axes, marks, keys, and reference lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree.ElementTree import Element, SubElement

from app.boards.pictures.shapes import Axis, Look, Picture
from app.charts.labels import Box, Place, Room, around, cut_to, text_place, text_width
from app.charts.sheet import sheet
from evergold.figures import axes
from evergold.figures.svg import add, add_line, add_names, add_text, clean, number

#: Widths of the two drawings of a picture: for a page, and for a phone.
WIDE, NARROW = 960, 360
#: Font sizes of names at points, of numbers at axes, of names of rows and keys.
SIZE, TICK_SIZE, LABEL_SIZE = 12.5, 12.0, 13.0
#: Radius of a mark.
REACH = 5.0
YOU = "you"

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
class Plot:
    """The part of a drawing between the axes. room: the room of the whole drawing that is free for text."""

    svg: Element
    left: float
    top: float
    right: float
    bottom: float
    room: Room

    @property
    def middle(self) -> float:
        """Centre between left and right."""
        return (self.left + self.right) / 2


@dataclass(frozen=True, slots=True)
class Key:
    """Meaning of a mark. owner: name of the system whose marks it explains, where readers can select systems."""

    label: str
    kind: str
    shape: Shape
    owner: str = ""


def sheet_of(picture: Picture, width: int, height: float) -> Element:
    """Create an empty drawing with title and description."""
    size = "wide" if width == WIDE else "narrow"
    svg = sheet(width, height, size=size)
    add_names(svg, f"{picture.name}-{size}", picture.title, picture.summary)
    return svg


def plot_of(svg: Element, width: int, left: float, top: float, bottom: float, right: float = 14.0) -> Plot:
    """Create the plot. left, right: the margins."""
    room = Room(Box(2, 2, width - 2, bottom))
    return Plot(svg, left, top, width - right, bottom, room)


def numeric(axis: Axis, values: Sequence[float]) -> axes.Axis:
    """Return an axis of the plot around all values, with numbers in the picture's format."""
    around_one = 100.0 if axis.percent else 20.0  # around a single value, the axis shows a hundredth or a twentieth
    found = axes.axis_around(values, axis.title, scale=around_one)
    scale, unit = (100.0, " %") if axis.percent else (1.0, "")
    high = min(found.high, 1.0) if max(values, default=2.0) <= 1 else found.high  # most scores end there
    return axes.Axis(axis.title, found.low, high, axis.decimals, scale, unit)


def left_of_ticks(axis: axes.Axis) -> float:
    """Return the left margin that an upright axis needs for its title and numbers."""
    return 30 + max(text_width(axis.tick_text(tick), TICK_SIZE) for tick in axis.ticks())


# ------------------------------------------------------------------------------------------------------------- axes


def draw_below(plot: Plot, axis: axes.Axis) -> None:
    """Draw the axis along the bottom: its numbers, a line for each, and its title."""
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


def draw_y_axis(plot: Plot, axis: axes.Axis) -> None:
    """Draw the axis on the left."""
    for tick in axis.ticks():
        y = axis.place(tick, plot.bottom, plot.top)
        add_line(plot.svg, "fig-grid", plot.left, y, plot.right, y)
        words = axis.tick_text(tick)
        reserve_text(plot, words, "fig-tick", text_place(words, TICK_SIZE, plot.left - 7, y + 4, "end"))
    middle = (plot.top + plot.bottom) / 2
    title = add_text(plot.svg, axis.heading, "fig-tick", 13, middle, "middle")
    title.set("transform", f"rotate(-90 13 {number(middle)})")
    half = text_width(axis.heading, TICK_SIZE) / 2
    plot.room.take(Box(0, middle - half, 18, middle + half))


# ------------------------------------------------------------------------------------------------------------ marks


def add_mark(parent: Element, kind: str, shape: Shape, x: float, y: float, size: float = REACH) -> Element:
    """Draw a mark with its middle at x and y."""
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


def name_point(plot: Plot, name: str, x: float, y: float, *, is_mine: bool = False, width: float = 170) -> None:
    """Write a name next to a point where there is room; the point's own box is occupied already."""
    text = cut_to(name, SIZE, width)
    found = plot.room.find(around(text, SIZE, x, y, REACH + 4))
    if found is not None:
        write(plot.svg, text, "fig-you" if is_mine else "fig-name", found)


def reserve_text(plot: Plot, text: str, kind: str, place: Place) -> None:
    """Write a text and mark its place as occupied."""
    plot.room.take(place.box)
    write(plot.svg, text, kind, place)


def write(parent: Element, text: str, kind: str, place: Place) -> None:
    """Write a text at its place."""
    add_text(parent, text, kind, place.x, place.y, place.anchor)


# ------------------------------------------------------------------------------------------------------------- keys


def keys_height(keys: Sequence[Key], width: int, left: float = 14) -> float:
    """Return the height of the keys above a plot."""
    lines = max((line for line, _ in _key_places(keys, width, left)), default=-1) + 1
    return lines * _KEY_LINE + (6 if lines else 0)


def draw_keys(plot: Plot, keys: Sequence[Key], width: int, top: float = 4, left: float = 14) -> None:
    """Draw the keys side by side, on as many lines as needed; before the names of points are placed."""
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
