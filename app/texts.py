"""Texts that people write in forms: without what cannot be kept, and of bounded length; every mistake at once."""

from __future__ import annotations

from collections.abc import Mapping

from app.errors import InvalidForm

PLEASE_CORRECT = "Please correct what is marked."


def one_line(text: str) -> str:
    """Without line ends and blanks at its ends; several blanks become one."""
    return " ".join(text.split())


def many_lines(text: str) -> str:
    """Line ends as they are everywhere but in browsers' forms, and none at the ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def wrong_text(text: str, limit: int) -> str:
    """What is wrong with a text that has to be there, in a sentence; empty: nothing."""
    if not text:
        return "Please write something here."
    if len(text) > limit:
        return f"At most {limit} characters; this has {len(text)}."
    if any(_is_control(character) for character in text):
        return "Control characters cannot be kept."
    return ""


def refuse(sentences: Mapping[str, str]) -> None:
    """Raises InvalidForm with the sentences that are not empty, by field."""
    wrong = {name: sentence for name, sentence in sentences.items() if sentence}
    if wrong:
        raise InvalidForm(PLEASE_CORRECT, fields=wrong)


def _is_control(character: str) -> bool:
    """What neither PostgreSQL (NUL) nor XML can hold; marks of direction and joiners are for some scripts' sake."""
    code = ord(character)
    is_low = code < 32 and character not in "\n\t"
    return is_low or 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000 or code & 0xFFFE == 0xFFFE
