"""Reads the rows of a public file, as a job of the helper (see `app.helper`).

Only the format is parsed: comma- or tab-separated tables, JSON lists, CoNLL-like sentences, other text by line, and
archives of these. Files that are not text can only be downloaded.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from app.helper.wire import Message

#: Decoded text read of a file, all its members together.
MOST_BYTES = 8 * 1024 * 1024
FIRST_ROWS = 5
MOST_MEMBERS = 12
MOST_COLUMNS = 30
CELL_CHARACTERS = 400
#: A column with no more distinct values is counted; at most so many columns.
FEW_VALUES, COUNTED_COLUMNS = 12, 5
_VALUE_CHARACTERS = 40
_SENTENCES = (".cupt", ".conllu", ".conll")
_NOT_TEXT = "This is not a text file. Download it instead."

Record = Sequence[str]


@dataclass
class _Found:
    """A part while it is read; see `app.submissions.file_rows.Part`."""

    name: str
    noun: str
    columns: list[str]
    rows: list[tuple[int, list[str]]] = field(default_factory=list)
    total: int = 0
    matches: int | None = None
    counts: list[tuple[str, list[tuple[str, int]]]] = field(default_factory=list)
    is_whole: bool = True


def read(head: dict[str, Any], _: bytes) -> Message:
    """Return `parts`, the number of `omitted` members, and a `fault` if there are no parts."""
    path, wanted = Path(head["path"]), head["words"].casefold().split()
    omitted = 0
    try:
        if zipfile.is_zipfile(path):
            members, omitted = _members(path)
        else:
            members = [("", head["name"], *_beginning(path))]
        parts = [_part(name, file_name, data, is_whole, wanted) for name, file_name, data, is_whole in members]
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError):
        return {"parts": [], "omitted": 0, "fault": "This archive cannot be read. Download it instead."}, b""
    shown = [one for one in parts if one is not None]
    _keep_most(shown, head["most"])
    fault = "" if shown else _NOT_TEXT
    return {"parts": [asdict(one) for one in shown], "omitted": omitted, "fault": fault}, b""


def _beginning(path: Path) -> tuple[bytes, bool]:
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    return data[:MOST_BYTES], len(data) <= MOST_BYTES


def _members(path: Path) -> tuple[list[tuple[str, str, bytes, bool]], int]:
    """Return (label, path, content, is it complete) of an archive's first members, and the number of the others."""
    found, left = [], MOST_BYTES
    with zipfile.ZipFile(path) as archive:
        names = [one for one in archive.infolist() if not one.is_dir() and not _is_ignored(one.filename)]
        for one in names[:MOST_MEMBERS]:
            with archive.open(one) as file:
                data = file.read(left + 1) if left else b""
            found.append((one.filename, one.filename, data[:left], len(data) <= left and bool(left)))
            left = max(0, left - len(data))
    return found, max(0, len(names) - MOST_MEMBERS)


def _is_ignored(name: str) -> bool:
    path = PurePosixPath(name)
    return path.parts[:1] == ("__MACOSX",) or path.name.startswith(".")


def _part(name: str, file_name: str, data: bytes, is_whole: bool, wanted: Sequence[str]) -> _Found | None:
    """Return the part; None if the file is not text."""
    if b"\0" in data:
        return None
    text = data.decode("utf-8-sig", "replace")
    if not is_whole:
        text = text[: text.rfind("\n") + 1]
    noun, columns, records = _records(file_name, text)
    found = _Found(name, noun, columns[:MOST_COLUMNS], is_whole=is_whole, matches=0 if wanted else None)
    counters: list[Counter[str] | None] = [Counter() for _ in found.columns]
    for number, record in enumerate(records, 1):
        found.total = number
        _count(counters, record)
        if wanted:
            line = "\t".join(record).casefold()
            if not all(word in line for word in wanted):
                continue
            found.matches = (found.matches or 0) + 1
        elif number > FIRST_ROWS:
            continue
        found.rows.append((number, [_cut(cell) for cell in record[:MOST_COLUMNS]]))
    found.counts = _few(found.columns, counters, found.total)
    return found


def _keep_most(parts: Iterable[_Found], most: int) -> None:
    """Truncate the rows so that all parts together have at most `most`."""
    for one in parts:
        one.rows = one.rows[:most]
        most -= len(one.rows)


def _records(name: str, text: str) -> tuple[str, list[str], Iterator[Record]]:
    """Return the kind of the records, the columns and the records."""
    kind = PurePosixPath(name).suffix.lower()
    if kind == ".json" and (listed := _json_list(text)) is not None:
        return "row", *_objects(listed)
    if kind in (".jsonl", ".ndjson"):
        return "row", *_objects(_json_lines(text))
    if kind in _SENTENCES:
        return "sentence", ["Sentence", "Text"], _sentences(text)
    if kind in (".csv", ".tsv", ".tab"):
        return "row", *_table(text)
    return "line", ["Text"], ([line] for line in text.splitlines())


def _table(text: str) -> tuple[list[str], Iterator[Record]]:
    header = text.partition("\n")[0]
    options: dict[str, Any] = {"delimiter": "\t", "quoting": csv.QUOTE_NONE} if "\t" in header else {}
    reader = csv.reader(io.StringIO(text, newline=""), **options)
    columns = next(reader, [])
    return columns, _readable(reader)


def _readable(reader: Iterator[list[str]]) -> Iterator[Record]:
    """Yield the rows before the first malformed one, without blank rows."""
    try:
        yield from (row for row in reader if row)
    except csv.Error:
        return


def _json_list(text: str) -> list[Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, list) else None


def _json_lines(text: str) -> list[Any]:
    found = []
    for line in text.splitlines():
        try:
            found.append(json.loads(line))
        except (ValueError, RecursionError):
            continue
    return found


def _objects(listed: Sequence[Any]) -> tuple[list[str], Iterator[Record]]:
    columns = list(dict.fromkeys(key for one in listed[:100] if isinstance(one, dict) for key in one))
    if not columns:
        return ["Value"], ([_cell(one)] for one in listed)
    return columns, ([_cell(one.get(column)) for column in columns] for one in listed if isinstance(one, dict))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _sentences(text: str) -> Iterator[Record]:
    """Yield the id and the text of each sentence; its words if no comment has the text."""
    comments: dict[str, str] = {}
    words: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("#"):
            name, _, value = line[1:].partition("=")
            comments[name.strip()] = value.strip()
        elif line.strip():
            words.append((line.split("\t") + [""])[1])
        elif words:
            name = comments.get("sent_id") or comments.get("source_sent_id") or ""
            yield [name, comments.get("text") or " ".join(words)]
            comments, words = {}, []


def _cut(cell: str) -> str:
    return cell if len(cell) <= CELL_CHARACTERS else cell[: CELL_CHARACTERS - 1] + "…"


def _count(counters: list[Counter[str] | None], record: Record) -> None:
    """Count the values of each column, and stop for a column with too many distinct values."""
    for at, counter in enumerate(counters):
        if counter is None or at >= len(record):
            continue
        counter[record[at]] += 1
        if len(counter) > FEW_VALUES or len(record[at]) > _VALUE_CHARACTERS:
            counters[at] = None


def _few(
    columns: Sequence[str], counters: Sequence[Counter[str] | None], total: int
) -> list[tuple[str, list[tuple[str, int]]]]:
    """Return the columns with few distinct values and their counts, most frequent first; empty columns are left out."""
    few = (
        (column, sorted(counter.items(), key=lambda one: (-one[1], one[0])))
        for column, counter in zip(columns, counters, strict=True)
        if counter and 2 * len(counter) <= total and set(counter) != {""}
    )
    return list(few)[:COUNTED_COLUMNS]
