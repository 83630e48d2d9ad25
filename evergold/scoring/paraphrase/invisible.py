"""Characters that people do not see but programs do: a word with a zero-width space is another word to a scorer."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator

#: Controls (except tab and line breaks), formats, private use; fillers and blanks that Unicode calls letters, marks and
#: symbols; variation selectors.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
_JOINERS = "\u200c\u200d"
_VIRAMA = 9


def find_invisible(text: str, allowed: Collection[str] = ()) -> Iterator[tuple[int, str]]:
    """Yield the position (from 0) of each invisible character, and the character, except allowed and functional ones.

    Functional are zero-width joiners and non-joiners after an Arabic letter (Persian), a virama (Indic scripts) or a
    symbol (emoji), and variation selectors after a symbol.
    """
    for match in _INVISIBLE.finditer(text):
        if match.group() not in allowed and not _does_work(text, match.start()):
            yield match.start(), match.group()


def character_name(character: str) -> str:
    """Return a name like `U+200B ZERO WIDTH SPACE`."""
    return f"U+{ord(character):04X} {unicodedata.name(character, 'without a name')}"


def _does_work(text: str, place: int) -> bool:
    before = text[place - 1] if place else ""
    if not before:
        return False
    symbol = unicodedata.category(before) in ("So", "Sk") or "\ufe00" <= before <= "\ufe0f"
    if text[place] in _JOINERS:
        return symbol or unicodedata.bidirectional(before) == "AL" or unicodedata.combining(before) == _VIRAMA
    return symbol and "\ufe00" <= text[place] <= "\ufe0f"
