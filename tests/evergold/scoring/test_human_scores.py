"""Human compositionality scores: the authors' kind of spreadsheet, and everything a workbook can be instead."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path

import openpyxl
import pytest

from evergold.scoring.errors import InvalidGold
from evergold.scoring.probing.human_scores import HumanScore, is_spreadsheet, read_human_scores

HEADER = ("language", "experiment_type", "compound", "ClassType", "CompositionalityTokenSents")
ROWS: Sequence[Sequence[object]] = (
    ("en", "Naturalistic", "Dutch courage", "NC", 0.77),
    ("en", "Neutral", "Dutch courage", "NC", 0.77),
    ("pt", "Neutral", "pé frio", "PC", 2),
    ("pt", "Neutral", "sala cirúrgica", "C", 4.5),
)


def workbook(path: Path, rows: Sequence[Sequence[object]], header: Sequence[object] = HEADER) -> Path:
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (header, *rows):
        sheet.append(list(row))
    book.save(path)
    return path


def refused(path: Path) -> list[tuple[int | None, str]]:
    with pytest.raises(InvalidGold) as caught:
        read_human_scores(path)
    return [(problem.line, problem.code) for problem in caught.value.problems]


def test_spreadsheet_gives_one_score_per_compound(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a name without ending", ROWS)
    assert is_spreadsheet(path)
    assert read_human_scores(path) == {
        ("en", "Dutch courage"): HumanScore(0.77, "idiomatic"),
        ("pt", "pé frio"): HumanScore(2.0, "partly"),
        ("pt", "sala cirúrgica"): HumanScore(4.5, "compositional"),
    }


def test_csv_says_the_same(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(
        "language,compound,compositionality,class\nen,Dutch courage,0.77,idiomatic\npt,x,3,\n", encoding="utf-8"
    )
    assert not is_spreadsheet(path)
    assert read_human_scores(path) == {
        ("en", "Dutch courage"): HumanScore(0.77, "idiomatic"),
        ("pt", "x"): HumanScore(3.0, None),
    }


def test_problems_are_said_by_row(tmp_path: Path) -> None:
    rows = [
        *ROWS,
        ("en", "", "Dutch courage", "NC", 0.8),
        ("en", "", "x", "NC", "high"),
        ("en", "", None, "C", 1),
        (None,) * 5,
    ]
    rows += [("en", "", "y", "X", 1), ("en", "", "z", "C", None)]
    assert refused(workbook(tmp_path / "s.xlsx", rows)) == [
        (6, "conflict"),
        (7, "not-a-number"),
        (8, "empty-cell"),
        (10, "unknown-class"),
        (11, "not-a-number"),
    ]


def test_missing_columns_are_named(tmp_path: Path) -> None:
    assert (
        refused(workbook(tmp_path / "s.xlsx", [], ("language", "compound", "compound"))) == [(1, "wrong-columns")] * 3
    )


def test_spreadsheet_without_rows_is_refused(tmp_path: Path) -> None:
    assert refused(workbook(tmp_path / "s.xlsx", [])) == [(None, "empty-file")]


def test_damaged_workbooks_are_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path / "s.xlsx", ROWS)
    whole = zipfile.ZipFile(path)
    for name, content in (("xl/worksheets/sheet1.xml", b"<worksheet><sheetData><row"), ("xl/workbook.xml", b"<x/>")):
        damaged = io.BytesIO()
        with zipfile.ZipFile(damaged, "w") as archive:
            for member in whole.namelist():
                archive.writestr(member, content if member == name else whole.read(member))
        (tmp_path / "damaged.xlsx").write_bytes(damaged.getvalue())
        assert refused(tmp_path / "damaged.xlsx") == [(None, "damaged-file")]
    whole.close()


def test_workbook_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/worksheets/sheet1.xml", bytes(33 * 1024 * 1024))
    assert refused(path) == [(None, "file-too-large")]
