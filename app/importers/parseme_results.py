"""Results of PARSEME tasks: tables in HTML pages and Codabench's exports, parsed to published results."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path

from pydantic import BaseModel, ValidationError

from app.base.times import in_utc
from evergold.scoring.errors import InvalidFile, Problem, Problems, quoted, shorten
from evergold.scoring.slips import number_fault
from evergold.scoring.tables.reading import decode_text
from evergold.scoring.task import Metric
from evergold.scoring.tasks import get_task
from evergold.scoring.tasks.mwe_identification import NAME
from evergold.value_words import did_you_mean, fault_words, listed

#: Limit over all tables of a page.
CELLS_LIMIT = 500_000
#: Tables inside cells of tables inside cells …
DEPTH_LIMIT = 20
_COLSPAN_LIMIT = 1_000
_UNSEEN = ("script", "style", "template")


@dataclass(frozen=True, slots=True)
class HtmlRow:
    """A row, with the line on which it begins; a cell that spans columns is repeated for each of them."""

    line: int
    cells: list[str] = field(default_factory=list)


class TooComplex(ValueError):
    """The page has too many cells or too deeply nested tables for a list of results."""


def read_html_tables(text: str) -> list[list[HtmlRow]]:
    """Return every table of the page in order of appearance; white space in cells is reduced to single spaces.

    Invalid markup is mostly parsed as in browsers. Raises TooComplex.
    """
    parser = _Parser()
    parser.feed(text)
    parser.close()
    return [[row for row in table if row.cells] for table in parser.tables]


@dataclass(slots=True)
class _Open:
    """An unfinished table. cell: the text so far of its unfinished cell."""

    rows: list[HtmlRow]
    cell: list[str] | None = None
    span: int = 1


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[list[HtmlRow]] = []
        self._open: list[_Open] = []
        self._cells = 0
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        if tag in _UNSEEN:
            self._unseen += 1
        elif tag == "table":
            self._begin_table()
        elif self._open and tag == "tr":
            self._end_cell()
            self._open[-1].rows.append(HtmlRow(self.getpos()[0]))
        elif self._open and tag in ("td", "th"):
            self._begin_cell(dict(attrs).get("colspan"))
        elif tag == "br":
            self.handle_data(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNSEEN:
            self._unseen = max(0, self._unseen - 1)
        elif self._open and tag in ("td", "th", "tr", "table"):
            self._end_cell()
            if tag == "table":
                self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1].cell is not None and not self._unseen:
            self._open[-1].cell.append(data)

    def close(self) -> None:
        super().close()
        while self._open:
            self._end_cell()
            self._open.pop()

    def _begin_table(self) -> None:
        if len(self._open) >= DEPTH_LIMIT:
            raise TooComplex(f"tables lie inside each other more than {DEPTH_LIMIT} deep")
        self.tables.append([])
        self._open.append(_Open(self.tables[-1]))

    def _begin_cell(self, colspan: str | None) -> None:
        self._end_cell()
        table = self._open[-1]
        if not table.rows:
            table.rows.append(HtmlRow(self.getpos()[0]))
        digits = (colspan or "").strip()
        span = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 5 else 1
        table.cell, table.span = [], min(max(span, 1), _COLSPAN_LIMIT)

    def _end_cell(self) -> None:
        table = self._open[-1]
        if table.cell is None:
            return
        self._cells += table.span
        if self._cells > CELLS_LIMIT:
            raise TooComplex(f"the tables have more than {CELLS_LIMIT} cells")
        table.rows[-1].cells.extend([" ".join("".join(table.cell).split())] * table.span)
        table.cell, table.span = None, 1


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

    cells: by column number, as written. moment: "" if there is none. place: for messages.
    """

    team: str
    moment: str
    cells: Mapping[int, str]
    line: int | None
    place: str


@dataclass(frozen=True, slots=True)
class ResultTable:
    """A list of results. columns: names of each, most precise first; unread: tables that were not used."""

    columns: Sequence[tuple[str, ...]]
    rows: Sequence[ResultRow]
    unread: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _Named:
    """Unusual headings of the columns with team names and dates; None for the usual ones."""

    team: str | None = None
    date: str | None = None


def read_result_table(path: Path, team: str | None = None, date: str | None = None) -> ResultTable:
    """Return the list of results in a file, whose format is detected by content.

    team, date: unusual headings of these columns. Raises InvalidFile with all problems, OSError if the file cannot be
    opened.
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
    """The parts of `/api/phases/{id}/get_leaderboard/` that are used."""

    tasks: list[_Task]
    submissions: list[_Submission]


def _from_json(text: str, problems: Problems) -> ResultTable | None:
    try:
        board = _Leaderboard.model_validate_json(text)
    except ValidationError as invalid:
        expected = "expected is what /api/phases/<id>/get_leaderboard/ gives"
        for fault in invalid.errors(include_url=False):
            where = ".".join(map(str, fault["loc"])) or "the file"
            problems.add("not-a-leaderboard", f"{where} {fault_words(fault)}; {expected}")
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
        problems.add("too-complex", f"{error}: this is not a list of results")
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
    """Return the index of the row with the headings: the first one near the top with a column of teams."""
    wanted = [team] if team else TEAM_HEADINGS
    found = (at for at, (_, cells) in enumerate(rows[: _ROWS_ABOVE + 1]) if _column_of(cells, wanted) is not None)
    return next(found, None)


def _column_of(headings: Sequence[str], wanted: Sequence[str]) -> int | None:
    lowered = [heading.strip().lower() for heading in headings]
    return next((lowered.index(name.lower()) for name in wanted if name.lower() in lowered), None)


def _names(above: str, heading: str) -> tuple[str, ...]:
    """Return possible names of a column: with the task above or before it, as written, and without the task."""
    exported = _EXPORTED.fullmatch(heading)
    names = [f"{above.strip()}/{heading}"] if above.strip() and heading else []
    names += [f"{exported['task']}/{exported['title']}", heading, exported["title"]] if exported else [heading]
    return tuple(name for name in names if name)


def _without_numbers(rows: Sequence[ResultRow]) -> list[ResultRow]:
    """Return the rows without the number in names such as `owner-submission`, unless names would become ambiguous."""
    names = [re.sub(r"-[0-9]+$", "", row.team.strip()) for row in rows]
    often = Counter(names)
    return [replace(row, team=name) if often[name] == 1 else row for row, name in zip(rows, names, strict=True)]


def _is_position(heading: str, number: int, rows: Sequence[ResultRow]) -> bool:
    """Return True if the column only numbers the rows; a row may have no number."""
    cells = [row.cells.get(number, "").strip() for row in rows]
    is_number = all(cell.isdecimal() or cell.lower() in NO_VALUE for cell in cells)
    return heading.strip() in _POSITION_HEADINGS and is_number and any(cell.isdecimal() for cell in cells)


def _without_ranks(rows: Sequence[ResultRow], columns: int) -> list[ResultRow]:
    """Return the rows without ranks in brackets after scores, for columns in which all cells have them."""
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


_PROBLEMS_SHOWN = 1_000

#: team, date, metric, split, value
HistoricRow = tuple[str, str, str, str, str]
#: Column of a list -> (metric, split), or None if it is ignored on purpose.
Meaning = Mapping[str, tuple[str, str] | None]


@dataclass(frozen=True, slots=True)
class CodabenchResults:
    """Published results from a list. warnings: what was left out."""

    rows: list[HistoricRow]
    warnings: tuple[Problem, ...]


def read_codabench_results(
    path: Path,
    columns: Meaning,
    *,
    task: str = NAME,
    percent: bool = False,
    team: str | None = None,
    date: str | None = None,
    date_format: str | None = None,
) -> CodabenchResults:
    """Return the results in a list: JSON of `/api/phases/{id}/get_leaderboard/`, or a CSV or HTML table, also of
    CodaLab.

    - columns: column of the list (its key, its title, or, if tasks share these, `TASK/key`) -> (metric, split), or None
      for one that is ignored on purpose.
    - percent: whether metrics that pages show in percent are in percent here as well (if there are none: all whose
      maximum is 1). Values with a % sign are always percent.
    - team, date: unusual headings of the columns with team names and dates in a table.
    - date_format: for `strptime`, if dates are not like 2026-01-31.

    Unknown columns give warnings. Raises InvalidFile with all problems, including mapped columns that do not exist, or
    OSError.
    """
    table = read_result_table(path, team, date)
    problems = Problems(_PROBLEMS_SHOWN)
    metrics = get_task(task).metrics
    meanings = _meanings(table, columns, task, problems)
    in_percent = _in_percent({metrics[name] for name, _ in meanings.values() if name in metrics}) if percent else ()
    rows = [
        score for row in table.rows for score in _row_scores(row, meanings, metrics, in_percent, date_format, problems)
    ]
    if not rows and not problems.errors:
        problems.add("no-results", "the list has no score in any of the columns that have a meaning")
    _note_repeated(rows, problems)
    problems.raise_if_any(InvalidFile)
    return CodabenchResults(rows, tuple(problems.warnings))


def _meanings(table: ResultTable, columns: Meaning, task: str, problems: Problems) -> dict[int, tuple[str, str]]:
    """Return the metric and the split that each mapped column holds, by the column's position.

    Report unmapped columns, mappings without a column, unknown metrics, and parts of the list that were not read.
    """
    found: dict[int, tuple[str, str]] = {}
    for number, names in enumerate(table.columns):
        name = next((name for name in names if name in columns), None)
        if name is None:
            if names:
                message = "its meaning is not given (--column): it is left out"
                problems.add("unknown-column", message, column=names[0], severity="warning")
            continue
        meaning = columns[name]
        if meaning is not None:
            found[number] = meaning
    known = [name for names in table.columns for name in names]
    metrics = get_task(task).metrics
    for name, meaning in columns.items():
        if meaning is not None and meaning[0] not in metrics:
            hint = f"{did_you_mean(meaning[0], metrics)}; it has {listed(metrics)}"
            problems.add("unknown-metric", f"{task} has no metric {shorten(meaning[0])}{hint}", column=name)
        if meaning is not None and name not in known:
            hint = (
                f"{did_you_mean(name, known)}; the columns are {listed(names[0] for names in table.columns if names)}"
            )
            problems.add("missing-column", f"the list has no such column{hint}", column=name)
    for what in table.unread:
        problems.add("unread", f"{what} is left out", severity="warning")
    return found


def _row_scores(
    row: ResultRow,
    meanings: Mapping[int, tuple[str, str]],
    metrics: Mapping[str, Metric],
    in_percent: Collection[str],
    date_format: str | None,
    problems: Problems,
) -> Iterator[HistoricRow]:
    """Yield the scores of one result; empty cells are skipped."""
    where = f"{row.place}: " if row.line is None else ""
    team = row.team.strip()
    if not team:
        problems.add("no-team", f"{where}the team has no name", line=row.line)
        return
    date = _date(row, where, date_format, problems)
    for number, (metric, split) in meanings.items():
        text = row.cells.get(number, "").strip()
        if text.lower() in NO_VALUE or metric not in metrics:
            continue
        value = _value(text, metrics[metric], metric in in_percent)
        if isinstance(value, Decimal):
            yield team, date, metric, split, f"{value.normalize():f}"
        else:
            problems.add("bad-value", f"{where}{metric} {split}: {value}", line=row.line, text=text)


def _value(text: str, metric: Metric, in_percent: bool) -> Decimal | str:
    """Return the number in the metric's unit, or a sentence on why it is invalid."""
    written = text.removesuffix("%").strip()
    if fault := number_fault(written):
        return fault
    is_percent = text.endswith("%") or in_percent
    value = Decimal(written) / (100 if is_percent else 1)
    low, high = metric.minimum, metric.maximum
    if (low is not None and value < Decimal(low)) or (high is not None and value > Decimal(high)):
        hint = (
            ""
            if is_percent or not (metric.percent or metric.maximum == 1)
            else "; are the scores of this list percent?"
        )
        return f"{shorten(text)} lies outside the range of {metric.name}{hint}"
    return value


def _in_percent(read: Collection[Metric]) -> frozenset[str]:
    """Return the metrics of a list that are in percent, if the list uses percent."""
    usual = {metric.name for metric in read if metric.percent}
    return frozenset(usual or {metric.name for metric in read if metric.maximum == 1})


def _date(row: ResultRow, where: str, date_format: str | None, problems: Problems) -> str:
    """Return the date in the format of published results: only the day if there is no time zone; "" if it is not a
    date.
    """
    text = row.moment.strip()
    if text.lower() in NO_VALUE:
        return ""
    try:
        # Without a time zone only the day is used, see below.
        moment = datetime.strptime(text, date_format) if date_format else datetime.fromisoformat(text)  # noqa: DTZ007
    except ValueError:
        message = f"{where}{quoted(text)} is not a date like {date_format or '2026-01-31'}: left out"
        problems.add("bad-date", message, line=row.line, severity="warning")
        return ""
    if moment.tzinfo is not None:
        return in_utc(moment)
    if len(text) > len("2026-01-31") and all(warning.code != "no-zone" for warning in problems.warnings):
        problems.add(
            "no-zone", "times have no time zone: only their dates are imported", line=row.line, severity="warning"
        )
    return moment.date().isoformat()


def _note_repeated(rows: Sequence[HistoricRow], problems: Problems) -> None:
    for (team, date, metric, split), count in Counter(row[:4] for row in rows).items():
        if count > 1:
            when = f" of {date}" if date else ""
            message = f"{shorten(team)} has {metric} {split}{when} {count} times"
            hint = "if several tasks have a column of this name, write TASK/column"
            problems.add("duplicate-score", f"{message}; {hint}")
