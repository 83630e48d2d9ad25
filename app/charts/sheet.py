"""The sheet that a chart is drawn on, its plot between the axes, and texts in free places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from app.charts.labels import Box, Room, TextPosition
from app.charts.picture import Picture
from evergold.figures.svg import FONT, NAMESPACE, add_names, add_text, number, without_colours

#: Widths of the two drawings of a picture of a board: for a page, and for a phone.
WIDE, NARROW = 960, 360
#: Font sizes of names at points, of numbers at axes, of names of rows and keys.
SIZE, TICK_SIZE, LABEL_SIZE = 12.5, 12.0, 13.0
YOU = "you"


@dataclass(frozen=True, slots=True)
class Drawn:
    """Both drawings of a chart, for wide pages and for phones."""

    wide: str
    narrow: str


@dataclass(frozen=True, slots=True)
class Plot:
    """The part of a drawing between the axes. room: free space for text in the whole drawing."""

    svg: Element
    left: float
    top: float
    right: float
    bottom: float
    room: Room

    @property
    def middle(self) -> float:
        """The x coordinate halfway between left and right."""
        return (self.left + self.right) / 2


def sheet(width: float, height: float, *, size: str = "", role: Literal["img", "group"] = "img") -> Element:
    """Create and return an empty drawing.

    size: `wide` or `narrow` if there are drawings for pages and phones.
    role: `group` if parts can be focused one by one, which those of an image cannot.
    """
    kind = f"figure {size}".rstrip()
    box = {"viewBox": f"0 0 {width:g} {number(height)}", "role": role, "font-family": FONT}
    return Element("svg", {"xmlns": NAMESPACE, "class": kind, **box})


def draw_both(draw: Callable[[int], Element], wide: int, narrow: int) -> Drawn:
    """Draw a chart in both widths for a page, without colours."""
    return Drawn(svg_text(without_colours(draw(wide))), svg_text(without_colours(draw(narrow))))


def svg_text(svg: Element) -> str:
    """Serialise a drawing as SVG."""
    return ElementTree.tostring(svg, encoding="unicode")


def sheet_of(picture: Picture, width: int, height: float) -> Element:
    """Create and return the empty drawing of a picture, with its title and description."""
    size = "wide" if width == WIDE else "narrow"
    svg = sheet(width, height, size=size)
    add_names(svg, f"{picture.name}-{size}", picture.title, picture.summary)
    return svg


def plot_of(svg: Element, width: int, left: float, top: float, bottom: float, right: float = 14.0) -> Plot:
    """Create and return the plot. left, right: margins in pixels."""
    room = Room(Box(2, 2, width - 2, bottom))
    return Plot(svg, left, top, width - right, bottom, room)


def reserve_text(plot: Plot, text: str, kind: str, place: TextPosition) -> None:
    """Write a text and mark its position as occupied."""
    plot.room.take(place.box)
    write(plot.svg, text, kind, place)


def write(parent: Element, text: str, kind: str, place: TextPosition) -> None:
    """Write a text at its position."""
    add_text(parent, text, kind, place.x, place.y, place.anchor)
