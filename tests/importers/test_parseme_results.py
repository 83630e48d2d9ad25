"""Result lists as historic rows: Codabench's JSON, CSV and HTML; nothing is dropped silently."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from app.declarations.historic import COLUMNS, read_historic
from app.importers.parseme_results import (
    CELLS_LIMIT,
    FILE_LIMIT_BYTES,
    CodabenchResults,
    TooComplex,
    read_codabench_results,
    read_html_tables,
)
from app.importers.writing import write_csv
from evergold.scoring.errors import InvalidFile, Problem
from evergold.scoring.mwe.options import Options
from evergold.scoring.tasks.mwe_identification import TASK

F1 = ("mwe_f1", "macro")
TOKEN_F1 = ("token_f1", "macro")
RICHNESS = ("richness", "macro")

#: The macro-averages of a real result page of edition 2.0, over 17 languages, in percent.
MACRO = {"mwe_precision": "46.49", "mwe_recall": "48.55", "mwe_f1": "47.50"}


def board(**changes: Any) -> dict[str, Any]:
    """Return the response of `/api/phases/{id}/get_leaderboard/`, with parts that an importer ignores."""
    columns = [
        {"id": 1, "key": "f1", "title": "Global MWE-based F1", "index": 0, "sorting": "desc", "hidden": False},
        {"id": 2, "key": "rich", "title": "Richness", "index": 1, "sorting": "desc", "hidden": False},
    ]
    return {
        "id": 9,
        "title": "Results",
        "primary_index": 0,
        "tasks": [{"id": 7, "name": "Subtask 1", "colWidth": 2, "columns": columns}],
        "submissions": [
            submission("ada", "0.4750000000", "12.5000000000"),
            submission("berta", "0.5000000000", None, created_when="2026-01-20T21:04:05.123456Z"),
        ],
        **changes,
    }


def submission(owner: str, f1: str | float | None, richness: str | None, **changes: Any) -> dict[str, Any]:
    scores = [
        {"id": 5, "index": 0, "score": f1, "column_key": "f1", "task_id": 7},
        {"id": 6, "index": 1, "score": richness, "column_key": "rich", "task_id": 7},
    ]
    return {"id": 3, "owner": owner, "scores": scores, "fact_sheet_answers": None, **changes}


def read(tmp_path: Path, content: object, columns: Mapping[str, Any], **options: Any) -> CodabenchResults:
    path = tmp_path / "results"
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return read_codabench_results(path, columns, **options)


def refused(tmp_path: Path, content: object, columns: Mapping[str, Any], **options: Any) -> list[Problem]:
    with pytest.raises(InvalidFile) as caught:
        read(tmp_path, content, columns, **options)
    return list(caught.value.problems)


def codes(problems: list[Problem] | tuple[Problem, ...]) -> list[str]:
    return [problem.code for problem in problems]


def test_json_of_the_api_becomes_rows_with_moments(tmp_path: Path) -> None:
    results = read(tmp_path, board(), {"f1": F1, "rich": RICHNESS})
    assert results.rows == [
        ("ada", "", "mwe_f1", "macro", "0.475"),
        ("ada", "", "richness", "macro", "12.5"),
        ("berta", "2026-01-20 21:04:05 UTC", "mwe_f1", "macro", "0.5"),
    ]
    assert results.warnings == ()
    path = write_csv(tmp_path / "historic.csv", COLUMNS, results.rows)
    read_back = read_historic(path, TASK, TASK.columns(Options(languages=("fr",))))
    assert [one.team for one in read_back] == ["ada", "berta"]
    assert read_back[1].achieved_at is not None


def test_columns_may_be_called_by_their_title_or_with_their_task(tmp_path: Path) -> None:
    by_key = read(tmp_path, board(), {"f1": F1, "rich": None})
    assert read(tmp_path, board(), {"Global MWE-based F1": F1, "Richness": None}) == by_key
    assert read(tmp_path, board(), {"Subtask 1/f1": F1, "rich": None}) == by_key


def test_columns_without_a_meaning_are_reported(tmp_path: Path) -> None:
    hidden = {"id": 8, "index": 2, "score": "0.1", "column_key": "hidden", "task_id": 7}
    document = board()
    document["submissions"][0]["scores"].append(hidden)
    results = read(tmp_path, document, {"f1": F1})
    assert codes(results.warnings) == ["unknown-column", "unknown-column"]
    assert [str(warning) for warning in results.warnings] == [
        "column Subtask 1/rich: its meaning is not given (--column): it is left out",
        "column hidden: its meaning is not given (--column): it is left out",
    ]
    assert len(results.rows) == 2


def test_meanings_without_a_column_and_unknown_metrics_are_refused(tmp_path: Path) -> None:
    problems = refused(tmp_path, board(), {"f1": ("mwe_f2", "macro"), "richness": RICHNESS})
    assert codes(problems) == ["unknown-metric", "missing-column"]
    assert "did you mean 'mwe_f1'?" in problems[0].message
    assert "did you mean 'Richness'?" in problems[1].message


def test_same_column_of_two_tasks_is_refused_unless_the_task_is_named(tmp_path: Path) -> None:
    document = board()
    document["tasks"].append({"id": 8, "name": "Subtask 2", "columns": [{"key": "f1", "title": "F1", "index": 0}]})
    document["submissions"][0]["scores"].append({"index": 0, "score": "0.9", "column_key": "f1", "task_id": 8})
    (problem,) = refused(tmp_path, document, {"f1": F1, "rich": None})
    assert problem.code == "duplicate-score"
    assert "write TASK/column" in problem.message
    results = read(tmp_path, document, {"Subtask 1/f1": F1, "Subtask 2/f1": None, "rich": None})
    assert [row[4] for row in results.rows] == ["0.475", "0.5"]
    assert results.warnings == ()


def test_percent_are_divided_only_where_pages_show_percent(tmp_path: Path) -> None:
    document = board(submissions=[submission("ada", "47.50", "12.5")])
    results = read(tmp_path, document, {"f1": F1, "rich": RICHNESS}, percent=True)
    assert [row[4] for row in results.rows] == ["0.475", "12.5"]
    (problem,) = refused(tmp_path, document, {"f1": F1, "rich": RICHNESS})
    assert str(problem).endswith("47.50 lies outside the range of mwe_f1; are the scores of this list percent?")
    signed = board(submissions=[submission("ada", "47.50 %", None)])
    assert read(tmp_path, signed, {"f1": F1, "rich": None}).rows[0][4] == "0.475"


@pytest.mark.parametrize(
    ("document", "code", "words"),
    [
        ({"title": "Results"}, "not-a-leaderboard", "tasks is needed; expected is"),
        ("[1, 2]", "not-a-leaderboard", "get_leaderboard"),
        ('{"tasks": [', "not-a-leaderboard", "JSON"),
        (board(submissions=[{"scores": []}]), "not-a-leaderboard", "submissions.0.owner"),
        (board(submissions=[submission("", "0.5", None)]), "no-team", "submission 1"),
        (board(submissions=[submission("ada", "half", None)]), "bad-value", "submission 1: mwe_f1 macro: 'half'"),
        (board(submissions=[submission("ada", "NaN", None)]), "bad-value", "is not a finite number"),
        (board(submissions=[]), "no-results", "no score"),
        (board(submissions=[submission("ada", "0.5", None)] * 2), "duplicate-score", "ada has mwe_f1 macro 2 times"),
        ("", "empty-file", "empty"),
    ],
)
def test_what_is_no_result_list_is_refused_in_words(tmp_path: Path, document: object, code: str, words: str) -> None:
    (problem, *_) = refused(tmp_path, document, {"f1": F1, "rich": None})
    assert problem.code == code
    assert words in str(problem)


def test_one_submission_with_two_scores_for_one_column_is_refused(tmp_path: Path) -> None:
    document = board()
    document["submissions"][0]["scores"] *= 2
    assert codes(refused(tmp_path, document, {"f1": F1, "rich": None})) == ["duplicate-score", "duplicate-score"]


def test_numbers_in_json_are_read_like_text(tmp_path: Path) -> None:
    document = board(submissions=[submission("ada", 0.1, None), submission("berta", 1, None)])
    assert [row[4] for row in read(tmp_path, document, {"f1": F1, "rich": None}).rows] == ["0.1", "1"]


# -------------------------------------------------------------------------------------------------------------- tables


def test_csv_is_read_by_its_headings(tmp_path: Path) -> None:
    text = """\
        #,Participant,Date,F1,Languages
        1,ada,2026-01-20,47.50,17
        2,"Berta, Inc.",2026-01-20 21:04,-,3
    """
    meanings = {"F1": F1, "Languages": ("languages", "macro"), "#": None}
    results = read(tmp_path, text, meanings, percent=True)
    assert results.rows == [
        ("ada", "2026-01-20", "mwe_f1", "macro", "0.475"),
        ("ada", "2026-01-20", "languages", "macro", "17"),
        ("Berta, Inc.", "2026-01-20", "languages", "macro", "3"),
    ]
    assert [(warning.code, warning.line) for warning in results.warnings] == [("no-zone", 3)]


def test_csv_that_codabench_exports_loses_the_numbers_of_submissions(tmp_path: Path) -> None:
    text = """\
        Username,fact_sheet_answers,Subtask 1(7)-Global F1,Subtask 1(7)-Richness
        ada-1234,,0.4750000000,
        team-7-1235,,0.5000000000,
        berta-1236,,0.1000000000,
        berta-1237,,0.2000000000,
    """
    results = read(tmp_path, text, {"Global F1": F1, "Subtask 1/Richness": RICHNESS, "fact_sheet_answers": None})
    assert [(row[0], row[4]) for row in results.rows] == [
        ("ada", "0.475"),
        ("team-7", "0.5"),
        ("berta-1236", "0.1"),
        ("berta-1237", "0.2"),
    ]
    assert results.warnings == ()


def test_column_without_a_heading_is_reported_too(tmp_path: Path) -> None:
    results = read(tmp_path, "Team,F1,\nada,0.5,details\n", {"F1": F1})
    assert [(warning.code, warning.column) for warning in results.warnings] == [("unknown-column", "column 3")]


def test_other_csv_keeps_names_as_they_are(tmp_path: Path) -> None:
    assert read(tmp_path, "Username,F1\nteam-7,0.5\n", {"F1": F1}).rows[0][0] == "team-7"


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("Name,F1\nada,0.5\n", "no-team", 1),
        ("Team,F1\nada,0.5,1\n", "wrong-field-count", 2),
        ('Team,F1\n"ada,0.5\n', "not-csv", 2),
        ("Team,F1\nada,0.5\n\nberta,x\n", "bad-value", 4),
        ("Team,F1\n,0.5\n", "no-team", 2),
        ("Team,F1\n", "no-results", None),
    ],
)
def test_broken_csv_is_refused_by_line(tmp_path: Path, text: str, code: str, line: int | None) -> None:
    problems = refused(tmp_path, text, {"F1": F1})
    assert [(problem.code, problem.line) for problem in problems] == [(code, line)]


def test_column_of_teams_can_be_named(tmp_path: Path) -> None:
    assert read(tmp_path, "Name,F1\nada,0.5\n", {"F1": F1}, team="name").rows[0][0] == "ada"
    problems = refused(tmp_path, "Name,F1\nada,0.5\n", {"F1": F1}, team="Who")
    assert "no column is called Who; the headings are Name, F1" in problems[0].message


PAGE = """\
<!DOCTYPE html>
<html><head><style>td { color: red }</style><script>var x = "<table><tr><td>no</td></tr></table>";</script></head>
<body>
<table><tr><td>Navigation</td></tr></table>
<table id="leaderboardTable">
<thead>
<tr><th colspan="3">Task:</th><th colspan="3">Subtask 1</th><th colspan=1>Subtask 2</th></tr>
<tr><th>#</th><th>Participant</th><th>Date</th><th>P</th><th>R</th><th>F1</th><th>F1</th></tr>
</thead>
<tbody>
<tr><td>1</td><td><a href="/profiles/ada/">ada&nbsp;&amp;  co</a></td><td>2026-01-20T10:00:00+01:00</td>
<td> 46.49 </td><td>48.55</td><td><b>47</b>.50</td><td>n/a</td></tr>
<tr><td>2<td>berta<td>yesterday<td>1<td>1<td>1<td>2
</tbody>
</table>
</body></html>
"""
#: Meanings of its columns by the names that two rows of headings give them.
MEANINGS = {
    "Task:/#": None,
    "Subtask 1/P": ("mwe_precision", "macro"),
    "Subtask 1/R": ("mwe_recall", "macro"),
    "Subtask 1/F1": F1,
}


def test_html_page_is_read_with_the_tasks_above_the_headings(tmp_path: Path) -> None:
    results = read(tmp_path, PAGE, {**MEANINGS, "Subtask 2/F1": TOKEN_F1}, percent=True)
    ada = [row for row in results.rows if row[0] == "ada & co"]
    values = {metric: f"{Fraction(percent) / 100 * 10_000}" for metric, percent in MACRO.items()}
    assert {row[2]: f"{Fraction(row[4]) * 10_000}" for row in ada} == values
    assert {row[1] for row in ada} == {"2026-01-20 09:00 UTC"}
    berta = [row for row in results.rows if row[0] == "berta"]
    assert [(row[1], row[4]) for row in berta] == [("", "0.01"), ("", "0.01"), ("", "0.01"), ("", "0.02")]
    assert [(warning.code, warning.line) for warning in results.warnings] == [("unread", None), ("bad-date", 13)]
    assert results.warnings[0].message == "the table on line 4 is left out"


def test_html_columns_without_a_meaning_are_reported(tmp_path: Path) -> None:
    results = read(tmp_path, PAGE, MEANINGS, percent=True)
    unknown = [warning.column for warning in results.warnings if warning.code == "unknown-column"]
    assert unknown == ["Subtask 2/F1"]


@pytest.mark.parametrize(
    ("page", "code"),
    [
        ("<html><body><div id='app'></div></body></html>", "no-table"),
        ("<table><tr><td>a</td></tr></table>", "no-team"),
        ("<table><tr><th>Team<th>F1<tr><td>ada</table>", "wrong-field-count"),
        ("<table>" * 30, "too-complex"),
        ("<!-- <table><tr><th>Team</th><th>F1</th></tr></table> -->", "no-table"),
    ],
)
def test_pages_without_a_result_list_are_refused(tmp_path: Path, page: str, code: str) -> None:
    assert codes(refused(tmp_path, page, {"F1": F1})) == [code]


def test_files_and_tables_are_bounded(tmp_path: Path) -> None:
    (problem,) = refused(tmp_path, "<p>" + " " * FILE_LIMIT_BYTES, {"F1": F1})
    assert problem.message == "the file is larger than 8 MiB"
    row = '<tr><td colspan="999"></td></tr>'
    with pytest.raises(TooComplex, match=f"more than {CELLS_LIMIT} cells"):
        read_html_tables("<table>" + row * (CELLS_LIMIT // 999 + 1) + "</table>")


@pytest.mark.parametrize(
    ("page", "tables"),
    [
        ("<table><tr><td>a<td>b<tr><td>c</table>", [[["a", "b"], ["c"]]]),
        ("<table><td>a</td></table>x<table></table>", [[["a"]], []]),
        ("<table><tr><td>a<br>b<table><tr><td>inner</table>c</table>", [[["a bc"]], [["inner"]]]),
        ('<table><tr><td colspan="2">a</td><td colspan="0">b</td><td colspan="x">c', [[["a", "a", "b", "c"]]]),
        (f'<table><tr><td colspan="{"9" * 5_000}">a</td><td colspan="2000">b', [[["a", *["b"] * 1_000]]]),
        ("</td></table><tr><td>nowhere</td></tr>", []),
        ("<table><tr><td>a<script>b</script>&lt;c&gt;</td></tr></table>", [[["a<c>"]]]),
    ],
)
def test_tables_are_found_as_browsers_find_them(page: str, tables: list[list[list[str]]]) -> None:
    assert [[row.cells for row in table] for table in read_html_tables(page)] == tables
