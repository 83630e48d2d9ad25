"""Any picture of a board as SVG: twice for a page, which shows the one that fits, or as a file of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from textwrap import wrap
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from app.charts.dots import draw_dots
from app.charts.forest import draw_forest
from app.charts.histogram import draw_histogram
from app.charts.matrix import draw_matrix
from app.charts.over_time import draw_bars, draw_steps
from app.charts.picture import Kind, Picture
from app.charts.scatter import draw_scatter
from app.charts.sheet import NARROW, WIDE
from evergold.figures.svg import add_text, clean, number, without_colours

_DRAW: Mapping[Kind, Callable[[Picture, int], Element]] = {
    "steps": draw_steps,
    "bars": draw_bars,
    "histogram": draw_histogram,
    "dots": draw_dots,
    "scatter": draw_scatter,
    "forest": draw_forest,
    "matrix": draw_matrix,
}
_SIDE, _LINE, _WORDS = 14, 22, 110


@dataclass(frozen=True, slots=True)
class Drawn:
    """Both drawings of a picture, for a wide page and for a phone."""

    wide: str
    narrow: str


#: Both drawings of a picture take some 30 KB.
DRAWINGS_KEPT = 256


@lru_cache(maxsize=DRAWINGS_KEPT)
def draw(picture: Picture) -> Drawn:
    """Draw a picture for a page, without colours of its own.

    Cached by content: viewers of the same picture share the drawing; one that marks its viewer as "you" is another.
    """
    wide, narrow = (_text(without_colours(_DRAW[picture.kind](picture, width))) for width in (WIDE, NARROW))
    return Drawn(wide, narrow)


def draw_file(picture: Picture, context: str) -> str:
    """Draw a file on a white ground, with the title, and the context that a page would give."""
    svg = _DRAW[picture.kind](picture, WIDE)
    height = float(svg.get("viewBox", "").split()[-1])
    words = [("fig-title", line) for line in wrap(clean(picture.title), _WORDS)]
    words += [("fig-remark", line) for line in wrap(clean(context), _WORDS)]
    head = _LINE * len(words) + 12
    size = {"width": str(WIDE), "height": number(head + height)}
    svg.attrib |= {**size, "viewBox": f"0 0 {WIDE} {number(head + height)}"}
    drawn = list(svg)[2:]  # the title element comes first
    for element in drawn:
        svg.remove(element)
    SubElement(svg, "rect", {**size, "fill": "#ffffff"})
    for at, (kind, line) in enumerate(words, 1):
        add_text(svg, line, kind, _SIDE, _LINE * at - 2)
    SubElement(svg, "g", {"transform": f"translate(0 {head})"}).extend(drawn)
    return _text(svg)


def _text(svg: Element) -> str:
    return ElementTree.tostring(svg, encoding="unicode")
