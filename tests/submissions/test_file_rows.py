"""Rows of public files: each form, counts, a search, and what is too large or no text."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from app.base.storage import FolderStorage, store_file
from app.models import PublicFile
from app.submissions import file_rows_child
from app.submissions.file_rows import Look, look_into

CSV = "ID,Language,Label\n" + "".join(f"{number},{'EN' if number % 3 else 'PT'},{number % 2}\n" for number in range(12))
CUPT = "# sent_id = a1\n# text = A night owl.\n1\tA\ta\n2\tnight\tnight\n\n1\tNo\tno\n2\tcomment\tcomment\n"
LISTED = json.dumps([{"id": "one", "text": "Olá", "tags": ["x"]}, {"id": "two", "score": 0.5}], ensure_ascii=False)


def look(folder: Path, name: str, content: bytes, words: str = "") -> Look:
    path = folder / "file"
    path.write_bytes(content)
    storage = FolderStorage(folder / "storage")
    stored = store_file(path, storage)
    return look_into(storage, PublicFile(name=name, sha256=stored.sha256), words)


def zipped(members: Mapping[str, str]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return made.getvalue()


def test_a_table_has_its_columns_first_rows_and_counts_of_columns_with_few_values(tmp_path: Path) -> None:
    (part,) = look(tmp_path, "items.csv", CSV.encode("utf-8-sig")).parts
    assert (part.name, part.noun, part.columns, part.total) == ("", "row", ("ID", "Language", "Label"), 12)
    assert part.rows[:2] == ((1, ("0", "PT", "0")), (2, ("1", "EN", "1")))
    assert len(part.rows) == file_rows_child.FIRST_ROWS
    assert part.counts == (("Language", (("EN", 8), ("PT", 4))), ("Label", (("0", 6), ("1", 6))))
    assert (part.matches, part.is_whole) == (None, True)


def test_a_search_finds_rows_with_every_word_whatever_their_case(tmp_path: Path) -> None:
    (part,) = look(tmp_path, "items.csv", CSV.encode(), "pt 9").parts
    assert (part.matches, part.rows) == (1, ((10, ("9", "PT", "1")),))


def test_tabs_json_sentences_and_lines_are_told_by_their_names(tmp_path: Path) -> None:
    (tabs,) = look(tmp_path, "items.tsv", b'a\tb\n"x\ty\n').parts
    assert (tabs.columns, tabs.rows) == (("a", "b"), ((1, ('"x', "y")),))
    (listed,) = look(tmp_path, "items.json", LISTED.encode()).parts
    assert listed.columns == ("id", "text", "tags", "score")
    assert listed.rows == ((1, ("one", "Olá", '["x"]', "")), (2, ("two", "", "", "0.5")))
    (sentences,) = look(tmp_path, "train.cupt", CUPT.encode()).parts
    assert (sentences.noun, sentences.rows) == ("sentence", ((1, ("a1", "A night owl.")), (2, ("", "No comment"))))
    (lines,) = look(tmp_path, "readme.txt", b"one\ntwo\n").parts
    assert (lines.noun, lines.rows) == ("line", ((1, ("one",)), (2, ("two",))))


def test_an_archive_has_a_part_for_each_member_and_counts_the_others(tmp_path: Path) -> None:
    more = {f"M{number}.txt": "x" for number in range(file_rows_child.MOST_MEMBERS)}
    found = look(tmp_path, "all.zip", zipped({"EN/train.cupt": CUPT, "__MACOSX/junk.txt": "junk"} | more))
    assert [part.name for part in found.parts][:2] == ["EN/train.cupt", "M0.txt"]
    assert found.omitted == 1
    assert look(tmp_path, "all.zip", zipped({"a.csv": CSV, "b.csv": CSV}), "9").parts[1].matches == 1


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("vectors.npy", b"\x93NUMPY\0\0", "This is not a text file. Download it instead."),
        ("cut.zip", zipped({"a.csv": CSV})[:-30] + b"PK\x05\x06" + b"\xff" * 18, "This archive cannot be read."),
    ],
)
def test_what_cannot_be_shown_says_so(tmp_path: Path, name: str, content: bytes, fault: str) -> None:
    found = look(tmp_path, name, content)
    assert (found.parts, found.fault.startswith(fault)) == ((), True)


def test_of_a_large_file_only_the_beginning_is_read_up_to_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "large.csv"
    path.write_bytes(CSV.encode())
    monkeypatch.setattr(file_rows_child, "MOST_BYTES", len(CSV) - 3)
    answer, _ = file_rows_child.read({"path": str(path), "name": "large.csv", "words": "", "most": 50}, b"")
    assert (answer["parts"][0]["total"], answer["parts"][0]["is_whole"]) == (11, False)
