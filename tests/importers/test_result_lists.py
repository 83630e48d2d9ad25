"""CodaLab's result lists, and lists of anybody, as historic rows: any mapping, every problem by line."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from app.declarations.historic import COLUMNS, read_historic
from app.importers.parseme_results import CodabenchResults, read_codabench_results
from app.importers.writing import write_csv
from evergold.scoring.errors import InvalidFile
from evergold.scoring.task import read_options
from evergold.scoring.tasks import TASKS
from tests.conformance import conformance

F1 = {"F1 Score": ("macro_f1", "zero_shot/all")}
#: As CodaLab wrote them: numbered in a column without a heading, spaces behind scores, an unranked row.
CODALAB = """\
,User,F1 Score,Date
1,clay,0.8895 ,2022-01-29 13:46:21.560411+00:00
2,clay,0.8895 ,2022-01-29 13:46:08.656936+00:00
-,baseline,0.6540 ,2022-01-10 00:00:00+00:00
"""


def read(tmp_path: Path, text: str, columns: Any = None, **options: Any) -> CodabenchResults:
    path = tmp_path / "list.csv"
    path.write_text(text, encoding="utf-8")
    return read_codabench_results(path, columns or F1, task="idiom-detection", **options)


def problems(tmp_path: Path, text: str, columns: Any = None, **options: Any) -> list[str]:
    with pytest.raises(InvalidFile) as refused:
        read(tmp_path, text, columns, **options)
    return [str(problem) for problem in refused.value.problems]


def test_a_list_of_codalab_is_read_as_it_is(tmp_path: Path) -> None:
    found = read(tmp_path, CODALAB)
    assert found.rows == [
        ("clay", "2022-01-29 13:46:21 UTC", "macro_f1", "zero_shot/all", "0.8895"),
        ("clay", "2022-01-29 13:46:08 UTC", "macro_f1", "zero_shot/all", "0.8895"),
        ("baseline", "2022-01-10 00:00 UTC", "macro_f1", "zero_shot/all", "0.654"),
    ]
    assert found.warnings == (), "the numbers of rows are no scores that were left out"


def test_ranks_in_brackets_behind_scores_are_no_part_of_them(tmp_path: Path) -> None:
    found = read(tmp_path, "#,User,F1 Score\n1,a,0.9385 (1)\n2,b,0.9346 (2)\n3,c,-\n")
    assert [(row[0], row[4]) for row in found.rows] == [("a", "0.9385"), ("b", "0.9346")]
    mixed = "#,User,F1 Score\n1,a,0.9385 (1)\n2,b,0.9346\n"
    assert problems(tmp_path, mixed) == ["line 2: macro_f1 zero_shot/all: '0.9385 (1)' is not a finite number"]


def test_any_headings_can_be_given(tmp_path: Path) -> None:
    text = "Gruppe;x\n".replace(";", ",") + "a,1\n"
    assert "it is unclear which column has the teams' names" in problems(tmp_path, text)[0]
    table = "Gruppe,Tag,Wert,Notiz\nEins,31.01.2022,88.95,x\nZwei,01.02.2022,70 %,y\n"
    found = read(
        tmp_path,
        table,
        {"Wert": ("macro_f1", "zero_shot/all"), "Notiz": None},
        team="Gruppe",
        date="Tag",
        date_format="%d.%m.%Y",
        percent=True,
    )
    assert found.rows == [
        ("Eins", "2022-01-31", "macro_f1", "zero_shot/all", "0.8895"),
        ("Zwei", "2022-02-01", "macro_f1", "zero_shot/all", "0.7"),
    ]
    assert found.warnings == ()


def test_percent_are_those_that_pages_show_in_percent_where_there_are_any(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text("Team,F1,Evenness\na,41.5,0.75\n")
    both = {"F1": ("mwe_f1", "macro"), "Evenness": ("evenness", "macro")}
    assert [row[4] for row in read_codabench_results(path, both, percent=True).rows] == ["0.415", "0.75"]
    path.write_text("Team,Evenness\na,75\n")
    alone = {"Evenness": ("evenness", "macro")}
    assert [row[4] for row in read_codabench_results(path, alone, percent=True).rows] == ["0.75"]


def test_a_column_of_dates_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert problems(tmp_path, CODALAB, date="Tag") == [
        "line 1: no column is called Tag; the headings are , User, F1 Score, Date"
    ]


def test_a_line_above_the_headings_names_their_tasks_only_if_it_is_as_long_as_they(tmp_path: Path) -> None:
    lone = read(tmp_path, "Results of 2022\nUser,F1 Score\na,0.9\n")
    assert [(row[0], row[4]) for row in lone.rows] == [("a", "0.9")]
    named = {"Task A/F1 Score": F1["F1 Score"], "Task B/F1 Score": ("macro_f1", "one_shot/all")}
    above = read(tmp_path, ",Task A,Task B\nUser,F1 Score,F1 Score\na,0.9,0.8\n", named)
    assert [row[3:] for row in above.rows] == [("zero_shot/all", "0.9"), ("one_shot/all", "0.8")]


def test_dates_in_another_form_are_told_and_left_out(tmp_path: Path) -> None:
    found = read(tmp_path, "User,F1 Score,Date\na,0.9,31/01/2022\nb,0.8,2022-01-31\n")
    assert [row[1] for row in found.rows] == ["", "2022-01-31"]
    assert [str(warning) for warning in found.warnings] == [
        "line 2: '31/01/2022' is not a date like 2026-01-31: left out"
    ]
    other = read(tmp_path, "User,F1 Score,Date\na,0.9,31/01/2022\n", date_format="%d/%m/%Y")
    assert (other.rows[0][1], other.warnings) == ("2022-01-31", ())


def test_numbers_that_are_more_than_positions_are_asked_about(tmp_path: Path) -> None:
    found = read(tmp_path, "rank,User,F1 Score\n1.5,a,0.9\n2.5,b,0.8\n")
    assert [warning.column for warning in found.warnings] == ["rank"]


def test_everything_wrong_is_told_by_line(tmp_path: Path) -> None:
    text = ",User,F1 Score,Date\n1,a,many,2022-01-01\n2,,0.5,2022-01-01\n3,c,88.95,2022-01-01\n"
    assert sorted(problems(tmp_path, text)) == [
        "line 2: macro_f1 zero_shot/all: 'many' is not a finite number",
        "line 3: the team has no name",
        "line 4: macro_f1 zero_shot/all: 88.95 lies outside the range of macro_f1; are the scores of this list "
        "percent?",
    ]
    assert problems(tmp_path, ",User,F1 Score\n1,a,0.5\n2,b\n") == ["line 3: 2 fields, the headings are 3"]


@pytest.mark.parametrize("kind", ["all_submissions", "best_submission_for_each_participant"])
@pytest.mark.parametrize(
    ("file", "task", "columns"),
    [
        ("subtask_a_zero_shot.csv", "idiom-detection", {"F1 Score": ("macro_f1", "zero_shot/all")}),
        ("subtask_a_one_shot.csv", "idiom-detection", {"F1 Score": ("macro_f1", "one_shot/all")}),
        (
            "subtask_b_finetune.csv",
            "idiom-similarity",
            {
                "Spearman's R": ("spearman", "fine_tune/all/all"),
                "Spearman's R (Idiom Only)": ("spearman", "fine_tune/all/idiom"),
                "Spearman's R (STS Only)": ("spearman", "fine_tune/all/sts"),
            },
        ),
    ],
)
def test_the_official_lists_of_semeval_become_historic_rows(
    tmp_path: Path, kind: str, file: str, task: str, columns: dict[str, tuple[str, str]]
) -> None:
    path = conformance("semeval2022/repository/results") / kind / file
    found = read_codabench_results(path, columns, task=task)
    with path.open(encoding="utf-8", newline="") as opened:
        lines = [line for line in csv.DictReader(opened) if line["User"]]
    assert len(found.rows) == len(lines) * len(columns)
    assert found.warnings == ()
    first = next(iter(columns))
    assert float(found.rows[0][4]) == float(lines[0][first])
    written = write_csv(tmp_path / "historic.csv", COLUMNS, found.rows)
    type_ = TASKS[task]
    results = read_historic(written, type_, type_.columns(read_options(type_, {})))
    assert {result.team for result in results} == {line["User"] for line in lines}
