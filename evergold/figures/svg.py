"""SVG elements that a page's stylesheet may recolour: the building blocks of all figures.

Presentation attributes carry the colours of a downloaded file; classes let figures.css replace them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10
from textwrap import wrap
from xml.etree.ElementTree import Element, SubElement

from evergold.scoring.characters import can_be_name

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
NAMESPACE = "http://www.w3.org/2000/svg"

_INK, _SOFT, _LINE, _ACCENT, _GOLD = "#1b211e", "#59625c", "#e3e0d5", "#1c6047", "#8a610c"
_STRONG, _OWN = "#8d8c80", "#b04700"
#: Okabe and Ito's palette for colour-blind people, darkened for a white background.
SERIES_COLOURS = ("#0b6b4f", "#c2500a", "#0067a6", "#a0447e", "#6b5b00", "#3d3d3d")
_COLOURS = {
    "fig-grid": {"stroke": _LINE},
    "fig-frame": {"fill": "none", "stroke": _LINE},
    "fig-tick": {"fill": _SOFT, "font-size": "12"},
    "fig-title": {"fill": _INK, "font-size": "15", "font-weight": "600"},
    "fig-label": {"fill": _INK, "font-size": "13"},
    "fig-remark": {"fill": _SOFT, "font-size": "12"},
    "fig-ridge": {"fill": "#d3e5db", "stroke": _ACCENT, "stroke-width": "1"},
    "fig-band": {"fill": "#d3e5db"},
    "fig-curve": {"fill": "none", "stroke": _ACCENT, "stroke-width": "2"},
    "fig-whisker": {"stroke": _INK, "stroke-width": "1.4"},
    "fig-box": {"fill": "#ffffff", "stroke": _INK, "stroke-width": "1.4"},
    "fig-box fig-tone-1": {"fill": "#b9b8ac", "stroke": _INK, "stroke-width": "1.4"},
    "fig-box fig-tone-2": {"fill": _SOFT, "stroke": _INK, "stroke-width": "1.4"},
    "fig-median": {"stroke": _INK, "stroke-width": "2.6"},
    "fig-mean": {"fill": "#ffffff", "stroke": _INK, "stroke-width": "1.5"},
    "fig-ideal": {"stroke": _GOLD, "stroke-width": "2", "stroke-dasharray": "5 3"},
    "fig-ideal-mark": {"fill": _GOLD},
    "fig-ideal-text": {"fill": _GOLD, "font-size": "12", "font-weight": "600"},
    "fig-mark": {"fill": _ACCENT, "stroke": "#ffffff", "stroke-width": "1"},
    "fig-mark fig-hollow": {"fill": "#ffffff", "stroke": _INK, "stroke-width": "1.6"},
    "fig-ring": {"fill": "none", "stroke": _GOLD, "stroke-width": "2"},
    "fig-mark fig-tone-1": {"fill": "#b9b8ac", "stroke": _INK, "stroke-width": "1.4"},
    "fig-hit": {"fill": "none", "pointer-events": "all"},
    "fig-name": {
        "fill": _INK,
        "font-size": "12.5",
        "stroke": "#ffffff",
        "stroke-width": "3",
        "paint-order": "stroke",
    },
    "fig-end": {"fill": _SOFT, "font-size": "11"},
    "fig-tip": {"fill": _INK, "font-size": "13", "font-weight": "600", "visibility": "hidden"},
    "fig-ideal fig-dots": {"stroke": _GOLD, "stroke-width": "2", "stroke-dasharray": "2 3"},
    "fig-own-rule": {"stroke": _OWN, "stroke-width": "2", "stroke-dasharray": "5 3"},
    "fig-you": {
        "fill": _OWN,
        "font-size": "12.5",
        "font-weight": "700",
        "stroke": "#ffffff",
        "stroke-width": "3",
        "paint-order": "stroke",
    },
    "fig-axis": {"stroke": _STRONG},
    "fig-bar": {"fill": _ACCENT},
    "fig-bar fig-vain": {"fill": "#ffffff", "stroke": "#a3281c", "stroke-width": "1.4"},
    "fig-overlap": {"fill": _GOLD, "fill-opacity": "0.22", "stroke": _GOLD, "stroke-dasharray": "3 3"},
    "fig-record": {"fill": "none", "stroke": _ACCENT, "stroke-width": "2.2"},
    "fig-entry": {"fill": "#ffffff", "stroke": _SOFT, "stroke-width": "1.5"},
    "fig-mark fig-mine": {"fill": _OWN, "stroke": _INK, "stroke-width": "1.5"},
    "fig-interval": {"stroke": _INK, "stroke-width": "1.8"},
    "fig-cluster": {"stroke": _STRONG, "stroke-width": "1.2"},
    "fig-cell fig-better": {"fill": "#cfe5d8", "stroke": _ACCENT, "stroke-width": "1"},
    "fig-cell fig-worse": {"fill": "#ffffff", "stroke": _STRONG, "stroke-width": "1", "stroke-dasharray": "2 2"},
    "fig-cell fig-same": {"fill": "#f4f2ea"},
    "fig-value": {"fill": _INK, "font-size": "12.5"},
    "fig-cell-text": {"fill": _INK, "font-size": "11"},
    "fig-cell-text fig-small": {"fill": _INK, "font-size": "9.5"},
    **{
        f"fig-mark fig-s{at}": {"fill": colour, "stroke": "#ffffff", "stroke-width": "1"}
        for at, colour in enumerate(SERIES_COLOURS)
    },
}
#: Height of a line of a heading; characters that more go into a line of a remark than of the title.
_HEADING_LINE, _REMARK_EXTRA = 19, 18
#: Factors of round numbers, times a power of ten.
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


def add(parent: Element, tag: str, kind: str, **attributes: str) -> Element:
    """Add an element of this class, with its colours."""
    return SubElement(parent, tag, {"class": kind, **_COLOURS[kind], **attributes})


def add_line(parent: Element, kind: str, x1: float, y1: float, x2: float, y2: float) -> None:
    """Add a straight line."""
    ends = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
    add(parent, "line", kind, **{name: number(value) for name, value in ends.items()})


def add_rect(parent: Element, kind: str, x: float, y: float, width: float, height: float) -> Element:
    """Add a rectangle. x, y: its upper left corner."""
    sizes = {"x": x, "y": y, "width": width, "height": height}
    return add(parent, "rect", kind, **{name: number(value) for name, value in sizes.items()})


def add_text(parent: Element, text: str, kind: str, x: float, y: float, anchor: str = "start") -> Element:
    """Add one line of text; anchor: which end of it x is, `start`, `middle` or `end`."""
    element = add(parent, "text", kind, x=number(x), y=number(y), **{"text-anchor": anchor})
    element.text = clean(text)
    return element


def add_names(svg: Element, name: str, title: str, description: str) -> None:
    """Add the drawing's title and description for screen readers."""
    ids = f"{name}-title", f"{name}-description"
    svg.set("aria-labelledby", " ".join(ids))
    SubElement(svg, "title", {"id": ids[0]}).text = clean(title)
    SubElement(svg, "desc", {"id": ids[1]}).text = clean(description)


def heading_lines(title: str, remarks: Sequence[str], characters: int) -> list[tuple[str, str]]:
    """Return the lines of a file's heading, each as (class, text). characters: maximum length of a title's line."""
    lines = [("fig-title", line) for line in wrap(clean(title), characters)]
    for remark in remarks:
        lines += [("fig-remark", line) for line in wrap(clean(remark), characters + _REMARK_EXTRA)]
    return lines


def heading_height(lines: Sequence[tuple[str, str]]) -> float:
    """Return the height of a heading, with the margin below it."""
    return _HEADING_LINE * len(lines) + 14


def add_heading(svg: Element, lines: Sequence[tuple[str, str]], left: float, width: float, height: float) -> None:
    """Add what only a separate file needs, not a drawing on a page: its size, a white background, and its heading."""
    size = {"width": f"{width:g}", "height": f"{height:g}"}
    svg.attrib |= size
    SubElement(svg, "rect", {**size, "fill": "#ffffff"})
    for at, (kind, line) in enumerate(lines, start=1):
        add_text(svg, line, kind, left, 2 + _HEADING_LINE * at)


def number(value: float) -> str:
    """Format a length or a position with as few digits as a drawing needs."""
    return f"{value:.1f}".removesuffix(".0")


def without_colours(svg: Element) -> Element:
    """Remove colours and sizes, for a page whose stylesheet sets them (a separate file needs them itself), and return
    the drawing.
    """
    for element in svg.iter():
        kind = element.get("class", "").removesuffix(" fig-spot")
        for name in _COLOURS.get(kind, ()):
            element.attrib.pop(name, None)
        if element.get("text-anchor") == "start":
            del element.attrib["text-anchor"]
    return svg


def clean(text: str) -> str:
    """Replace characters that XML cannot contain, and invisible ones, by spaces, except what a name's script needs."""
    if text.isprintable() or can_be_name(text):
        return text
    return "".join(character if character.isprintable() else " " for character in text)


def number_text(number: float, decimals: int = 2) -> str:
    """Format a number as people write it, with a real minus sign and no negative zero."""
    text = f"{number:.{decimals}f}"
    return (text.lstrip("-") if float(text) == 0 else text).replace("-", "\N{MINUS SIGN}")


def short(number: float) -> str:
    """Format a number without trailing zeros."""
    return number_text(number).rstrip("0").rstrip(".")


def shortened(label: str, characters: int) -> str:
    """Cut a label that is too long."""
    return label if len(label) <= characters else f"{label[: characters - 1].rstrip()}…"


def multiples(low: float, high: float, step: float) -> list[float]:
    """Return the multiples of a step from low to high."""
    return [step * number for number in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def round_step(span: float, most: int, steps: Sequence[float] = _STEPS) -> float:
    """Return the smallest round number that goes into the span at most this many times.

    steps: the round numbers from 1 to 10; their products with powers of ten are round, too.
    """
    power = 10.0 ** floor(log10(span / most))
    return next(power * step for step in steps if span / (power * step) <= most + 1e-9)
