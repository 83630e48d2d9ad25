"""Characters that nobody sees, and those that do work."""

from __future__ import annotations

import pytest

from evergold.scoring.characters import LookAlikes, can_be_name, character_name, difference, find_invisible, visible
from evergold.scoring.errors import Problem

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


@pytest.mark.parametrize(
    "name",
    [
        "نیم\u200cفاصله",
        "क्\u200dष",
        "👩\u200d💻 coders",
        "1\ufe0f\u20e3",
        "葛\U000e0100城",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "‏שלום (C++)\u200f",
        "Équipe n°\u00a05",
        "東京\u3000大学",
        "cafe\u0301",
    ],
)
def test_name_may_hold_what_its_script_needs(name: str) -> None:
    assert can_be_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "a\u200bb",
        "a\u202eb",
        "a\u2066b",
        "a\u00adb",
        "a\nb",
        "a\x00b",
        "\u3164",
        "\u2800",
        "Team\u200f",
        "a\u200db",
        "\u00a0a",
        "a\u00a0\u00a0b",
        "שלום\u200f\u200f",
    ],
)
def test_name_holds_nothing_else_that_nobody_sees(name: str) -> None:
    assert not can_be_name(name)


@pytest.mark.parametrize("hidden", ["\u200b", "\u202e", "\u200f", "\u2066", "\u00ad", "\ufeff", "\u3164", "\ufe0f"])
def test_invisible_characters_are_shown_in_every_problem(hidden: str) -> None:
    shown = str(Problem("x", f"the token is d{hidden}a", text=f"d{hidden}a", file=f"d{hidden}a"))
    assert hidden not in shown
    assert visible(f"d{hidden}a") in shown
    assert visible("d\u200ba") == "d\\u200ba"
    assert visible("d\na\t") == "d\\na\\t"


@pytest.mark.parametrize(
    ("found", "meant", "words"),
    [
        ("me\u0301", "m\u00e9", "write NFC"),
        ("m\u00e9", "me\u0301", "one character here (U+00E9 for U+0065), there they are separate"),
        ("d\u200ba", "da", "character 2 is U+200B ZERO WIDTH SPACE, an invisible character: remove it"),
        ("میرود", "می\u200cرود", "U+200C ZERO WIDTH NON-JOINER, an invisible character, is missing"),
        ("a\u00a0b", "a b", "it has U+00A0 NO-BREAK SPACE for a plain space"),
        ("a ", "a", "spaces around it count"),
        ("POS", "pos", "upper and lower case count"),
        ("\uff11", "1", "they only look alike (U+FF11 for U+0031)"),
        ("one", "two", ""),
        ("one", "one", ""),
    ],
)
def test_difference_of_what_looks_alike_is_put_into_words(found: str, meant: str, words: str) -> None:
    assert difference(found, meant).endswith(words) if words else difference(found, meant) == ""


@pytest.mark.parametrize(
    ("written", "meant"), [("7", "007"), ("7.0", "007"), ("007.00", "007"), ("12.0", "12"), (" 12", "12"), ("0.0", "0")]
)
def test_number_that_a_program_for_tables_changed_is_recognised(written: str, meant: str) -> None:
    hint = LookAlikes(["007", "12", "0", "x7"]).hint(written)
    assert hint.startswith(f"; is {meant} meant?")


@pytest.mark.parametrize("written", ["7.5", "70", "-7", "7e0", "x7.0", "٧", "", "."])
def test_other_number_is_not_taken_for_it(written: str) -> None:
    assert LookAlikes(["007", "12", "0", "x7"]).hint(written) == ""
