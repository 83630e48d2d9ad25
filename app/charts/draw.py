"""Draws any picture of a board as SVG: in two widths for a page, which shows the one that fits, or as a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from xml.etree.ElementTree import Element, SubElement

from app.charts.bars import draw_bars, draw_histogram
from app.charts.dots import draw_dots
from app.charts.forest import draw_forest
from app.charts.matrix import draw_matrix
from app.charts.over_time import draw_steps
from app.charts.picture import Kind, Picture
from app.charts.scatter import draw_scatter
from app.charts.sheet import NARROW, WIDE, Drawn, draw_both, svg_text
from evergold.figures.svg import add_heading, heading_height, heading_lines, number

_DRAW: Mapping[Kind, Callable[[Picture, int], Element]] = {
    "steps": draw_steps,
    "bars": draw_bars,
    "histogram": draw_histogram,
    "dots": draw_dots,
    "scatter": draw_scatter,
    "forest": draw_forest,
    "matrix": draw_matrix,
}
_SIDE, _TITLE_CHARACTERS = 14, 110


#: Both drawings of a picture take some 30 KB.
DRAWINGS_KEPT = 256


@lru_cache(maxsize=DRAWINGS_KEPT)
def draw(picture: Picture) -> Drawn:
    """Draw a picture for a page, without colours, which its style sheet adds.

    Cached by content: viewers of the same picture share the drawing, unless it marks the viewer as "you".
    """
    return draw_both(partial(_DRAW[picture.kind], picture), WIDE, NARROW)


def draw_file(picture: Picture, context: str) -> str:
    """Return the drawing as a file on a white ground, with its title, and with the context that a page would show."""
    svg = _DRAW[picture.kind](picture, WIDE)
    height = float(svg.get("viewBox", "").split()[-1])
    heading = heading_lines(picture.title, [context], _TITLE_CHARACTERS)
    head = heading_height(heading)
    svg.set("viewBox", f"0 0 {WIDE} {number(head + height)}")
    drawn = list(svg)[2:]  # the title element comes first
    for element in drawn:
        svg.remove(element)
    add_heading(svg, heading, _SIDE, WIDE, head + height)
    SubElement(svg, "g", {"transform": f"translate(0 {head})"}).extend(drawn)
    return svg_text(svg)
