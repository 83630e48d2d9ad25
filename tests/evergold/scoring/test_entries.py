"""Predictions with settings: every way in which they can be wrong, and the reported problem with its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from evergold.scoring.errors import InvalidPrediction, Problem
from evergold.scoring.tables.settings import Items
from evergold.scoring.tasks.idiom_detection import TASK, Options
from tests.evergold.scoring.idiom_files import HEADER, MANY, OPTIONS, golden_items, rows, write


def rejected(tmp_path: Path, lines: list[str], items: Items | None = None, options: Options = OPTIONS) -> list[Problem]:
    path = write(tmp_path / "upload", HEADER + "\n".join(lines) + "\n")
    with pytest.raises(InvalidPrediction) as caught:
        TASK.read_prediction(path, items or golden_items(), options)
    return list(caught.value.problems)


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("2", "invalid label '2': expected 0 or 1"),
        ("1.0", "invalid label '1.0': expected 0 or 1; write 1, without spaces or decimals"),
        (" 1", "invalid label ' 1': expected 0 or 1; write 1, without spaces or decimals"),
        ("NaN", "invalid label 'NaN': expected 0 or 1"),
        ("inf", "invalid label 'inf': expected 0 or 1"),
        (" ", "invalid label ' ': expected 0 or 1"),
        ("idiomatic", "invalid label 'idiomatic': expected 0 or 1"),
    ],
)
def test_wrong_label_is_said_on_its_line(tmp_path: Path, label: str, said: str) -> None:
    lines = rows(golden_items())
    lines[3] = f"4,EN,zero_shot,{label}"
    (only,) = rejected(tmp_path, lines)
    assert (only.code, only.line, only.column, only.text) == ("bad-value", 5, "Label", label)
    assert only.message == said


def test_duplicate_is_rejected_with_both_lines(tmp_path: Path) -> None:
    lines = [*rows(golden_items()), "2,EN,one_shot,0"]
    (only,) = rejected(tmp_path, lines)
    assert str(only) == "line 14, column ID: id 2 appears twice for one_shot, first on line 10"
    assert only.code == "duplicate-id"


def test_missing_ids_are_counted_and_the_first_listed(tmp_path: Path) -> None:
    lines = [line for line in rows(MANY) if not line.startswith(("7,", "1", "61,"))]
    problems = rejected(tmp_path, lines, MANY)
    assert [problem.code for problem in problems] == ["missing-id", "missing-id"]
    assert problems[0].message == ("zero_shot: 14 of 100 items are missing (EN 12, PT 2): 1, 7, 10, 11, 12 and 9 more")
    assert problems[1].message.startswith("one_shot: 14 of 100 items are missing")


def test_half_filled_setting_names_its_lines(tmp_path: Path) -> None:
    lines = rows(golden_items())
    lines[1], lines[4] = "1,EN,zero_shot,", "5,PT,zero_shot,"
    (only,) = rejected(tmp_path, lines)
    assert (only.code, only.line) == ("empty-value", 3)
    assert only.message == (
        "zero_shot is half-filled, 2 of 6 empty (EN 1, PT 1), on line 3, 6: "
        "fill in the columns of a setting for all items in all languages (EN, PT), or for none"
    )


def test_the_first_line_can_be_the_empty_one(tmp_path: Path) -> None:
    lines = rows(golden_items())
    lines[0] = lines[0].rpartition(",")[0] + ","
    (only,) = rejected(tmp_path, lines)
    assert (only.code, only.line) == ("empty-value", 2)


@pytest.mark.parametrize("absent", [True, False])
def test_language_that_a_setting_lacks_is_named(tmp_path: Path, absent: bool) -> None:
    lines = rows(golden_items(), chosen=("zero_shot",))
    lines = lines[:4] + ([] if absent else [line[:-1] for line in lines[4:]])
    (only,) = rejected(tmp_path, lines)
    assert only.code == "missing-language"
    assert only.message == (
        "zero_shot has no Label for PT (2 items): "
        "fill in the columns of a setting for all items in all languages (EN, PT), or for none"
    )


def test_unknown_ids_are_said_with_the_spelling_that_was_meant(tmp_path: Path) -> None:
    lines = rows(golden_items())
    lines[0], lines[1], lines[2], lines[3] = (
        "77,EN,zero_shot,1",
        "1.0,EN,zero_shot,1",
        " 2,EN,zero_shot,1",
        ",EN,zero_shot,1",
    )
    problems = rejected(tmp_path, lines)
    assert [str(problem) for problem in problems if problem.code == "unknown-id"] == [
        "line 2, column ID: id 77 is not an item of this phase",
        "line 3, column ID: id '1.0' must be written '1'",
        "line 4, column ID: id ' 2' must be written '2'",
        "line 5, column ID: the id is empty; delete rows that hold nothing but commas (Excel writes them)",
    ]


def test_unknown_setting_is_said_once_with_its_count(tmp_path: Path) -> None:
    lines = rows(golden_items(), chosen=("zero_shot", "few_shot"))
    (only,) = rejected(tmp_path, lines)
    assert (only.code, only.line, only.column, only.text) == ("unknown-setting", 8, "Setting", "few_shot")
    assert only.message == (
        "the setting 'few_shot' is unknown, it must be zero_shot or one_shot (6 rows, this is the first)"
    )


def test_other_language_than_the_items_is_said(tmp_path: Path) -> None:
    lines = rows(golden_items())
    lines[0], lines[1] = "3,PT,zero_shot,1", "1,en,zero_shot,1"
    assert [str(problem) for problem in rejected(tmp_path, lines)] == [
        "line 2, column Language: item 3 has the language EN, not 'PT'",
        "line 3, column Language: item 1 has the language EN, not 'en'",
    ]


def test_everything_wrong_is_said_at_once_in_order_of_lines(tmp_path: Path) -> None:
    lines = rows(golden_items())
    lines[0] = "3,EN,zero_shot,2"
    lines[2] = "2,PT,zero_shot,1"
    lines[4] = "5,PT,zero_shot,1,extra"
    lines[7] = "1,EN,oneshot,1"
    lines += ["6,PT,one_shot,0", "99,EN,one_shot,0"]
    # Nothing is called missing: what the unreadable line 6 was about is unknown.
    assert [(problem.code, problem.line) for problem in rejected(tmp_path, lines)] == [
        ("bad-value", 2),
        ("wrong-language", 4),
        ("wrong-field-count", 6),
        ("unknown-setting", 9),
        ("duplicate-id", 14),
        ("unknown-id", 15),
    ]


def test_one_mistake_on_every_line_hides_no_other(tmp_path: Path) -> None:
    lines = rows(MANY, "1.0", ("zero_shot",)) + rows(MANY, "1", ("one_shot",))[:-1]
    problems = rejected(tmp_path, lines, MANY)
    assert [problem.line for problem in problems if problem.code == "bad-value"] == list(range(2, 23))
    assert "… and 80 more lines like this, starting here: " in problems[-1].message
    assert "missing-id" in {problem.code for problem in problems}


def test_file_for_another_phase_is_said_once(tmp_path: Path) -> None:
    others = Items(tuple(str(n) for n in range(90, 190)), ("EN",) * 100)
    (only,) = rejected(tmp_path, rows(others), MANY)
    assert (only.code, only.column, only.text) == ("wrong-phase", "ID", "101")
    assert only.message == (
        "this looks like a file for another phase or task: of its 200 rows 178 have an id that is unknown here "
        "and 22 have the id of an item that is in another language, first id 101"
    )


def test_ids_or_languages_in_another_spelling_are_no_other_phase(tmp_path: Path) -> None:
    lines = [line.replace(",EN,", ".0,EN,").replace("PT", "pt") for line in rows(MANY)]
    codes = {problem.code for problem in rejected(tmp_path, lines, MANY)}
    assert "wrong-phase" not in codes
    assert {"unknown-id", "wrong-language"} <= codes


def test_file_for_the_similarity_task_is_recognised(tmp_path: Path) -> None:
    path = write(tmp_path / "p", "\ufeffID,Language,Setting,Sim\r\n1,EN,pre_train,0.5\r\n")
    quoted = write(tmp_path / "q", '"ID","Language","Setting","Sim"\n"1","EN","pre_train",0.5\n')
    for sent in (path, quoted):
        with pytest.raises(InvalidPrediction, match="this looks like a file for idiom-similarity: it has a column Sim"):
            TASK.read_prediction(sent, golden_items(), OPTIONS)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty-file"),
        ("ID,Language,Label\n1,EN,1\n", "wrong-columns"),
        (HEADER, "nothing-entered"),
        (HEADER + "1,EN,zero_shot,\n", "nothing-entered"),
    ],
)
def test_empty_files_and_wrong_headers_are_rejected(tmp_path: Path, text: str, code: str) -> None:
    with pytest.raises(InvalidPrediction) as caught:
        TASK.read_prediction(write(tmp_path / "p", text), golden_items(), OPTIONS)
    assert [problem.code for problem in caught.value.problems] == [code]


LINE = st.tuples(
    st.sampled_from(["1", "2", "3", "4", "5", "6", "7", ""]),
    st.sampled_from(["EN", "PT", "", "en"]),
    st.sampled_from(["zero_shot", "one_shot", "x"]),
    st.sampled_from(["0", "1", "", "2", '"', ",", "\n"]),
).map(",".join)


@given(st.one_of(st.binary(max_size=300), st.lists(LINE).map(lambda lines: (HEADER + "\n".join(lines)).encode())))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_a_prediction_or_rejected_with_problems(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "upload").write_bytes(data)
    refused: InvalidPrediction | None = None
    try:
        TASK.read_prediction(tmp_path / "upload", golden_items(), OPTIONS)
    except InvalidPrediction as caught:
        refused = caught
    assert refused is None or refused.problems
