"""Result lists of PARSEME's shared tasks on Codabench as historic rows.

Codabench lets organisers name their columns, so the caller specifies which score each column is; `result_tables` finds
the list in a file. Results from papers are in `parseme_published`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from app.base.text import did_you_mean, listed
from app.base.times import in_utc
from app.importers.result_tables import NO_VALUE, ResultRow, ResultTable, read_result_table
from evergold.scoring.errors import InvalidFile, Problem, Problems, shorten
from evergold.scoring.numerals import finite_number
from evergold.scoring.task import Metric
from evergold.scoring.tasks import get_task
from evergold.scoring.tasks.mwe_identification import NAME

_PROBLEMS_SHOWN = 1_000

#: team, date, metric, split, value
HistoricRow = tuple[str, str, str, str, str]
#: Column of a list -> (metric, split), or None if it is ignored on purpose.
Meaning = Mapping[str, tuple[str, str] | None]


@dataclass(frozen=True, slots=True)
class CodabenchResults:
    """Historic rows of a list; `warnings` explain what was left out."""

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
    """Read a result list: JSON of `/api/phases/{id}/get_leaderboard/`, or a CSV or HTML table, also of CodaLab.

    - columns: column of the list (its key, its title, or, if tasks share these, `TASK/key`) -> (metric, split), or None
      for one that is ignored on purpose.
    - percent: whether metrics that pages show in percent are in percent here as well (if there are none: all whose
      maximum is 1). Values with a % sign are always percent.
    - team, date: unusual headings of the columns with team names and dates in a table.
    - date_format: for `strptime`, if dates are not like 2026-01-31.

    Unknown columns lead to warnings. Raises InvalidFile with every problem, also for a mapped column that does not
    exist, or OSError.
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
    """Return the score of each column; note unmapped columns, and mappings without a column."""
    found: dict[int, tuple[str, str]] = {}
    for number, names in enumerate(table.columns):
        name = next((name for name in names if name in columns), None)
        if name is None:
            if names:
                message = "nobody said what it means: it is left out"
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
    """Return the number in the metric's unit, or a description of the fault."""
    written = text.removesuffix("%").strip()
    if finite_number(written) is None:
        return f"{shorten(text)!r} is not a number"
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
    """Return the metrics of a list that are in percent if it uses percent."""
    usual = {metric.name for metric in read if metric.percent}
    return frozenset(usual or {metric.name for metric in read if metric.maximum == 1})


def _date(row: ResultRow, where: str, date_format: str | None, problems: Problems) -> str:
    """Format the moment for historic files: only the day if there is no time zone, empty if it is not a date."""
    text = row.moment.strip()
    if text.lower() in NO_VALUE:
        return ""
    try:
        # Without a time zone only the day is used, see below.
        moment = datetime.strptime(text, date_format) if date_format else datetime.fromisoformat(text)  # noqa: DTZ007
    except ValueError:
        message = f"{where}{shorten(text)!r} is not a date like {date_format or '2026-01-31'}: left out"
        problems.add("bad-date", message, line=row.line, severity="warning")
        return ""
    if moment.tzinfo is not None:
        return in_utc(moment)
    if len(text) > len("2026-01-31") and all(warning.code != "no-zone" for warning in problems.warnings):
        problems.add("no-zone", "times have no zone: only their days are kept", line=row.line, severity="warning")
    return moment.date().isoformat()


def _note_repeated(rows: Sequence[HistoricRow], problems: Problems) -> None:
    for (team, date, metric, split), count in Counter(row[:4] for row in rows).items():
        if count > 1:
            when = f" of {date}" if date else ""
            message = f"{shorten(team)} has {metric} {split}{when} {count} times"
            hint = "where tasks have columns of one name, write TASK/column"
            problems.add("duplicate-score", f"{message}; {hint}")
