"""Uploads for organisers' own programs: what is refused, by file and line, and what a program finds."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

from evergold.scoring.errors import InvalidPrediction
from evergold.scoring.program.options import ProgramOptions
from evergold.scoring.program.uploads import lay_out, own_name, read_upload
from tests.programs import zipped

TABLE = "id,form\n1,a\n"


def options(**said: Any) -> ProgramOptions:
    return ProgramOptions.model_validate({"metrics": [{"name": "accuracy"}], **said})


def found(tmp_path: Path, name: str, content: bytes | str, **said: Any) -> list[str]:
    """Return the problems of an upload; if it has none, the files that a program finds of it."""
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    try:
        read_upload(path, options(**said))
    except InvalidPrediction as invalid:
        return [str(problem) for problem in invalid.problems]
    folder = tmp_path / "res"
    folder.mkdir()
    lay_out(path, options(**said), folder)
    return sorted(one.relative_to(folder).as_posix() for one in folder.rglob("*") if one.is_file())


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ({"a.csv": TABLE}, ["a.csv"]),
        ({"all of it/a.csv": TABLE, "all of it/sub/b.csv": TABLE}, ["a.csv", "sub/b.csv"]),
        ({"a.csv": TABLE, "sub/b.csv": TABLE}, ["a.csv", "sub/b.csv"]),
        ({"mine/a.csv": TABLE, "__MACOSX/mine/._a.csv": "x", "mine/.DS_Store": "x"}, ["a.csv"]),
        ({"metadata": "title: no code\n", "a.csv": TABLE}, ["a.csv", "metadata"]),
    ],
)
def test_a_zip_is_laid_out_without_a_folder_around_everything(
    tmp_path: Path, content: dict[str, str], names: list[str]
) -> None:
    assert found(tmp_path, "sent.zip", zipped(content)) == names


def test_evalai_gets_the_file_as_it_was_sent(tmp_path: Path) -> None:
    assert found(tmp_path, "sent.zip", zipped({"a.csv": TABLE}), contract="evalai") == ["sent.zip"]


def test_a_plain_file_keeps_its_name(tmp_path: Path) -> None:
    assert found(tmp_path, "answers.json", "{}") == ["answers.json"]


@pytest.mark.parametrize("name", ["metadata", "metadata.yaml"])
@pytest.mark.parametrize("content", ["command: python3 run.py\n", "a: [\ncommand: python3 run.py\n"])
def test_code_is_refused_in_a_sentence(tmp_path: Path, name: str, content: str) -> None:
    [problem] = found(tmp_path, "sent.zip", zipped({f"code/{name}": content, "code/run.py": "import os\n"}))
    assert problem.startswith(f"{name}: {name} has a command, so this is code to be run: here predictions are scored")


def test_files_are_compared_with_what_is_declared(tmp_path: Path) -> None:
    files = {"required": ["a.csv", "b.csv"], "allowed": ["*.tsv", "en/*.txt"], "largest": 100}
    content = {"a.csv": TABLE, "c.tsv": "x", "en/d.txt": "x", "fr/d.txt": "x", "e.csv": "x"}
    assert found(tmp_path, "sent.zip", zipped(content), files=files) == [
        "the file b.csv is missing; the upload has a.csv, c.tsv, e.csv, en/d.txt, fr/d.txt",
        "e.csv: e.csv is not expected; the file must be a.csv, b.csv, *.tsv, en/*.txt",
        "fr/d.txt: fr/d.txt is not expected; the file must be a.csv, b.csv, *.tsv, en/*.txt",
    ]
    (tmp_path / "more").mkdir()
    assert found(tmp_path / "more", "sent.zip", zipped({"a.csv": "x" * 101}), files=files) == [
        "a.csv is larger than 100 bytes"
    ]


def test_columns_are_checked_by_line(tmp_path: Path) -> None:
    said = {"tables": {"*.csv": ["id", "form"], "*.tsv": ["id", "form"]}}
    content = {"a.csv": "id,form\n1,a\n2\n", "b.tsv": "id\tform\n1\ta\tb\n", "c.csv": "form;id\n"}
    assert found(tmp_path, "sent.zip", zipped(content), **said) == [
        "a.csv, line 3: 1 field, the header has 2",
        "b.tsv, line 2: 3 fields, the header has 2",
        "c.csv, line 1: the columns are separated by semicolons, they must be separated by commas",
    ]


SCHEMA = {
    "type": "object",
    "required": ["id"],
    "properties": {"id": {"type": "integer"}, "form": {"type": "string", "pattern": "^[a-z]+$"}},
}


def test_json_is_checked_against_its_schema_and_json_lines_by_line(tmp_path: Path) -> None:
    said = {"json_schema": {"*.jsonl": SCHEMA, "a.json": {"type": "array", "items": SCHEMA}}}
    content = {
        "a.json": '[{"id": 1}, {"id": "2"}]',
        "b.jsonl": '{"id": 1, "form": "a"}\n\n{"id": 2, "form": "A"}\n{"id": NaN}\n{"form": \n',
    }
    assert found(tmp_path, "sent.zip", zipped(content), **said) == [
        'a.json: [1].id: "2" is not of type "integer"',
        'b.jsonl, line 3: form: "A" does not match "^[a-z]+$"',
        "b.jsonl, line 4: this is not JSON: NaN is not a number in JSON",
        "b.jsonl, line 5: this is not JSON: Expecting value, column 10",
    ]


def test_deep_json_is_refused_and_not_followed(tmp_path: Path) -> None:
    [problem] = found(tmp_path, "a.json", "[" * 100_000, json_schema={"a.json": {"type": "array"}})
    assert problem == "a.json: this is not JSON: it is nested too deeply"


@pytest.mark.parametrize(
    ("names", "sentence"),
    [(["../a.csv"], "names with .. are not allowed"), (["a.csv", "a.csv"], "a.csv occurs twice in the zip")],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_dangerous_zips_are_refused(tmp_path: Path, names: list[str], sentence: str) -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    [problem] = found(tmp_path, "sent.zip", target.getvalue())
    assert sentence in problem


def test_a_program_sees_a_name_without_what_shells_and_terminals_read() -> None:
    assert own_name(Path("..a\\b\x1b[31m\u202e c.csv")) == "ab[31m c.csv"
