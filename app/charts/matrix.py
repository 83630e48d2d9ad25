"""Pairwise comparisons as a drawing: a square for every pair of systems, filled if the row beats the column."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

from app.charts.labels import cut_to, text_width
from app.charts.marks import add_tooltip
from app.charts.picture import Look, Picture, PointOut
from app.charts.sheet import LABEL_SIZE, NARROW, YOU, sheet_of
from evergold.figures.svg import add_rect, add_text

_KINDS: dict[Look, str] = {"better": "fig-cell fig-better", "worse": "fig-cell fig-worse", "same": "fig-cell fig-same"}
_WORDS: dict[Look, str] = {
    "better": "is better than",
    "worse": "is worse than",
    "same": "does not differ significantly from",
}
_KEYS: dict[Look, str] = {"better": "Row is better", "worse": "Row is worse", "same": "No significant difference"}
_LARGEST, _KEY_LINE = 44.0, 21.0
#: Font sizes of the squares by class, largest first: all squares have the same size, or none has text.
_SIZES = (("fig-cell-text", 11.0), ("fig-cell-text fig-small", 9.5))
_WIDEST = "<.001"
_HEAD = 24.0
#: Number of systems on a phone: smaller squares are too small for a finger.
MOST_NARROW = 12


def draw_matrix(picture: Picture, width: int) -> Element:
    """Draw the matrix: rows have names, columns numbers; squares are as large as possible, with p if there is room."""
    most = MOST_NARROW if width == NARROW else len(picture.y.categories)
    names = _first(picture, most)
    numbers = {name: at for at, name in enumerate(picture.y.categories, 1)}
    longest, own = 104 if width == NARROW else 250, _own(picture)
    texts = [_label(f"{numbers[name]}  {name}", longest, is_mine=name in own) for name in names]
    left = 12 + max(text_width(text, LABEL_SIZE) for text in texts)
    side = min(_LARGEST, (width - left - 6) / len(names))
    letters = next((kind for kind, size in _SIZES if text_width(_WIDEST, size) <= side - 3), "")
    used = [one.look for one in picture.series]
    top = 6 + _KEY_LINE * (1 if width > NARROW else len(used)) + _HEAD
    svg = sheet_of(picture, width, top + side * len(names) + 8)
    _draw_keys(svg, used, width)
    for at, (name, text) in enumerate(zip(names, texts, strict=True)):
        y = top + side * (at + 0.5)
        add_text(svg, text, "fig-you" if name in own else "fig-label", left - 8, y + 4.5, "end")
        add_text(svg, str(numbers[name]), "fig-cell-text", left + side * (at + 0.5), top - 7, "middle")
    places = {name: at for at, name in enumerate(names)}
    for one in picture.series:
        for point in one.points:
            row, column = places.get(str(point.y)), places.get(str(point.x))
            if row is not None and column is not None:
                _draw_cell(svg, one.look, point, (left + side * column + 1, top + side * row + 1), side - 2, letters)
    return svg


def _first(picture: Picture, most: int) -> list[str]:
    """Return the names of the first systems, and of the viewer's own."""
    own = _own(picture)
    return [name for at, name in enumerate(picture.y.categories) if at < most or name in own]


def _own(picture: Picture) -> set[str]:
    return {str(point.y) for one in picture.series for point in one.points if point.is_mine}


def _label(text: str, longest: float, *, is_mine: bool) -> str:
    """Return a name truncated to this width, but with the ending that marks the viewer."""
    ending = f" ({YOU})" if is_mine else ""
    return cut_to(text, LABEL_SIZE, longest - text_width(ending, LABEL_SIZE)) + ending


def _draw_cell(
    svg: Element, look: Look, point: PointOut, corner: tuple[float, float], side: float, letters: str
) -> None:
    """Draw a square. letters: the class of its text, "" if there is no room for text."""
    x, y = corner
    cell = add_rect(svg, _KINDS[look], x, y, side, side)
    p = p_text(point.value)
    add_tooltip(cell, f"{point.y} {_WORDS[look]} {point.x}\np {p}", str(point.y))
    if letters:
        short = p.removeprefix("= ").replace("< ", "<")
        add_text(svg, short, letters, x + side / 2, y + side / 2 + 4, "middle")


def p_text(p: float | None) -> str:
    """Return a p-value as `= .03` or `< .001`."""
    if p is None:
        return "unknown"
    if p < 0.001:
        return "< .001"
    return f"= {p:.2f}".replace("0.", ".") if p >= 0.1 else f"= {p:.3f}".replace("0.", ".")


def _draw_keys(svg: Element, looks: list[Look], width: int) -> None:
    x, y = 12.0, 6.0
    for look in looks:
        group = SubElement(svg, "g", {"class": "fig-key"})
        add_rect(group, _KINDS[look], x, y, 14, 14)
        add_text(group, _KEYS[look], "fig-label", x + 20, y + 11.5)
        if width == NARROW:
            y += _KEY_LINE
        else:
            x += 20 + text_width(_KEYS[look], LABEL_SIZE) + 22
