"""Sentences about usual slips: what is wrong, and what to write instead."""

from __future__ import annotations

import pytest

from evergold.scoring.errors import Problems
from evergold.scoring.slips import number_fault
from evergold.scoring.tables import read_table


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0,5", "a decimal comma; write 0.5"),
        ("1,000", "a decimal comma; write 1.000, or 1000 if it stands between thousands"),
        ("1.000,5", "write 1000.5"),
        ("\u22120.5", "the sign is U+2212 MINUS SIGN, not a minus; write -0.5"),
        ("\u20130.5", "the sign is U+2013 EN DASH, not a minus; write -0.5"),
        ("1e\u22125", "write 1e-5"),
        ("1e400", "it is too large"),
        ("  ", "nothing but blanks"),
        ("", "the value is empty"),
        (" 1", "spaces around it; write 1"),
        ("50%", "write it without the sign %"),
        ("\u0663.\u0665", "the digits are of another script; write 3.5"),
        ("0.5\u200b", "character 4 is U+200B ZERO WIDTH SPACE"),
    ],
)
def test_number_is_explained(text: str, words: str) -> None:
    assert words in str(number_fault(text))


@pytest.mark.parametrize("text", ["x5", "\u2013", "\u2013x", "none", "x,y", "_", "x%"])
def test_what_is_no_number_has_no_hint(text: str) -> None:
    assert str(number_fault(text)).endswith("is not a finite number")


def test_number_that_can_be_read_is_none_of_these() -> None:
    assert [number_fault(text) for text in ("1e308", "-0.5", "1E-3", ".5")] == [None] * 4
    assert number_fault("1e308", 1e100) == "1e308 is too large: numbers up to 1e+100 are read"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("sep=,\nid,label\n1,a\n", "line 1: only Excel understands this line, `sep=…`: delete it"),
        ("id,label,,\n1,a,,\n", "line 1: there are 2 empty columns at the end of each row (Excel writes cells"),
        ('[["1", "a"]]\n', "line 1: this is JSON, but not rows: put an object with the keys id, label on each line"),
        ("\u200bid,label\n1,a\n", "line 1: the column '\\u200bid' must be written 'id'"),
    ],
)
def test_header_is_explained(text: str, sentence: str) -> None:
    problems = Problems()
    assert read_table(text.encode(), ["id", "label"], problems) is None
    assert str(problems.errors[0]).startswith(sentence)
