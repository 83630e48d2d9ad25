"""Scores files as programs write them, and as somebody writes them who wants to hurt the reader."""

from __future__ import annotations

import json
import math

import pytest

from workers.sandbox.scores import DEEPEST, MOST_KEYS, parse_scores


def test_scores_json_with_all_that_programs_write() -> None:
    found = parse_scores(
        "scores.json", b'\xef\xbb\xbf{"a": 0.5, "b": NaN, "c": -Infinity, "d": [1, {"e": "x"}], "f": null}'
    )
    assert math.isnan(float(str(found.pop("b"))))
    assert found == {"a": 0.5, "c": -math.inf, "d": [1, {"e": "x"}], "f": None}


def test_scores_txt_with_all_that_programs_write() -> None:
    """Keys with blanks, brackets and signs; no blank after the colon; several ways to write what is not a number."""
    text = (
        "# a comment\ncorrect: 1\naverage:0.25\nF1 (macro) : .5\nSub-task A:-1e-3\nP@1:3\nn: +7\ntime: 12:30\n"
        "lists: [1, 2.5]\nnested: {x: 1}\nquoted: '1'\nyes: yes\nnothing:\nurl: http://a:b\n"
    )
    assert parse_scores("scores.txt", text.encode()) == {
        "correct": 1,
        "average": 0.25,
        "F1 (macro)": 0.5,
        "Sub-task A": -0.001,
        "P@1": 3,
        "n": 7,
        "time": "12:30",
        "lists": [1, 2.5],
        "nested": {"x": 1},
        "quoted": "1",
        "yes": "yes",
        "nothing": None,
        "url": "http://a:b",
    }
    for written in ("nan", "NaN", ".nan", "-nan"):
        assert math.isnan(float(str(parse_scores("scores.txt", f"a: {written}".encode())["a"]))), written
    for written, value in (("inf", math.inf), ("-.inf", -math.inf), ("Infinity", math.inf), ("-INF", -math.inf)):
        assert parse_scores("scores.txt", f"a:{written}".encode()) == {"a": value}


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("scores.txt", b"a: !!python/object/apply:os.system [id]", "scores.txt, line 1: tags (!) are not allowed"),
        ("scores.txt", b"a: 1\nb: !x 1", "scores.txt, line 2: tags (!) are not allowed"),
        ("scores.txt", b"a: &x [1]\nb: [*x, *x]", "scores.txt, line 1: anchors and aliases (& and *) are not allowed"),
        ("scores.txt", b"a: *x", "scores.txt, line 1: anchors and aliases (& and *) are not allowed"),
        ("scores.txt", b"a: 1\na: 2", "scores.txt, line 2: the key a occurs twice"),
        ("scores.txt", b"? [a]\n: 1", "scores.txt, line 1: a key is not text"),
        ("scores.txt", b"a: 1\n---\nb: 2", "scores.txt holds more than one document"),
        ("scores.txt", b"a: [1", "scores.txt, line 2: did not find expected ',' or ']'"),
        ("scores.txt", b"a: \x001", "scores.txt holds characters that YAML does not allow"),
        ("scores.txt", b"", "scores.txt is not a mapping of keys to scores"),
        ("scores.txt", b"0.5", "scores.txt is not a mapping of keys to scores"),
        ("scores.txt", b"- a: 1", "scores.txt is not a mapping of keys to scores"),
        ("scores.txt", b"a: \xff", "scores.txt is not in UTF-8 (byte 4)"),
        ("scores.txt", b"[" * 1_000_000, f"scores.txt is nested deeper than {DEEPEST}"),
        ("scores.txt", b"{a: " * 250_000, f"scores.txt is nested deeper than {DEEPEST}"),
        ("scores.json", b"[" * 1_000_000, f"scores.json is nested deeper than {DEEPEST}"),
        ("scores.json", b'{"a":' * 200_000, f"scores.json is nested deeper than {DEEPEST}"),
        ("scores.json", b'{"a": 1, "a": 2}', "scores.json: a key occurs twice"),
        ("scores.json", b'{"a": 1,\n}', "scores.json, line 2: Expecting property name enclosed in double quotes"),
        ("scores.json", b'{"a": ' + b"9" * 900_000 + b"}", "scores.json: a number has more than 400 digits"),
        ("scores.json", b"[1]", "scores.json is not a mapping of keys to scores"),
    ],
)
def test_what_hurts_or_is_no_mapping_is_refused_in_words(name: str, data: bytes, words: str) -> None:
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the words are compared below
        parse_scores(name, data)
    assert str(refused.value).startswith(words)


def test_depth_and_keys_are_bounded_exactly() -> None:
    deepest = "1"
    for _ in range(DEEPEST):
        deepest = f'{{"a": {deepest}}}'
    for name in ("scores.json", "scores.txt"):
        assert parse_scores(name, deepest.encode())
        with pytest.raises(ValueError, match="nested deeper than 20"):
            parse_scores(name, f'{{"a": {deepest}}}'.encode())
        many = {f"k{number}": number for number in range(MOST_KEYS)}
        assert len(parse_scores(name, json.dumps(many).encode())) == MOST_KEYS
        with pytest.raises(ValueError, match="more than 10,000 keys"):
            parse_scores(name, json.dumps({**many, "one": 1}).encode())
        spread = {f"k{number}": {"a": 1, "b": 1} for number in range(MOST_KEYS // 3 + 1)}
        with pytest.raises(ValueError, match="more than 10,000 keys"):
            parse_scores(name, json.dumps(spread).encode())


def test_brackets_within_texts_do_not_count_as_depth() -> None:
    text = "[" * 100 + '"\\'
    assert parse_scores("scores.json", json.dumps({"a": text}).encode()) == {"a": text}


def test_digits_without_end_stay_text() -> None:
    digits = "9" * 500_000
    assert parse_scores("scores.txt", f"a: {digits}".encode()) == {"a": digits}
