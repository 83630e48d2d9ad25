"""Characters that nobody sees, and those that do work."""

from __future__ import annotations

import pytest

from evergold.scoring.characters import character_name, find_invisible

HIDDEN = ["\u200b", "\u00ad", "\u200e", "\u2060", "\ufeff", "\x00", "\x7f", "\u3164", "\ue000", "\ufe0f"]


@pytest.mark.parametrize("character", HIDDEN, ids=character_name)
def test_character_that_nobody_sees_is_found(character: str) -> None:
    assert list(find_invisible(f"kick{character}ed")) == [(4, character)]
    assert list(find_invisible(f"kick{character}ed", allowed={character})) == []


@pytest.mark.parametrize(
    "text",
    [
        "tabs\tand\nlines\r\n",
        "a\u00a0no-break space",
        "naïve cafe\u0301 ½ – “quoted”",
        "می\u200cرود",  # Persian needs the zero-width non-joiner
        "क्\u200dष",  # and Hindi the joiner, behind a virama
        "👩\u200d🚀 ❤\ufe0f\u200d🔥",  # and emoji both
        "ひらがな　カタカナ",
    ],
)
def test_what_people_write_is_not(text: str) -> None:
    assert list(find_invisible(text)) == []


@pytest.mark.parametrize("text", ["kick\u200ded", "\u200cword", "кот\u200c"])
def test_joiners_that_join_nothing_are_found(text: str) -> None:
    assert len(list(find_invisible(text))) == 1


def test_characters_are_named() -> None:
    assert character_name("\u200b") == "U+200B ZERO WIDTH SPACE"
    assert character_name("\x00") == "U+0000 without a name"
