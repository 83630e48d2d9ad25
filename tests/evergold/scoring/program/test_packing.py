"""A program as one file: the same files are always the same file, from a folder or a zip, on any day."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from evergold.scoring.program.options import ProgramOptions
from evergold.scoring.program.packing import InvalidProgram, pack, program_fault, unpack
from tests.programs import METADATA, SCORE, zipped

FILES = {"metadata.yaml": METADATA, "score.py": SCORE, "data/words.txt": "a\n"}
JUNK = {"__pycache__/score.cpython-311.pyc": "x", ".git/config": "x", ".DS_Store": "x", "__MACOSX/._score.py": "x"}


def packed(source: Path, into: Path) -> str:
    pack(source, into)
    return hashlib.sha256(into.read_bytes()).hexdigest()


def folder_of(place: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return place


def zip_of(path: Path, files: dict[str, str]) -> Path:
    path.write_bytes(zipped(files))
    return path


def test_folder_and_zips_of_the_same_files_are_one_file(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "a", FILES)
    with_junk = folder_of(tmp_path / "b", {**FILES, **JUNK})
    for path in with_junk.rglob("*"):
        os.utime(path, (0, 10**9))
        path.chmod(0o700)
    reverse = dict(reversed(FILES.items()))
    sources = [
        folder,
        with_junk,
        zip_of(tmp_path / "c.zip", reverse),
        zip_of(tmp_path / "d.zip", {**reverse, **JUNK}),
        zip_of(tmp_path / "e.zip", {f"scoring_program/{name}": text for name, text in reverse.items()}),
    ]
    assert len({packed(source, tmp_path / f"{place}.packed") for place, source in enumerate(sources)}) == 1


def test_packing_again_changes_nothing_and_unpacking_gives_the_files_back(tmp_path: Path) -> None:
    first = packed(folder_of(tmp_path / "a", FILES), tmp_path / "once.zip")
    assert packed(tmp_path / "once.zip", tmp_path / "twice.zip") == first
    unpack(tmp_path / "twice.zip", tmp_path / "out")
    found = {path.relative_to(tmp_path / "out").as_posix(): path for path in (tmp_path / "out").rglob("*.*")}
    assert {name: path.read_text() for name, path in found.items()} == FILES
    assert all(os.access(path, os.X_OK) for path in found.values())


def test_other_content_and_other_names_are_another_program(tmp_path: Path) -> None:
    variants = [FILES, {**FILES, "score.py": f"{SCORE}\n"}, {**FILES, "more.py": ""}]
    found = {packed(folder_of(tmp_path / str(n), files), tmp_path / f"{n}.zip") for n, files in enumerate(variants)}
    assert len(found) == len(variants)


@pytest.mark.parametrize(
    ("files", "options", "fault"),
    [
        (FILES, {}, None),
        ({"score.py": SCORE}, {}, "has no command"),
        ({"score.py": SCORE}, {"command": "python3 score.py"}, None),
        ({"score.py": SCORE, "metadata": "command: python3 score.py\n"}, {}, None),
        ({"__init__.py": "", "main.py": ""}, {"contract": "evalai"}, None),
        ({"main.py": ""}, {"contract": "evalai"}, None),
        ({"script/__init__.py": "", "more/a.py": ""}, {"contract": "evalai"}, None),
        ({"score.py": ""}, {"contract": "evalai"}, "has no __init__.py: an EvalAI program is a package"),
    ],
)
def test_a_program_that_cannot_be_started_is_told(
    tmp_path: Path, files: dict[str, str], options: dict[str, str], fault: str | None
) -> None:
    pack(folder_of(tmp_path / "a", files), tmp_path / "a.zip")
    said = program_fault(tmp_path / "a.zip", ProgramOptions.model_validate({"metrics": [{"name": "a"}], **options}))
    assert said == fault or (fault and said and said.startswith(fault))


def test_what_is_no_program_is_refused(tmp_path: Path) -> None:
    (tmp_path / "score.py").write_text(SCORE)
    with pytest.raises(InvalidProgram, match="a program must be a folder or a zip"):
        pack(tmp_path / "score.py", tmp_path / "out.zip")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidProgram):
        pack(tmp_path / "empty", tmp_path / "out.zip")
    with pytest.raises(InvalidProgram, match="the program has no file"):
        pack(folder_of(tmp_path / "junk", {".git/config": "x"}), tmp_path / "out.zip")
