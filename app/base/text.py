"""Text input and output: checks, shortening, lists, sizes; cells that spreadsheets do not interpret as formulas."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from urllib.parse import quote

from app.base.errors import InvalidForm

PLEASE_CORRECT = "Please correct the marked fields."


def one_line(text: str) -> str:
    """Return the text without surrounding whitespace, and with all other whitespace as single spaces."""
    return " ".join(text.split())


def many_lines(text: str) -> str:
    """Return the text with normalised line ends and without surrounding whitespace."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def wrong_text(text: str, limit: int) -> str:
    """Return a sentence on an invalid required text; "" if it is valid."""
    if not text:
        return "Please write something here."
    if len(text) > limit:
        return f"At most {limit} characters; this has {len(text)}."
    if any(is_control(character) for character in text):
        return "Control characters are not allowed."
    return ""


def whole_number(text: str, most_digits: int = 9) -> int | None:
    """Return the number written in ASCII digits; None for other text, and for more digits than `most_digits`."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= most_digits else None


def refuse(sentences: Mapping[str, str]) -> None:
    """Raise InvalidForm with the non-empty sentences, by field."""
    wrong = {name: sentence for name, sentence in sentences.items() if sentence}
    if wrong:
        raise InvalidForm(PLEASE_CORRECT, fields=wrong)


def is_control(character: str) -> bool:
    """Return whether PostgreSQL (NUL) or XML cannot store the character; joiners and direction marks are allowed."""
    code = ord(character)
    is_low = code < 32 and character not in "\n\t"
    return is_low or 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000 or code & 0xFFFE == 0xFFFE


_UNITS = (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))


def readable_size(size_bytes: int) -> str:
    """Return a size as `512 bytes`, `1.5 KiB`, `16 MiB`."""
    for unit, size in _UNITS:
        if size_bytes >= size:
            amount = f"{size_bytes / size:.1f}" if size_bytes < 10 * size else f"{size_bytes / size:.0f}"
            return f"{amount.removesuffix('.0')} {unit}"
    return "1 byte" if size_bytes == 1 else f"{size_bytes} bytes"


def attachment(name: str) -> str:
    """Return the Content-Disposition header of a download with this name."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "._- ") else "_" for c in name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


#: First characters of spreadsheet formulas.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def spreadsheet_safe(text: str) -> str:
    """Return the text, with an apostrophe in front if spreadsheets would interpret it as a formula."""
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA_STARTS) or text.startswith(_FORMULA_STARTS) else text


_EMAIL = re.compile(r"^[^@\s]+@[^@\s]+\.[^@\s]+$")


def is_address(text: str) -> bool:
    """Return whether a text has the form of an e-mail address."""
    return bool(_EMAIL.match(text)) and text.isprintable() and len(text) <= 320


def folded(text: str) -> str:
    """Return the text without case and accents, for searching."""
    if text.isascii():  # true for most names
        return text.lower()
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(part for part in parts if not unicodedata.combining(part)).casefold()


def hash_of_secret(secret: str) -> str:
    """Return the sha256 under which the database stores a secret that was given out."""
    return hashlib.sha256(secret.encode()).hexdigest()
