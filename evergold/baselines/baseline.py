"""The class of baselines, and functions that read public files: tables, and folders or zips of languages."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from evergold.scoring.archives import Limits, begins_as_zip, iterate_members, read_single
from evergold.scoring.errors import InvalidItems, Problem, Problems, ScoringError
from evergold.scoring.tables.forms import read_any_table
from evergold.scoring.tables.json_lines import is_json_lines
from evergold.scoring.tables.reading import Table, read_table

_GIB = 1024**3
_LIMITS = Limits(total_bytes=_GIB, member_bytes=_GIB)


class UnknownBaseline(ScoringError):
    """A task type has no baseline of this name."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """A simple system.

    summary: one line, for lists and boards. predict(items, training, options): the content of its submission.
    suffix: the suffix of the file that it writes.
    learns: True if it needs training data. fits(options): whether it can be used for a task with these options.
    """

    name: str
    summary: str
    predict: Callable[[Path, Sequence[Path], Any], bytes]
    suffix: str = ".csv"
    learns: bool = False
    fits: Callable[[Any], bool] = lambda options: True


Row = Mapping[str, str]


def read_rows(path: Path, columns: Sequence[str], optional: Sequence[str] = ()) -> list[Row]:
    """Read the rows of an organisers' CSV file, alone or in a zip; raises InvalidItems if a column is missing."""
    problems = Problems()
    _, data = read_single(path, _LIMITS, InvalidItems)
    table = read_table(data, columns, problems, optional=optional, others=True, file=path.name)
    problems.raise_if_any(InvalidItems)
    return _rows(table) if table else []


def read_any_rows(path: Path, columns: Sequence[str], lists: Mapping[str, str] | None = None) -> list[Row]:
    """Read rows like `read_rows`, with all columns, of a table that may also be TSV or JSON lines.

    lists: maps every column whose cells may be lists of texts in JSON lines to the separator that joins these.
    """
    data, problems = read_single(path, _LIMITS, InvalidItems)[1], Problems()
    more = [name for name in _column_names(data) if name not in columns]
    table = read_any_table(data, columns, problems, optional=more, others=True, lists=lists)
    problems.raise_if_any(InvalidItems)
    return _rows(table) if table else []


def _column_names(data: bytes) -> list[str]:
    """Return the column names in the first line of a table; its faults are reported when the table is read."""
    first = next((line for line in data.decode("utf-8-sig", "replace").splitlines() if line.strip()), "")
    if is_json_lines(data):
        with suppress(ValueError):
            return list(json.loads(first))
        return []
    names = next(csv.reader([first], delimiter="\t" if "\t" in first else ","), [])
    return list(dict.fromkeys(name for name in names if name))


def _rows(table: Table) -> list[Row]:
    names = list(table.columns)
    return [dict(zip(names, cells, strict=True)) for cells in zip(*table.columns.values(), strict=True)]


def written_rows(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """Return a CSV file."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode()


def read_languages(paths: Iterable[Path], names: Sequence[str]) -> dict[str, list[tuple[str, bytes]]]:
    """Return, by language (the name of the folder, such as `FR`), names and contents of the files with these names in
    folders and zips.

    A single file outside a zip belongs to the language "".
    """
    found: dict[str, list[tuple[str, bytes]]] = {}
    for path in paths:
        if not path.is_dir() and not begins_as_zip(path):
            found.setdefault("", []).append((path.name, path.read_bytes()))
            continue
        for name, data in iterate_members(path, _LIMITS, InvalidItems):
            place = PurePosixPath(name)
            if place.name in names:
                found.setdefault(place.parent.name.upper(), []).append((place.name, data))
    return found


def written_zip(members: Mapping[str, bytes]) -> bytes:
    """Return a zip whose bytes depend only on its members."""
    content = io.BytesIO()
    with ZipFile(content, "w", ZIP_DEFLATED) as archive:
        for name, data in members.items():
            entry = ZipInfo(name)  # dated 1980, as early as zips can be
            entry.external_attr, entry.create_system, entry.compress_type = 0o644 << 16, 3, ZIP_DEFLATED
            archive.writestr(entry, data, compresslevel=6)
    return content.getvalue()


def needs_training(message: str) -> InvalidItems:
    """Return the error for a baseline that learns but got no training data. message: its sentence."""
    return InvalidItems([Problem("no-training", message)])
