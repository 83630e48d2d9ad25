"""The line that a problem is about, quoted where its reader quoted nothing."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from evergold.scoring.errors import InvalidPrediction, Problem
from evergold.scoring.excerpts import EXCERPT_CHARACTERS, LONG_CHARACTERS, with_excerpts


def texts(path: Path, *problems: Problem, omitted: int = 0) -> list[str | None]:
    told = with_excerpts(InvalidPrediction(problems, omitted), path)
    assert told.omitted == omitted
    return [problem.text for problem in told.problems]


def at(line: int, text: str | None = None, file: str | None = None) -> Problem:
    return Problem("wrong-field-count", "3 fields, the header has 4", line=line, text=text, file=file)


def write(folder: Path, content: bytes) -> Path:
    path = folder / "sent"
    path.write_bytes(content)
    return path


def zipped(folder: Path, **members: str) -> Path:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return write(folder, content.getvalue())


def test_the_line_is_quoted(tmp_path: Path) -> None:
    path = write(tmp_path, "ID,Label\n1,0,extra\nשלום,می‌خواهم,ü\n".encode())
    assert texts(path, at(2), at(3), omitted=4) == ["1,0,extra", "שלום,می‌خواهم,ü"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_as_readers_count_them(tmp_path: Path, end: str) -> None:
    assert texts(write(tmp_path, end.join(["\ufeffa", "b", "c"]).encode()), at(1), at(3)) == ["a", "c"]


def test_what_was_quoted_stays(tmp_path: Path) -> None:
    path = write(tmp_path, b"a\nb\n")
    assert texts(path, at(2, text="203"), Problem("missing-id", "no row has the id 7")) == ["203", None]


def test_only_a_short_piece_on_one_line_is_quoted(tmp_path: Path) -> None:
    long, far_too_long = "x" * 300, "y" * (LONG_CHARACTERS + 1)
    found = texts(
        write(tmp_path, f"{long}\n{far_too_long}\n \nb\x1b[31m\n".encode()), at(1), at(2), at(3), at(4), at(9)
    )
    assert found == ["x" * (EXCERPT_CHARACTERS - 1) + "…", None, None, "b\\x1b[31m", None]


def test_bytes_that_are_no_text_do_no_harm(tmp_path: Path) -> None:
    assert texts(write(tmp_path, b"a\n\xff\xfe,1\n"), at(2)) == ["\ufffd\ufffd,1"]


def test_the_only_file_of_a_zip_goes_without_its_name(tmp_path: Path) -> None:
    assert texts(zipped(tmp_path, **{"folder/p.csv": "a\nb\n"}), at(2)) == ["b"]


def test_each_file_of_a_zip_has_its_own_lines(tmp_path: Path) -> None:
    path = zipped(tmp_path, **{"EN/a.tsv": "1\n2\n", "PT/a.tsv": "3\n4\n"})
    problems = (at(2, file="PT/a.tsv"), at(2, file="EN/a.tsv"), at(2, file="no such file"))
    assert texts(path, *problems) == ["4", "2", None]


def test_what_cannot_be_read_again_stays_as_it_was(tmp_path: Path) -> None:
    assert texts(write(tmp_path, b"PK\x03\x04 broken"), at(1)) == [None]
    assert texts(tmp_path / "gone", at(1)) == [None]
