"""What importers share: reads the authors' CSV files, problems by file and line, and writes ours."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from scoring.errors import Problems
from scoring.tables import Table, read_table


def read_columns(source: Path, name: str, columns: Sequence[str], problems: Problems) -> Table | None:
    """The wanted columns of the file `name` below `source`; None with problems when it is missing or malformed."""
    path = source / name
    if not path.is_file():
        problems.add("missing-file", "the file is not in this folder: is it a checkout of the repository?", file=name)
        return None
    return read_table(path.read_bytes(), columns, problems, others=True, file=name)


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    """Write one CSV file, with its folders; its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    return path


def refuse_existing(target: Path, problems: Problems) -> None:
    """A competition that was imported before may have been edited: it is not written over."""
    path = target / "competition.yaml"
    if path.exists():
        problems.add("exists", "this file exists already; move it away to import anew", file=str(path))
