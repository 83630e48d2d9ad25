"""Lists of objects in JSON: the position of each, and every way in which a file is not such a list."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

from evergold.scoring.errors import Problems
from evergold.scoring.paraphrase.json_lists import MOST_ENTRIES, read_json_list


def read(text: str | bytes) -> tuple[object, list[str]]:
    problems = Problems()
    entries = read_json_list(text if isinstance(text, bytes) else text.encode(), problems, "FR/x.json")
    found = None if entries is None else [(entry.values, entry.line, entry.column) for entry in entries]
    return found, [str(problem).removeprefix("FR/x.json, ") for problem in problems.errors]


def test_objects_know_where_they_stand() -> None:
    assert read('[{"a": "x"}, {"b": null},\n  {"c": "é\\ud83d\\ude00"}\n]\n') == (
        [({"a": "x"}, 1, 2), ({"b": None}, 1, 14), ({"c": "é😀"}, 2, 3)],
        [],
    )
    assert read("\ufeff[\r\n\r\n\t{}\r\n]") == ([({}, 3, 2)], [])
    assert read("[]") == ([], [])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "FR/x.json: the file is empty"),
        ("x", "line 1, column 1: this is not JSON: a list must begin with ["),
        ('{"a": 1}', "line 1, column 1: this is an object, not a list: put [ before the first object and ] after"),
        ('[\n  {"a": 1},\n  {"b" 2}\n]', "line 3, column 8: this is not JSON: Expecting ':' delimiter"),
        ('[{"a": 1} {"b": 2}]', "line 1, column 11: this is not JSON: there is '{\"b\": 2}]' where a comma or the"),
        ('[{"a": 1},\n]', "line 2, column 1: this is not JSON: there is a comma before the list's ], and nothing"),
        ('[{"a": 1}', "line 1, column 10: this is not JSON: the file ends where a comma or the list's ] must follow"),
        ('[{"a": "x', "line 1, column 8: this is not JSON: the file ends in the middle (Unterminated string"),
        ('[{"a": "x\ny"}]', "line 1, column 10: this is not JSON: write a line break or another control character"),
        ("[{'a': 1}]", "line 1, column 3: this is not JSON: texts and keys must be in double quotes"),
        ('[{“a”: 1}]', "line 1, column 3: this is not JSON: texts and keys must be in double quotes"),
        ('[{"a": 1}]\n[]', "line 2, column 1: there is text behind the end of the list: '[]'"),
        ("[" * 100_000, "line 1, column 2: lists are nested too deeply"),
        (b'[{"a": "caf\xe9"}]', "line 1: the byte 0xE9 is not UTF-8"),
        (b"\x89PNG\r\n\0\0", "line 2: this is not a text file"),
    ],
)  # fmt: skip
def test_file_that_cannot_be_read_says_where(text: str | bytes, said: str) -> None:
    found, problems = read(text)
    assert found is None
    assert len(problems) == 1
    assert problems[0].startswith(said)


@pytest.mark.parametrize(
    ("element", "said"),
    [
        ("null", "line 1, column 2: here is null where an object {…} is expected"),
        ("12", "line 1, column 2: here is a number where an object {…} is expected"),
        ('["a"]', "line 1, column 2: here is a list where an object {…} is expected"),
        ('{"a": 1, "a": 2}', "line 1, column 2: the key 'a' occurs twice in one object"),
        (
            '{"a": "\\ud83d"}',
            "line 1, column 2: a text has an unpaired surrogate: a \\ud… escape without its other half",
        ),
    ],
)
def test_element_that_is_wrong_does_not_hide_the_next(element: str, said: str) -> None:
    found, problems = read(f'[{element}, 7, {{"b": "x"}}]')
    assert problems == [said, f"line 1, column {len(element) + 4}: here is a number where an object {{…}} is expected"]
    assert ({"b": "x"}, 1, len(element) + 7) in found  # type: ignore[operator]


def test_numbers_of_any_length_are_passed_over() -> None:
    found, problems = read('[{"a": ' + "9" * 10_000 + ', "b": NaN}]')
    assert problems == []
    assert found


def test_list_without_end_is_refused() -> None:
    found, problems = read("[" + "{}," * (MOST_ENTRIES + 1) + "{}]")
    assert found is None
    assert "more than 100,000 objects" in problems[0]


def test_file_of_line_breaks_costs_no_more_than_its_text_and_is_let_go() -> None:
    data = b"[" + b"\n" * 1_000_000 + b"{}, {}]"
    assert read(data)[0] == [({}, 1_000_001, 1), ({}, 1_000_001, 5)]
    gc.disable()  # nothing may be left for it to collect
    tracemalloc.start()
    try:
        read_json_list(data, Problems())
        left, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        gc.enable()
    assert peak < 3 * len(data)
    assert left < len(data) / 10
