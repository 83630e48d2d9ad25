"""Label placement in a plot: occupied boxes, estimated widths of texts, and the first free position."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

Anchor = Literal["start", "middle", "end"]

#: Boxes are indexed by squares of this side, so that a crowd of points costs little.
_SQUARE = 48
#: Extent of a line of text above and below its baseline, as shares of the font size.
_ABOVE, _BELOW = 0.82, 0.26
#: Widths in em, on the wide side: the reader's fonts are unknown.
_NARROW, _USUAL, _CAPITAL, _WIDE = 0.4, 0.63, 0.75, 1.0
_NARROW_LETTERS = frozenset("iIjlftr.,:;'|!()[]-\u2013\u2009 ")
_WIDE_LETTERS = frozenset("mMwW@%\u2026\u2014")


@dataclass(frozen=True, slots=True)
class Box:
    """An occupied rectangle."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Return True if the boxes overlap."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def within(self, other: Box) -> bool:
        """Return True if the other box contains this one."""
        return (
            self.left >= other.left
            and self.right <= other.right
            and self.top >= other.top
            and self.bottom <= other.bottom
        )

    def squares(self) -> Iterator[tuple[int, int]]:
        """Yield the grid squares that the box touches."""
        for column in range(int(self.left // _SQUARE), int(self.right // _SQUARE) + 1):
            for line in range(int(self.top // _SQUARE), int(self.bottom // _SQUARE) + 1):
                yield column, line


@dataclass(frozen=True, slots=True)
class TextPosition:
    """The position of a text: x of its anchor, y of its baseline, and its box."""

    x: float
    y: float
    anchor: Anchor
    box: Box


@dataclass(slots=True)
class Room:
    """The free space of a plot. within: bounds of all texts."""

    within: Box
    _taken: dict[tuple[int, int], list[Box]] = field(default_factory=dict)

    def take(self, box: Box) -> None:
        """Mark a box as occupied."""
        for square in box.squares():
            self._taken.setdefault(square, []).append(box)

    def is_free(self, box: Box) -> bool:
        """Return True if the box is free and within the bounds."""
        if not box.within(self.within):
            return False
        return not any(box.meets(taken) for square in box.squares() for taken in self._taken.get(square, ()))

    def find(self, places: Iterable[TextPosition]) -> TextPosition | None:
        """Return the first free position, and mark it as occupied; None if there is none."""
        found = next((place for place in places if self.is_free(place.box)), None)
        if found is not None:
            self.take(found.box)
        return found


@lru_cache(maxsize=2048)  # measured repeatedly until a place is found
def text_width(text: str, size: float) -> float:
    """Return the estimated width of a text in pixels at this font size, rather too wide than too narrow."""
    return size * sum(_em(letter) for letter in text)


def text_place(text: str, size: float, x: float, y: float, anchor: Anchor = "start") -> TextPosition:
    """Return the position of a text with its anchor at x and its baseline at y."""
    width = text_width(text, size)
    left = {"start": x, "middle": x - width / 2, "end": x - width}[anchor]
    return TextPosition(x, y, anchor, Box(left, y - _ABOVE * size, left + width, y + _BELOW * size))


def around(text: str, size: float, x: float, y: float, reach: float) -> Iterator[TextPosition]:
    """Yield positions for the name of a point at x and y: next to it, above, below, diagonal, then farther away.

    reach: distance in pixels.
    """
    middle = y + (_ABOVE - _BELOW) / 2 * size
    for away in (reach, reach + 7, reach + 16):
        above, below, aside = y - away - _BELOW * size, y + away + _ABOVE * size, away * 0.7
        yield text_place(text, size, x + away, middle, "start")
        yield text_place(text, size, x - away, middle, "end")
        yield text_place(text, size, x, above, "middle")
        yield text_place(text, size, x, below, "middle")
        yield text_place(text, size, x + aside, above, "start")
        yield text_place(text, size, x + aside, below, "start")
        yield text_place(text, size, x - aside, above, "end")
        yield text_place(text, size, x - aside, below, "end")


def cut_to(text: str, size: float, width: float) -> str:
    """Return the text, truncated if it is wider than this."""
    if text_width(text, size) <= width:
        return text
    left, kept = width - text_width("…", size), 0
    while kept < len(text) and left >= 0:
        left -= size * _em(text[kept])
        kept += 1
    return f"{text[: max(0, kept - 1)].rstrip()}…"


def _em(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    if letter in _NARROW_LETTERS:
        return _NARROW
    if letter in _WIDE_LETTERS or unicodedata.east_asian_width(letter) in "WF":
        return _WIDE
    return _CAPITAL if letter.isupper() else _USUAL
