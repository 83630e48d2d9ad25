"""The sheet that a chart is drawn on."""

from __future__ import annotations

from typing import Literal
from xml.etree.ElementTree import Element

from evergold.figures.svg import FONT, NAMESPACE, number


def sheet(width: float, height: float, *, size: str = "", role: Literal["img", "group"] = "img") -> Element:
    """Create an empty drawing.

    size: `wide` or `narrow` where there are drawings for a page and for a phone.
    role: `group` if parts can be focused one by one, which those of an image cannot.
    """
    kind = f"figure {size}".rstrip()
    box = {"viewBox": f"0 0 {width:g} {number(height)}", "role": role, "font-family": FONT}
    return Element("svg", {"xmlns": NAMESPACE, "class": kind, **box})
