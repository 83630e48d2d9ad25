"""Characters that people do not see but programs do, and texts that only look alike: a word with a zero-width space is
another word to a scorer.

This is the only module that decides which characters a name may have, and how an invisible character is shown.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator

#: Controls (except tab and line breaks), formats, private use; fillers and blanks that Unicode calls letters, marks and
#: symbols; variation selectors.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
_JOINERS = "\u200c\u200d"
_VIRAMA = 9
_SELECTORS = ("\ufe00", "\ufe0f")
_IDEOGRAPHIC_SELECTORS = ("\U000e0100", "\U000e01ef")
_MONGOLIAN_SELECTORS = "\u180b\u180c\u180d\u180f"
#: Letters of a flag of a region, behind a black flag, and their end.
_TAGS = ("\U000e0020", "\U000e007f")
_FLAG = "\U0001f3f4"
_KEYS = "0123456789#*"
#: Marks that set the direction of what is beside them, in scripts that are written from right to left.
_DIRECTION_MARKS = "\u200e\u200f\u061c"
_RIGHT_TO_LEFT = ("R", "AL")
#: Spaces at which no line breaks, between words (French, figures with units), and the wide one of East Asia.
_SPACES_IN_NAMES = "\u00a0\u202f\u3000"


# ----------------------------------------------------------------------------------------------------------- invisible


def find_invisible(text: str, allowed: Collection[str] = ()) -> Iterator[tuple[int, str]]:
    """Yield the position (from 0) of each invisible character, and the character, except allowed and functional ones.

    Functional are zero-width joiners and non-joiners after an Arabic letter (Persian), a virama (Indic scripts) or a
    symbol (emoji), variation selectors after a symbol, a key (`1`, `#`), an ideograph or a Mongolian letter, and the
    letters of a region's flag.
    """
    for match in _INVISIBLE.finditer(text):
        if match.group() not in allowed and not _does_work(text, match.start()):
            yield match.start(), match.group()


def character_name(character: str) -> str:
    """Return a name like `U+200B ZERO WIDTH SPACE`."""
    return f"U+{ord(character):04X} {unicodedata.name(character, 'without a name')}"


def visible(text: str) -> str:
    r"""Return the text with invisible characters, and those that change the direction of text, as escapes like
    `\u200b`.

    Functional joiners and selectors (see `find_invisible`) stay, so that Persian words, for example, remain readable.
    """
    if text.isprintable() and not _INVISIBLE.search(text):
        return text
    hidden = {place for place, _ in find_invisible(text)}
    return "".join(
        _escape(character) if place in hidden or _is_unprintable(character) else character
        for place, character in enumerate(text)
    )


def _is_unprintable(character: str) -> bool:
    return not character.isprintable() and not _INVISIBLE.match(character)


def _escape(character: str) -> str:
    if not character.isprintable():
        return repr(character)[1:-1]
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"


def _does_work(text: str, place: int) -> bool:
    before, character = text[place - 1] if place else "", text[place]
    if not before:
        return False
    symbol = unicodedata.category(before) in ("So", "Sk") or _is_among(before, _SELECTORS)
    if character in _JOINERS:
        return symbol or unicodedata.bidirectional(before) == "AL" or unicodedata.combining(before) == _VIRAMA
    if _is_among(character, _SELECTORS):
        return symbol or before in _KEYS or _is_ideograph(before)
    if _is_among(character, _IDEOGRAPHIC_SELECTORS):
        return _is_ideograph(before)
    if character in _MONGOLIAN_SELECTORS:
        return unicodedata.name(before, "").startswith("MONGOLIAN LETTER")
    return _is_among(character, _TAGS) and (before == _FLAG or _is_among(before, _TAGS))


def _is_among(character: str, ends: tuple[str, str]) -> bool:
    return ends[0] <= character <= ends[1]


def _is_ideograph(character: str) -> bool:
    return unicodedata.name(character, "").startswith("CJK ")


# --------------------------------------------------------------------------------------------------------------- names


def can_be_name(text: str) -> bool:
    """Return whether a text may be the name of a team, a system, a person or a file.

    Allowed are all visible characters, single spaces of any width between them, and what a script needs: joiners after
    the letters and symbols that they act on, direction marks next to letters that run from right to left, no-break
    spaces inside. No other invisible characters are allowed: controls, line ends, overrides of the direction,
    zero-width spaces, soft hyphens. At least one character must be visible. Its length is left to the caller.
    """
    if text.isprintable() and not _INVISIBLE.search(text):
        return bool(text.strip())
    runs_left = any(one.isalpha() and unicodedata.bidirectional(one) in _RIGHT_TO_LEFT for one in text)
    hidden = {place for place, _ in find_invisible(text)}
    return bool(without_invisible(text).strip()) and all(
        _may_be_in_name(text, place, is_hidden=place in hidden, runs_left=runs_left) for place in range(len(text))
    )


def _may_be_in_name(text: str, place: int, *, is_hidden: bool, runs_left: bool) -> bool:
    character = text[place]
    if character in _DIRECTION_MARKS:
        return runs_left and text[place - 1 : place] != character
    if character in _SPACES_IN_NAMES:
        return 0 < place < len(text) - 1 and not text[place - 1].isspace() and not text[place + 1].isspace()
    return not is_hidden and (character.isprintable() or _INVISIBLE.match(character) is not None)


def printable_name(text: str) -> str:
    """Return a name for display on one line, without the characters that names may not have but files may."""
    if can_be_name(text):
        return text
    return "".join(character for character in text if character.isprintable() and not _INVISIBLE.match(character))


# ---------------------------------------------------------------------------------------------------------- look-alikes


def folded(text: str) -> str:
    """Return the same key for texts that differ only by blanks, case, invisible characters or Unicode's forms."""
    return " ".join(
        unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", without_invisible(text)).casefold()).split()
    )


def folded_but_case(text: str) -> str:
    """Return a key like that of `folded`, but distinguish upper and lower case: ids may differ by case on purpose."""
    return " ".join(unicodedata.normalize("NFC", without_invisible(text)).split())


def difference(found: str, meant: str) -> str:
    """Describe how a text differs from the one that is meant if the two look alike; otherwise return ""."""
    if found == meant or folded(found) != folded(meant):
        return ""
    if unicodedata.normalize("NFC", found) == unicodedata.normalize("NFC", meant):
        if unicodedata.is_normalized("NFC", meant):
            return f"letters and their marks are separate characters here ({_points(found, meant)}): write NFC"
        return f"letters and their marks are one character here ({_points(found, meant)}), there they are separate"
    if (hidden := next(find_invisible(found), None)) and without_invisible(found) == without_invisible(meant):
        return f"character {hidden[0] + 1} is {character_name(hidden[1])}, an invisible character: remove it"
    if without_invisible(found) == without_invisible(meant):
        lacking = next(character for character in meant if character not in found)
        return f"{character_name(lacking)}, an invisible character, is missing"
    if found.strip() == meant.strip():
        return "spaces around it count"
    if " ".join(found.split()) == " ".join(meant.split()):
        strange = next((one for one in found if one.isspace() and one != " "), None)
        return f"it has {character_name(strange)} for a plain space" if strange else "the spaces inside differ"
    if found.casefold() == meant.casefold():
        return "upper and lower case count"
    return f"they only look alike ({_points(found, meant)})"


_WHOLE = re.compile(r"0*([0-9]{1,30})(?:\.0{1,6})?", re.ASCII)


class LookAlikes:
    """Suggests which of some known texts somebody meant by one that looks like it; the index is built on first use.

    known: texts that the readers of the hints may see, because they are public or from the sender's own file.
    """

    #: Nobody reads more hints than this about one file.
    MOST = 100

    def __init__(self, known: Iterable[str]) -> None:
        self._known, self._left = known, self.MOST
        self._by_key, self._by_number = dict[str, str](), dict[str, str]()

    def hint(self, text: str) -> str:
        """Return what to write instead and why, beginning with `; `, or an empty text if nothing looks like it."""
        if not self._left:
            return ""
        self._left -= 1
        if not self._by_key:
            for one in self._known:
                self._by_key.setdefault(folded(one), one)
                if number := _whole_number(one):
                    self._by_number.setdefault(number, one)
        meant = self._by_key.get(folded(text))
        if meant == text:
            return ""
        if meant is not None:
            return f"; is {visible(meant)} meant? {difference(text, meant)}"
        same = self._by_number.get(_whole_number(text))
        return (
            f"; is {visible(same)} meant? spreadsheets change numbers in this way: store them as text" if same else ""
        )


def _whole_number(text: str) -> str:
    """Return the same key for texts that spreadsheets take for the same whole number (`007`, `7`, `7.0`); "" for any
    other text.
    """
    found = _WHOLE.fullmatch(text.strip())
    return found[1] if found else ""


def without_invisible(text: str) -> str:
    """Return the text without invisible characters, functional or not: for comparisons."""
    return _INVISIBLE.sub("", text)


def _points(found: str, meant: str) -> str:
    """Return the code points from the first difference on, a few of each."""
    place = next((n for n, (one, other) in enumerate(zip(found, meant, strict=False)) if one != other), 0)
    ours, theirs = (" ".join(f"U+{ord(one):04X}" for one in text[place : place + 2]) for text in (found, meant))
    return f"{ours or 'nothing'} for {theirs.split(' ')[0] or 'nothing'}"
