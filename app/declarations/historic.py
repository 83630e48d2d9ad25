"""Published results as CSV (`team,metric,split,value`, one score per line), for checks and for the database.

Rows of the same team and date are one result. Values are as published, but fractions if the task's scores are
fractions. Optional columns are `date`, `method` (a line shown next to the team's name), the links `paper` and `code`,
and `rank`, the rank in the publication.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.base.times import parse_moment
from app.cards.form import link_fault
from app.declarations.model import CompetitionDeclaration
from evergold.scoring.characters import can_be_name
from evergold.scoring.errors import InvalidFile, Problems, quoted, shorten
from evergold.scoring.numerals import finite_number
from evergold.scoring.slips import number_fault
from evergold.scoring.tables.reading import Table, TableLimits, read_table
from evergold.scoring.task import AnyTask, Column, Metric, read_options
from evergold.scoring.tasks import TASKS
from evergold.value_words import did_you_mean, listed

COLUMNS = ("team", "date", "metric", "split", "value")
#: Columns that a file must have.
REQUIRED = tuple(name for name in COLUMNS if name != "date")
#: Optional columns: on any line of a result, the same wherever given.
SAID_COLUMNS = ("method", "paper", "code", "rank")
#: A published rank has no more digits.
RANK_DIGITS = 4
TEAM_CHARACTERS = 200
METHOD_CHARACTERS = 200
#: Limits for all files of a competition together (a file counts each time it is named), since every edit compares them
#: with the stored results.
MOST_RESULTS, MOST_SCORES = 2_000, 20_000
_LIMITS = TableLimits(rows=MOST_SCORES)
_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Published:
    """One published result. scores: values by "metric split"; rank: in the publication."""

    team: str
    achieved_at: datetime | None
    scores: dict[str, float]
    method: str = ""
    paper: str = ""
    code: str = ""
    rank: int | None = None


def read_historic(
    path: Path, task: AnyTask, offered: Iterable[Column], metrics: Mapping[str, Metric] | None = None
) -> list[Published]:
    """Return the results in file order. Raises InvalidFile with every problem, OSError if it cannot be opened.

    offered: the scores of the task in the phase whose board shows the results.
    metrics: of the task, by name; None: those of its type.
    """
    with path.open("rb") as file:
        data = file.read(_BYTES + 1)
    problems = Problems()
    if len(data) > _BYTES:
        problems.add("too-large", f"the file is larger than {_BYTES // 2**20} MiB")
    optional = ("date", *SAID_COLUMNS)
    table = None if problems.errors else read_table(data, REQUIRED, problems, optional=optional, limits=_LIMITS)
    results = results_of(table, task, list(offered), problems, metrics) if table is not None else []
    problems.raise_if_any(InvalidFile)
    return results


#: Results by board, for each of its files in their order.
PublishedResults = Mapping[str, Sequence[Sequence[Published]]]


def read_published(declared: CompetitionDeclaration, folder: Path) -> PublishedResults:
    """Return the published results of a checked declaration. folder: with its files."""
    found = {}
    for board in declared.boards:
        metrics = declared_metrics(declared, board.task)
        places = ((one, offered_scores(declared, board.task, one.phase)) for one in board.historic)
        found[board.name] = [read_historic(folder / one.file, *offered, metrics) for one, offered in places]
    return found


def offered_scores(
    declared: CompetitionDeclaration, task: str, phase: str | None = None
) -> tuple[AnyTask, tuple[Column, ...]]:
    """Return the task type, and all scores of the task in one phase, or in any."""
    found = next(one for one in declared.tasks if one.name == task)
    type_ = TASKS[found.type]
    declarations = [one.tasks[task] for one in declared.phases if task in one.tasks and phase in (None, one.name)]
    options = [{**found.options, **one.options} for one in declarations] or [found.options]
    return type_, tuple(column for one in options for column in type_.columns(read_options(type_, one)))


def declared_metrics(declared: CompetitionDeclaration, task: str) -> Mapping[str, Metric]:
    """Return the metrics of the task, by name."""
    found = next(one for one in declared.tasks if one.name == task)
    type_ = TASKS[found.type]
    return type_.metrics_of(read_options(type_, found.options))


def published_document(results: PublishedResults) -> dict[str, Any]:
    """Return the results as a JSON document; `published_from` parses it."""
    return {
        board: [
            [{**asdict(one), "achieved_at": one.achieved_at.isoformat() if one.achieved_at else None} for one in file]
            for file in files
        ]
        for board, files in results.items()
    }


def published_from(document: Mapping[str, Any]) -> PublishedResults:
    """Return the results in a document from `published_document`."""
    return {
        board: [
            [Published(**{**one, "achieved_at": _read_moment(one["achieved_at"])}) for one in file] for file in files
        ]
        for board, files in document.items()
    }


def _read_moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def results_of(
    table: Table,
    task: AnyTask,
    offered: Sequence[Column],
    problems: Problems,
    metrics: Mapping[str, Metric] | None = None,
) -> list[Published]:
    """Return the results in a table, and add its problems by line; return an empty list if `problems` has errors.

    metrics: of the task with its options; default: those of its type.
    """
    known = metrics or task.metrics
    results: dict[tuple[str, str], Published] = {}
    first: dict[tuple[str, ...], int] = {}
    dates = _dates(table)
    for line, date, *cells in zip(table.lines, dates, *(table[name] for name in REQUIRED), strict=True):
        team, metric, split, value = (cell.strip() for cell in cells)
        if before := first.get((team, date, metric, split)):
            problems.add("duplicate-row", f"line {before} already has this score of this team on this date", line=line)
            continue
        first[team, date, metric, split] = line
        for column, fault in (
            ("team", _team_fault(team)),
            ("metric", score_fault(metric, split, task, offered)),
            ("value", _value_fault(value, metric, known.get(metric))),
        ):
            if fault:
                problems.add("bad-value", fault, line=line, column=column)
        achieved_at = _moment(date, line, problems)
        if not problems.errors:
            result = results.setdefault((team, date), Published(team, achieved_at, {}))
            result.scores[f"{metric} {split}"] = float(value)
    score = _parse_score(table, problems)
    return [] if problems.errors else [_with_scores(result, score[key]) for key, result in results.items()]


def _dates(table: Table) -> list[str]:
    """Return the date of each line; "" if there is none."""
    return [cell.strip() for cell in table["date"]] if "date" in table.columns else [""] * len(table.lines)


def _with_scores(result: Published, row: Mapping[str, str]) -> Published:
    method, paper, code, rank = (row.get(name, "") for name in SAID_COLUMNS)
    return replace(result, method=method, paper=paper, code=code, rank=int(rank) if rank else None)


def _parse_score(table: Table, problems: Problems) -> dict[tuple[str, str], dict[str, str]]:
    """Return the optional values of each result, by team and date."""
    scores: defaultdict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for name in (name for name in SAID_COLUMNS if name in table.columns):
        for line, team, date, cell in zip(table.lines, table["team"], _dates(table), table[name], strict=True):
            text, result = cell.strip(), scores[team.strip(), date]
            fault = _score_error(name, text)
            if text and result.setdefault(name, text) != text:
                fault = f"another line of this result has {shorten(result[name])}"
            if fault:
                problems.add("bad-value", fault, line=line, column=name)
    return scores


def _score_error(name: str, text: str) -> str | None:
    if name == "rank":
        is_rank = not text or (text.isascii() and text.isdecimal() and len(text) <= RANK_DIGITS and int(text) > 0)
        return None if is_rank else "write a rank as a whole number from 1, or leave it empty"
    if name != "method":
        return link_fault(text) or None
    if text and (not can_be_name(text) or len(text) > METHOD_CHARACTERS):
        return f"a method must be one line of at most {METHOD_CHARACTERS} characters"
    return None


def _team_fault(team: str) -> str | None:
    if not can_be_name(team) or len(team) > TEAM_CHARACTERS:
        return f"a team needs a printable name of 1 to {TEAM_CHARACTERS} characters"
    return None


def score_fault(metric: str, split: str, task: AnyTask, offered: Iterable[Column]) -> str | None:
    """Return why a task has no such score, with the nearest and the existing ones; None if it has one."""
    splits: dict[str, list[str]] = {}
    for column in offered:
        splits.setdefault(column.metric, []).append(column.split)
    if metric not in splits:
        return f"{task.name} has no metric '{shorten(metric)}'{did_you_mean(metric, splits)}; it has {listed(splits)}"
    if split in splits[metric]:
        return None
    hint = _near_split(split, splits[metric])
    return f"{task.name} has no split '{shorten(split)}' of {metric} here{hint}; it has {listed(splits[metric])}"


def _near_split(split: str, known: list[str]) -> str:
    """Return the suggestion of a very similar split; "" if there is none."""
    same = next((name for name in known if _loosely(name) == _loosely(split)), None)
    return f"; did you mean '{same}'?" if same else ""


def _loosely(split: str) -> str:
    return "".join(character for character in split.lower() if character.isalnum())


def _value_fault(text: str, metric: str, known: Metric | None) -> str | None:
    number = finite_number(text)
    if number is None:
        return number_fault(text)
    low = known.minimum if known else None
    high = known.maximum if known else None
    if (low is not None and number < low) or (high is not None and number > high):
        hint = "; write percent as fractions" if high == 1 and 1 < number <= 100 else ""
        return f"{shorten(text)} lies outside the range of {metric}, {_bound(low)} to {_bound(high)}{hint}"
    return None


def _bound(number: float | None) -> str:
    return "any" if number is None else f"{number:g}"


def _moment(text: str, line: int, problems: Problems) -> datetime | None:
    """Return the date or time in a cell; None if it is empty. A date alone is enough for a published result."""
    if not text:
        return None
    try:
        if len(text) == len("2022-01-31"):
            return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
        return parse_moment(text)
    except ValueError:
        message = f"{quoted(text)} is not a date: write 2022-01-31, or 2022-01-31 19:45 UTC, or leave it empty"
        problems.add("bad-value", message, line=line, column="date")
        return None
