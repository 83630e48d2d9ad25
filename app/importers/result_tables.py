"""Result lists of CodaLab and Codabench as rows of text: CSV, tables of HTML pages, the JSON of Codabench's API.

`parseme_results` interprets columns and values.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel, ValidationError

from app.base.text import listed
from app.importers.html_tables import TooComplex, read_html_tables
from evergold.scoring.errors import InvalidFile, Problems, shorten
from evergold.scoring.tables import decode_text

FILE_LIMIT_BYTES = 8 * 1024 * 1024
#: Headings, in any case, of the column with team names; the first match counts.
TEAM_HEADINGS = ("team", "participant", "username", "user", "owner", "system")
DATE_HEADINGS = ("date", "created when", "created_when", "submitted", "submission date")
#: Headings of a column that only numbers rows; empty in CodaLab's lists.
_POSITION_HEADINGS = ("", "#")
#: Markers of a missing value.
NO_VALUE = frozenset(("", "-", "–", "—", "n/a", "na", "none", "null"))
#: A score with its rank on CodaLab's pages: `0.9385 (1)`.
_WITH_RANK = re.compile(r"(?P<score>[^()\s]+)\s*\([0-9]+\)")
#: Maximum number of rows above the headings, such as names of tasks.
_ROWS_ABOVE = 5
#: Headings in the CSV export of Codabench, `Task (its number)-Title`, and a column that only this export has.
_EXPORTED = re.compile(r"(?P<task>.+)\([0-9]+\)-(?P<title>.+)")
_EXPORT_MARK = "fact_sheet_answers"


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One result.

    `cells` are by column number, as written; `moment` is "" if there is none; `place` is for messages.
    """

    team: str
    moment: str
    cells: Mapping[int, str]
    line: int | None
    place: str


@dataclass(frozen=True, slots=True)
class ResultTable:
    """A list of results. `columns` are the names of each, the most precise first; `unread` is what was not used."""

    columns: Sequence[tuple[str, ...]]
    rows: Sequence[ResultRow]
    unread: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _Named:
    """Unusual headings of team names and dates; None to find the usual ones."""

    team: str | None = None
    date: str | None = None


def read_result_table(path: Path, team: str | None = None, date: str | None = None) -> ResultTable:
    """Return the list in a file, whose format is detected by content. team, date: unusual headings of these columns.

    Raises InvalidFile with every problem, OSError if the file cannot be opened.
    """
    problems = Problems()
    with path.open("rb") as file:
        data = file.read(FILE_LIMIT_BYTES + 1)
    if len(data) > FILE_LIMIT_BYTES:
        problems.add("too-large", f"the file is larger than {FILE_LIMIT_BYTES // 2**20} MiB")
    text = None if problems.errors else decode_text(data, problems)
    table = _read(text, _Named(team, date), problems) if text is not None else None
    problems.raise_if_any(InvalidFile)
    return table or ResultTable((), ())


def _read(text: str, named: _Named, problems: Problems) -> ResultTable | None:
    start = text.lstrip()[:1]
    if start in ("{", "["):
        return _from_json(text, problems)
    return _from_html(text, named, problems) if start == "<" else _from_csv(text, named, problems)


# ---------------------------------------------------------------------------------------------------------------- JSON


class _Column(BaseModel):
    key: str
    title: str = ""


class _Task(BaseModel):
    id: int
    name: str = ""
    columns: list[_Column]


class _Score(BaseModel):
    column_key: str
    score: str | int | float | None = None
    task_id: int | None = None


class _Submission(BaseModel):
    owner: str
    scores: list[_Score]
    created_when: str | None = None


class _Leaderboard(BaseModel):
    """The part of `/api/phases/{id}/get_leaderboard/` that is needed."""

    tasks: list[_Task]
    submissions: list[_Submission]


def _from_json(text: str, problems: Problems) -> ResultTable | None:
    try:
        board = _Leaderboard.model_validate_json(text)
    except ValidationError as invalid:
        expected = "expected is what /api/phases/<id>/get_leaderboard/ gives"
        for fault in invalid.errors(include_url=False):
            where = ".".join(map(str, fault["loc"])) or "the file"
            problems.add("not-a-leaderboard", f"{where}: {fault['msg']}; {expected}")
        return None
    columns: dict[tuple[int | None, str], tuple[str, ...]] = {}
    for task in board.tasks:
        for column in task.columns:
            names = tuple(dict.fromkeys(name for name in (column.key, column.title) if name))
            columns[task.id, column.key] = (*(f"{task.name}/{name}" for name in names if task.name), *names)
    for score in (score for submission in board.submissions for score in submission.scores):
        columns.setdefault((score.task_id, score.column_key), (score.column_key,))
    numbers = {key: number for number, key in enumerate(columns)}
    rows = []
    for place, submission in enumerate(board.submissions, start=1):
        cells: dict[int, str] = {}
        for score in submission.scores:
            number = numbers[score.task_id, score.column_key]
            if number in cells:
                message = f"submission {place} has two scores for {shorten(score.column_key)}"
                problems.add("duplicate-score", message)
            cells[number] = "" if score.score is None else str(score.score)
        rows.append(ResultRow(submission.owner, submission.created_when or "", cells, None, f"submission {place}"))
    return ResultTable(list(columns.values()), rows)


# -------------------------------------------------------------------------------------------------------------- tables

#: Line and cells of a row.
_Row = tuple[int, Sequence[str]]


def _from_csv(text: str, named: _Named, problems: Problems) -> ResultTable | None:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[_Row] = []
    try:
        before = 0
        for cells in reader:
            rows.append((before + 1, cells))
            before = reader.line_num
    except csv.Error as error:
        problems.add("not-csv", f"the table cannot be read: {error}", line=reader.line_num)
        return None
    rows = [row for row in rows if any(cell.strip() for cell in row[1])]
    return _from_rows(rows, named, problems)


def _from_html(text: str, named: _Named, problems: Problems) -> ResultTable | None:
    """Return the first table with a column of teams; the others are listed as unread."""
    try:
        tables = [[(row.line, row.cells) for row in table] for table in read_html_tables(text)]
    except TooComplex as error:
        problems.add("too-complex", f"{error}: this is no list of results")
        return None
    tables = [rows for rows in tables if rows]
    lists = [rows for rows in tables if _headings_at(rows, named.team) is not None]
    if not tables:
        problems.add("no-table", "there is no table on this page; a page that is built by scripts has none when saved")
        return None
    chosen = lists[0] if lists else tables[0]
    table = _from_rows(chosen, named, problems)
    others = [f"the table on line {rows[0][0]}" for rows in tables if rows is not chosen]
    return None if table is None else replace(table, unread=others)


def _from_rows(rows: Sequence[_Row], named: _Named, problems: Problems) -> ResultTable | None:
    team, at = named.team, _headings_at(rows, named.team)
    if at is None:
        wanted = f"no column is called {shorten(team)}" if team else f"none of {', '.join(TEAM_HEADINGS)} is a heading"
        found = listed(shorten(cell) for cell in rows[0][1]) if rows else "none"
        message = f"it is unclear which column has the teams' names: {wanted}; the headings are {found}"
        problems.add("no-team", message, line=rows[0][0] if rows else None)
        return None
    headings = [cell.strip() for cell in rows[at][1]]
    teams = _column_of(headings, [team] if team else TEAM_HEADINGS)
    moments = _column_of(headings, [named.date] if named.date else DATE_HEADINGS)
    if named.date and moments is None:
        message = f"no column is called {shorten(named.date)}; the headings are {listed(map(shorten, headings))}"
        problems.add("no-date", message, line=rows[at][0])
    above = rows[at - 1][1] if at and len(rows[at - 1][1]) == len(headings) else [""] * len(headings)
    results = []
    for line, cells in rows[at + 1 :]:
        if len(cells) != len(headings):
            message = f"{_fields(len(cells))}, the headings are {len(headings)}"
            problems.add("wrong-field-count", message, line=line)
            continue
        values = {number: cell for number, cell in enumerate(cells) if number not in (teams, moments)}
        moment = cells[moments] if moments is not None else ""
        results.append(ResultRow(cells[teams or 0], moment, values, line, f"line {line}"))
    if _EXPORT_MARK in headings:
        results = _without_numbers(results)
    positions = {number for number, name in enumerate(headings) if _is_position(name, number, results)}
    results = _without_ranks(results, len(headings))
    names = [
        () if number in {teams, moments, *positions} else _names(*pair) or (f"column {number + 1}",)
        for number, pair in enumerate(zip(above, headings, strict=True))
    ]
    return ResultTable(names, results)


def _headings_at(rows: Sequence[_Row], team: str | None) -> int | None:
    """Return the row with the headings: the first one near the top that has a column of teams."""
    wanted = [team] if team else TEAM_HEADINGS
    found = (at for at, (_, cells) in enumerate(rows[: _ROWS_ABOVE + 1]) if _column_of(cells, wanted) is not None)
    return next(found, None)


def _column_of(headings: Sequence[str], wanted: Sequence[str]) -> int | None:
    lowered = [heading.strip().lower() for heading in headings]
    return next((lowered.index(name.lower()) for name in wanted if name.lower() in lowered), None)


def _names(above: str, heading: str) -> tuple[str, ...]:
    """Return possible names of a column: with the task above or before it, as written, and alone."""
    exported = _EXPORTED.fullmatch(heading)
    names = [f"{above.strip()}/{heading}"] if above.strip() and heading else []
    names += [f"{exported['task']}/{exported['title']}", heading, exported["title"]] if exported else [heading]
    return tuple(name for name in names if name)


def _without_numbers(rows: Sequence[ResultRow]) -> list[ResultRow]:
    """Remove the number from `owner-submission` in the export, unless names would become ambiguous."""
    names = [re.sub(r"-[0-9]+$", "", row.team.strip()) for row in rows]
    often = Counter(names)
    return [replace(row, team=name) if often[name] == 1 else row for row, name in zip(rows, names, strict=True)]


def _is_position(heading: str, number: int, rows: Sequence[ResultRow]) -> bool:
    """True if the column only numbers the rows; a row may have no number."""
    cells = [row.cells.get(number, "").strip() for row in rows]
    is_number = all(cell.isdecimal() or cell.lower() in NO_VALUE for cell in cells)
    return heading.strip() in _POSITION_HEADINGS and is_number and any(cell.isdecimal() for cell in cells)


def _without_ranks(rows: Sequence[ResultRow], columns: int) -> list[ResultRow]:
    """Remove ranks in brackets after scores, in columns where all cells have them."""
    found = list(rows)
    for number in range(columns):
        cells = [row.cells.get(number, "").strip() for row in rows]
        matches = [_WITH_RANK.fullmatch(cell) for cell in cells if cell.lower() not in NO_VALUE]
        if matches and all(matches):
            alone = [match["score"] if (match := _WITH_RANK.fullmatch(cell)) else cell for cell in cells]
            found = [replace(row, cells={**row.cells, number: cell}) for row, cell in zip(found, alone, strict=True)]
    return found


def _fields(count: int) -> str:
    return f"{count} field{'' if count == 1 else 's'}"
