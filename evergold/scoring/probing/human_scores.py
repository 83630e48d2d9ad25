"""Read human compositionality scores of noun compounds: the authors' spreadsheet unchanged, or a plain CSV of ours.

CSV: `language,compound,compositionality,class`, the class being compositional, partly or idiomatic, or empty.
Spreadsheet (He et al. 2025): columns `language`, `compound`, `CompositionalityTokenSents` and `ClassType` of its first
sheet, with one row per sentence of a compound, always with the same values.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evergold.scoring.archives import Limits, read_single
from evergold.scoring.errors import InvalidFile, InvalidGold, Problems, shorten
from evergold.scoring.gold_values import note_names
from evergold.scoring.optional import load_package
from evergold.scoring.slips import number_fault
from evergold.scoring.tables.reading import read_table
from evergold.scoring.tables.row_problems import RowProblems

CLASSES = ("compositional", "partly", "idiomatic")
CSV_COLUMNS = ("language", "compound", "compositionality", "class")
SHEET_COLUMNS = ("language", "compound", "CompositionalityTokenSents", "ClassType")

_SHEET_CLASSES = {"C": "compositional", "PC": "partly", "NC": "idiomatic"}
_SHEET_LIMITS = Limits(entries=200, total_bytes=64 * 1024 * 1024, member_bytes=32 * 1024 * 1024)
_SHEET_ROWS = 100_000
_SHEET_MARK = "[Content_Types].xml"


@dataclass(frozen=True, slots=True)
class HumanScore:
    """Human compositionality score of a compound (higher: more compositional); its class, one of `CLASSES` or None."""

    compositionality: float
    idiomaticity: str | None


HumanScores = dict[tuple[str, str], HumanScore]

_Row = tuple[int, Sequence[Any]]


def read_human_scores(path: Path, error: type[InvalidFile] = InvalidGold) -> HumanScores:
    """Read the scores by (language, compound); raise `error` with every problem, by line (a spreadsheet's row)."""
    problems = Problems()
    rows = _sheet_rows(path, problems) if is_spreadsheet(path) else _csv_rows(path, problems, error)
    scores = _collect(rows, problems)
    if not scores and not problems.errors:
        problems.add("empty-file", "there is no compound with a human score")
    problems.raise_if_any(error)
    return scores


def is_spreadsheet(path: Path) -> bool:
    """Return whether the file is an .xlsx workbook, by its content."""
    with path.open("rb") as file:
        if file.read(2) != b"PK":
            return False
    try:
        with zipfile.ZipFile(path) as archive:
            return _SHEET_MARK in archive.namelist()
    except zipfile.BadZipFile:
        return False


def _csv_rows(path: Path, problems: Problems, error: type[InvalidFile]) -> list[_Row]:
    _, data = read_single(path, error=error)
    table = read_table(data, CSV_COLUMNS, problems, others=True)
    if table is None:
        return []
    cells = zip(*(table[column] for column in CSV_COLUMNS), strict=True)
    return list(zip(table.lines, cells, strict=True))


def _sheet_rows(path: Path, problems: Problems) -> list[_Row]:
    """Return the wanted columns of the first sheet; empty, with a problem, if it is not such a sheet."""
    data = path.read_bytes()
    if not _is_bearable(data, problems):
        return []
    openpyxl = load_package("openpyxl")
    try:
        workbook = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        sheet = workbook.worksheets[0]
        found = list(sheet.iter_rows(values_only=True, max_row=_SHEET_ROWS))
        workbook.close()
    except (ValueError, KeyError, IndexError, zipfile.BadZipFile, SyntaxError) as fault:  # SyntaxError: ParseError
        problems.add("damaged-file", f"the spreadsheet cannot be read: {shorten(str(fault))}")
        return []
    header = list(found[0]) if found else []
    for column in SHEET_COLUMNS:
        if header.count(column) != 1:
            problems.add("wrong-columns", f"the first row must contain the column {column} once", line=1)
    if problems.errors:
        return []
    places = [header.index(column) for column in SHEET_COLUMNS]
    return [
        (line, [row[place] for place in places])
        for line, row in enumerate(found[1:], start=2)
        if any(cell is not None for cell in row)
    ]


def _is_bearable(data: bytes, problems: Problems) -> bool:
    """Return whether the unpacked workbook is small enough to be parsed in memory."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            sizes = [member.file_size for member in archive.infolist()]
    except zipfile.BadZipFile as fault:
        problems.add("damaged-file", f"the spreadsheet cannot be read: {shorten(str(fault))}")
        return False
    limits = _SHEET_LIMITS
    if len(sizes) > limits.entries or sum(sizes) > limits.total_bytes or max(sizes) > limits.member_bytes:
        problems.add("file-too-large", "the spreadsheet unpacks to more than can be read: send the scores as CSV")
        return False
    return True


def _collect(rows: Iterable[_Row], problems: Problems) -> HumanScores:
    scores: HumanScores = {}
    first_lines: dict[tuple[str, str], int] = {}
    for line, (language, compound, value, name) in rows:
        key = str(language or "").strip(), str(compound or "").strip()
        if not all(key):
            problems.add("empty-cell", "language and compound must not be empty", line=line)
            continue
        score = _score(value, name, line, problems)
        if score is None:
            continue
        if scores.setdefault(key, score) != score:
            where = f"first on line {first_lines[key]}"
            problems.add(
                "conflict", f"{shorten(key[1])} ({key[0]}) has another score or class here, {where}", line=line
            )
        first_lines.setdefault(key, line)
    for language in dict.fromkeys(language for language, _ in scores):
        faults = RowProblems()
        note_names(((first_lines[key], key[1]) for key in scores if key[0] == language), "compound", faults)
        faults.report(problems)
    return scores


def _score(value: Any, name: Any, line: int, problems: Problems) -> HumanScore | None:
    try:
        compositionality = float(value)
    except (TypeError, ValueError):
        compositionality = math.nan
    label = str(name or "").strip()
    idiomaticity = _SHEET_CLASSES.get(label, label) or None
    written_fault = number_fault(value) if isinstance(value, str) else None
    if written_fault or not math.isfinite(compositionality):
        fault = written_fault or "it is not a finite number"
        problems.add("not-a-number", f"the compositionality score: {fault}", line=line, text=str(value))
        return None
    if idiomaticity is not None and idiomaticity not in CLASSES:
        expected = f"{', '.join(CLASSES)} (or {', '.join(_SHEET_CLASSES)}), or nothing"
        problems.add("unknown-class", f"the class must be {expected}; it is {shorten(label)}", line=line)
        return None
    return HumanScore(compositionality, idiomaticity)
