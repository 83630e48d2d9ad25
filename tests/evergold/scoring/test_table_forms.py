"""Tables as CSV, TSV and JSON lines: distinguished by content, with the same cells, every problem by line."""

from __future__ import annotations

import json

import pytest

from evergold.scoring.errors import Problems
from evergold.scoring.tables.forms import read_any_table
from evergold.scoring.tables.reading import Table, TableLimits


def read(text: str | bytes, *columns: str, **more: object) -> tuple[Table | None, list[str]]:
    problems = Problems()
    data = text if isinstance(text, bytes) else text.encode()
    table = read_any_table(data, columns or ("id", "label"), problems, **more)  # type: ignore[arg-type]
    return table, [str(problem) for problem in problems.errors + problems.warnings]


@pytest.mark.parametrize(
    "text",
    [
        "id,label\n1,a\n2,b\n",
        "\ufeffid,label\n1,a\n2,b\n",
        "label\tid\na\t1\nb\t2\n",
        "\ufeffid\tlabel\r\n1\ta\r\n2\tb\r\n",
        '{"id": 1, "label": "a"}\n{"label": "b", "id": "2"}\n',
        '\n{"id": "1", "label": "a"}\r\n\r\n{"id": 2, "label": "b"}',
    ],
)
def test_the_same_table_in_every_form(text: str) -> None:
    table, problems = read(text)
    assert problems == []
    assert table is not None
    assert list(zip(table["id"], table["label"], strict=True)) == [("1", "a"), ("2", "b")]


def test_a_csv_with_a_tab_in_a_cell_stays_a_csv() -> None:
    table, problems = read("id,label\n1,a\tb\n")
    assert table is not None
    assert (list(table["label"]), problems) == (["a\tb"], [])


def test_lines_are_those_of_the_file() -> None:
    for text in ('{"id": "1", "label": "a"}\n\n{"id": "2", "label": "b"}\n', "id\tlabel\n1\ta\n\n2\tb\n"):
        table, _ = read(text)
        assert table is not None
        assert list(table.lines) == ([1, 3] if text[0] == "{" else [2, 4])


def test_quotation_marks_of_a_tsv_are_text_and_noticed() -> None:
    table, problems = read('id\tlabel\n1\ta "b" c\n2\t"d"\n')
    assert table is not None
    assert list(table["label"]) == ['a "b" c', '"d"']
    assert problems == ["line 3: a cell is in quotation marks, which are part of the text if tabs separate columns"]


def test_numbers_in_json_count_as_they_are_written_and_null_is_empty() -> None:
    table, problems = read('{"id": 007, "label": 1}\n'.replace("007", "7") + '{"id": 1.50, "label": null}\n')
    assert table is not None
    assert (list(table["id"]), list(table["label"]), problems) == (["7", "1.50"], ["1", ""], [])


def test_every_problem_of_json_lines_is_told_by_line() -> None:
    lines = [
        '{"id": "1", "label": "a", "extra": 1}',
        '{"id": "2"}',
        '{"id": "3", "label": ["a"]}',
        '{"id": "4", "label": true}',
        '{"id": "5", "label": NaN}',
        '{"id": "6", "id": "7", "label": "a"}',
        "[1]",
        '{"id": "8", ',
        '{"id": "9", "label": "\\ud83d"}',
    ]
    table, problems = read("\n".join(lines))
    assert table is not None
    assert table.skipped_rows == 3
    assert [problem.split(":")[0] for problem in problems] == [
        "line 6",
        "line 7",
        "line 8",
        "line 1",
        "line 2, column label",
        "line 3, column label",
        "line 4, column label",
        "line 5, column label",
        "line 9, column label",
    ]
    assert "the key 'extra' is not expected; the keys are id, label" in problems[3]
    assert "'label' is a list where a text or a number is expected" in problems[5]
    assert "NaN or Infinity" in problems[7]


def test_lists_of_texts_are_joined_where_they_may_be() -> None:
    rows = [["a", "b"], [], "a|b", ["a|b"], [""], [1], [["a"]]]
    text = "".join(json.dumps({"id": str(place), "label": value}) + "\n" for place, value in enumerate(rows))
    table, problems = read(text, lists={"label": "|"})
    assert table is not None
    assert list(table["label"]) == ["a|b", "", "a|b", "", "", "1", ""]
    assert [problem.split(",")[0] for problem in problems] == ["line 4", "line 5", "line 7"]


def test_others_and_optional_columns_are_as_in_csv() -> None:
    for text in ('{"id": "1", "x": [1], "label": "a"}\n{"id": "2"}', "id\tx\tlabel\n1\t\ta\n2\t\t\n"):
        table, problems = read(text, "id", optional=["label", "none"], others=True)
        assert table is not None
        assert (list(table["label"]), "none" in table, problems) == (["a", ""], False, [])


def test_what_is_too_large_is_refused() -> None:
    limits = TableLimits(rows=2, lines=4, line_characters=40)
    row = '{"id": "1", "label": "a"}\n'
    assert read(row * 3, limits=limits) == (None, ["the file has more than 2 rows"])
    assert read(row * 5, limits=limits) == (None, ["the file has more than 4 lines"])
    table, problems = read('{"id": "1", "label": "' + "a" * 40 + '"}\n', limits=limits)
    assert table is not None
    assert problems == ["line 1: a line of more than 40 characters"]


def test_lists_without_end_are_refused() -> None:
    table, problems = read('{"id": ' + "[" * 100_000)
    assert table is not None
    assert problems in (["line 1: lists are nested too deeply"], ["line 1: this is not JSON: Expecting value"])


@pytest.mark.parametrize(
    "text",
    [
        '[{"id": "1", "label": "a"}, {"id": 2, "label": "b"}]',
        ' [\n {"id": "1",\n "label": "a"},\n {"id": 2, "label": "b"}\n]\n',
        '{"x": {"id": "1", "label": "a"}, "y": {"id": 2, "label": "b"}}',
        '{\n"x": {"id": "1", "label": "a"},\n"y": {"id": 2, "label": "b"}\n}\n',
    ],
)
def test_lists_and_dictionaries_of_rows_are_read(text: str) -> None:
    table, problems = read(text)
    assert table is not None
    assert (list(table["id"]), list(table["label"]), problems) == (["1", "2"], ["a", "b"], [])


def test_problems_of_a_list_are_told_by_line() -> None:
    table, problems = read('[\n{"id": "1"},\n7,\n{"id": "2", "id": "3", "label": "b"},\n{"id": "4", "label": "b"}\n]')
    assert table is not None
    assert [problem.partition(":")[0] for problem in problems] == ["line 3", "line 4", "line 2, column label"]


@pytest.mark.parametrize(
    "text",
    [
        '{"1": "a", "2": "b"}',
        '{\n "1": "a",\n "2": "b"\n}\n',
        '{"id": {"0": "1"}, "label": {"0": "a"}}',
        '[["1", "a"], ["2", "b"]]',
        '["a", "b"]',
        '[["1","a"],["2","b"]]',
        '["a","b"]',
        '{"id": ["1", "2"], "label": ["a", "b"]}',
    ],
)
def test_other_json_is_named_with_how_rows_are_written(text: str) -> None:
    table, problems = read(text)
    assert table is None
    (problem,) = problems
    assert "this is JSON, but not rows: put an object with the keys id, label on each line" in problem
    assert "to_json(orient='records', lines=True)" in problem


def test_list_that_is_cut_off_is_told_where() -> None:
    table, problems = read('[{"id": "1", "label": "a"},\n{"id": "2", "lab')
    assert table is None
    assert problems[0].startswith("line 2: this is not JSON")
