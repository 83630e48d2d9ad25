"""Sentences about the usual slips in files, made in one place for all readers: numbers as people and spreadsheets write
them, cells of nothing but blanks, what Excel adds to a table, and a whole document of JSON where lines are wanted.

Each contains what to write instead. Encodings: `tables.reading.decode_text`; texts that look alike: `characters`.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence

from evergold.scoring.characters import character_name, find_invisible
from evergold.scoring.errors import quoted, shorten
from evergold.scoring.numerals import finite_number

#: Characters that people or programs write for a minus sign.
_MINUS = "\u2010\u2011\u2012\u2013\u2014\u2212\ufe58\ufe63\uff0d"
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?")
_GROUPED = re.compile(r"[+-]?[0-9]{1,3}([,' \u00a0\u202f][0-9]{3})+(\.[0-9]*)?")
_GERMAN = re.compile(r"[+-]?[0-9]{1,3}(\.[0-9]{3})+,[0-9]+")
_SEPARATOR_LINE = re.compile(r"\ufeff?\"?sep=.?\"?\s*", re.IGNORECASE)


def number_fault(text: str, largest: float | None = None) -> str | None:
    """Return why a text is not a number that can be used, and how to write the one that is meant; None if it is one.

    largest: the largest absolute value that is read.
    """
    number = finite_number(text)
    if number is not None:
        if largest is not None and abs(number) > largest:
            return f"{shorten(text)} is too large: numbers up to {largest:g} are read"
        return None
    if (blank := blank_fault(text)) is not None:
        return blank
    if hint := number_hint(text):
        return f"{quoted(text)} is not a finite number: {hint}"
    return f"{quoted(text)} is not a finite number"


def number_hint(text: str) -> str | None:
    """Return what is unusual about the writing of a number, and how to write it; None if no number is seen in it."""
    plain = text.strip()
    if plain != text and finite_number(plain) is not None:
        return f"spaces around it; write {plain}"
    if hidden := next(find_invisible(text), None):
        return f"character {hidden[0] + 1} is {character_name(hidden[1])}, an invisible character: remove it"
    if plain[:1] in _MINUS and plain[:1] and _reads(f"-{plain[1:]}"):
        return f"the sign is {character_name(plain[0])}, not a minus; write -{plain[1:]}"
    if any(character in _MINUS for character in plain) and _reads(_with_minus(plain)):
        return f"a sign in it is not a minus; write {_with_minus(plain)}"
    if _DECIMAL_COMMA.fullmatch(plain):
        return f"a decimal comma; write {plain.replace(',', '.')}{_or_grouped(plain)}"
    if _GERMAN.fullmatch(plain):
        return f"points between thousands and a decimal comma; write {plain.replace('.', '').replace(',', '.')}"
    if _GROUPED.fullmatch(plain) or "_" in plain and _reads(plain.replace("_", "")):
        return "write digits without separators, and decimals after a point"
    if plain.endswith("%") and _reads(plain[:-1].strip()):
        return "write it without the sign %"
    digits = "".join(_ascii_digit(character) for character in plain)
    if digits != plain and _reads(digits):
        return f"the digits are of another script; write {digits}"
    if any(map(str.isdecimal, plain)) and (value := _float(plain)) is not None and math.isinf(value):
        return "it is too large; numbers up to about 1e308 can be read"
    return None


def _or_grouped(text: str) -> str:
    return f", or {text.replace(',', '')} if it stands between thousands" if _GROUPED.fullmatch(text) else ""


def _reads(text: str) -> bool:
    return finite_number(text) is not None


def _with_minus(text: str) -> str:
    return "".join("-" if character in _MINUS else character for character in text)


def _ascii_digit(character: str) -> str:
    return str(unicodedata.digit(character, character))


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def blank_fault(text: str, noun: str = "value") -> str | None:
    """Return the fault of a cell that is empty, or in which only blanks can be found; None for any other."""
    if not text:
        return f"the {noun} is empty"
    return None if text.strip() else f"the {noun} has nothing but blanks"


def spaces_fault(text: str) -> str | None:
    """Return the fault of a text with spaces around it; None if there are none."""
    if text == text.strip():
        return None
    sides = [side for side, cut in (("in front", text.lstrip()), ("behind", text.rstrip())) if cut != text]
    return f"{quoted(text)} has spaces {' and '.join(sides)}"


def id_fault(text: str, noun: str = "id") -> str | None:
    """Return the fault of an id that is empty, or has spaces around it; None if it has none."""
    if (blank := blank_fault(text, noun)) is not None:
        return f"{blank}; delete rows that hold nothing but commas (Excel writes them)"
    return spaces_fault(text)


def is_separator_line(line: str) -> bool:
    """Return whether a line is Excel's `sep=,`, which names the delimiter and is not a row."""
    return _SEPARATOR_LINE.fullmatch(line) is not None


#: What to do with it.
SEPARATOR_LINE = "only Excel understands this line, `sep=…`: delete it, the header must come first"


def empty_columns_fault(header: Sequence[str]) -> str | None:
    """Return the fault of a header that ends with columns without names, as Excel writes them; None if it has none."""
    named = max((place for place, name in enumerate(header, 1) if name.strip()), default=0)
    if not 0 < named < len(header):
        return None
    count = len(header) - named
    columns = "an empty column" if count == 1 else f"{count} empty columns"
    return f"there {'is' if count == 1 else 'are'} {columns} at the end of each row (Excel writes cells that were " \
           "once filled): delete them there, or the commas here"  # fmt: skip


#: The beginning of JSON: an object, or a list of anything.
_JSON = re.compile(r"\ufeff?\s*(\{\s*(\"|\}|$)|\[\s*([\[{\"\]]|-?[0-9]+\s*[,\]]|$))")


def is_json_document(text: str) -> bool:
    """Return whether a text begins like a document of JSON, not like a table or a token."""
    return _JSON.match(text) is not None


def json_fault(columns: Sequence[str]) -> str:
    """Return what is wrong with JSON that is not a list of rows, and how rows are written. columns: keys of each."""
    keys = ", ".join(columns)
    return (
        f"this is JSON, but not rows: put an object with the keys {keys} on each line, or all of them into one list "
        "(pandas: to_json(orient='records', lines=True))"
    )
