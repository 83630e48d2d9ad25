"""Published results of SemEval-2022 Task 2: the paper's tables, then the rest of the official lists.

Systems have their names in the paper, and additionally their CodaLab names; listed results have the date of their
submission. Systems that are not in the paper have their CodaLab names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from app.base.times import in_utc
from app.declarations.historic import COLUMNS, METHOD_CHARACTERS, SAID_COLUMNS
from app.importers.semeval2022_layout import BOARDS, LANGUAGE_TITLES, METRICS, RESULTS, BoardPart
from app.importers.writing import read_columns, read_published
from evergold.scoring.errors import Problems
from evergold.value_words import listed

PUBLISHED = "published_semeval2022.csv"
METHODS = "methods_semeval2022.csv"
SYSTEMS = "systems_semeval2022.csv"
#: First day of the workshop, for results without a date in the lists.
PUBLISHED_ON = "2022-07-14"
BASELINE = "baseline"
HEADER = (*COLUMNS, *SAID_COLUMNS)

#: Columns as in HEADER.
HistoricRow = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Listed:
    """A line of an official list. scores: by split; rank: "" for a dash."""

    moment: str
    scores: Mapping[str, str]
    rank: str


@dataclass(frozen=True, slots=True)
class System:
    """A system of the paper. handle: its name on CodaLab; note: distinguishes it from others."""

    handle: str
    paper: str
    code: str
    note: str


def historic_file(board: str, *, is_listed: bool = False, is_ranked: bool = True) -> str:
    """Return the path of a board's results below the competition's folder. is_listed: of results only in the lists."""
    return f"historic/{board}{'-codalab' if is_listed else ''}{'' if is_ranked else '-unranked'}.csv"


def read_results(
    source: Path, languages: Mapping[str, Sequence[str]], problems: Problems
) -> dict[str, list[HistoricRow]]:
    """Return the rows of each file of published results.

    languages: of the test set, by task; a task without languages has no boards, and values of other languages are
    omitted.
    """
    files: defaultdict[str, list[HistoricRow]] = defaultdict(list)
    systems = {row.pop("team"): System(**row) for row in read_published(SYSTEMS)}
    methods = {(row["board"], row["team"]): row["method"] for row in read_published(METHODS)}
    for board in (board for board in BOARDS if board.task in languages):
        lists = _read_list(source, board, problems)
        for team, rows in _paper_rows(board, languages[board.task]).items():
            result = lists.pop(systems[team].handle, None)
            name = f"Baseline ({systems[team].note})" if team == BASELINE else team
            system, rank = systems[team], rows[0]["rank"]
            method = _method(team, system, methods.get((board.setting, team), ""), _best_in(board, team))
            details = method, system.paper, system.code, rank if rank.isdecimal() else ""
            file = historic_file(board.name, is_ranked=rank != "unranked")
            date = result.moment if result else PUBLISHED_ON
            files[file] += [(name, date, row["metric"], row["split"], row["value"], *details) for row in rows]
        for handle, result in lists.items():
            file = historic_file(board.name, is_listed=True, is_ranked=bool(result.rank))
            files[file] += [
                (handle, result.moment, METRICS[board.task], split, value, "", "", "", result.rank)
                for split, value in result.scores.items()
            ]
    return dict(files)


# ----------------------------------------------------------------------------------------------------------- the paper


def _paper_rows(board: BoardPart, languages: Iterable[str]) -> dict[str, list[dict[str, str]]]:
    """Return the printed values of each system on this board, for the languages of the test set."""
    known = {"all", *languages}
    rows: defaultdict[str, list[dict[str, str]]] = defaultdict(list)
    for row in _printed(board):
        if row["split"].split("/")[1] in known:
            rows[row["team"]].append(row)
    return dict(rows)


def _printed(board: BoardPart) -> list[dict[str, str]]:
    return [row for row in read_published(PUBLISHED) if row["board"] == board.setting]


def _best_in(board: BoardPart, team: str) -> list[str]:
    """Return the languages or kinds of pairs in which this system is the best of the paper."""
    best: dict[str, float] = {}
    for row in _printed(board):
        best[row["split"]] = max(best.get(row["split"], -1.0), float(row["value"]))
    return [
        _KINDS[row["split"].removeprefix(f"{board.setting}/")]
        for row in _printed(board)
        if row["team"] == team
        and row["split"].removeprefix(f"{board.setting}/") in _KINDS
        and float(row["value"]) == best[row["split"]]
    ]


def _method(team: str, system: System, line: str, best_in: Sequence[str]) -> str:
    """Return a method such as `dual encoder of expression and context; CodaLab: sted97; best in Portuguese`.

    line: the paper's description, shortened. Additions to the method are left out if the text would be too long.
    """
    parts = [
        line,
        f"CodaLab: {system.handle}" if system.handle not in ("", team) else "",
        "" if team == BASELINE else system.note,
        f"best in {listed(best_in)}" if best_in else "",
    ]
    known = [part for part in parts if part]
    while len("; ".join(known)) > METHOD_CHARACTERS:
        known.pop()
    return "; ".join(known)


_KINDS = {**LANGUAGE_TITLES, "all/idiom": "pairs with idioms", "all/sts": "STS pairs"}


# ------------------------------------------------------------------------------------------------- the official lists


def _read_list(source: Path, board: BoardPart, problems: Problems) -> dict[str, Listed]:
    """Return a board's listed results by CodaLab name; empty if the checkout lacks the list."""
    name = f"{RESULTS}/{board.file}"
    if not (source / name).is_file():
        return {}
    table = read_columns(source, name, ["", "User", *board.scores, "Date"], problems)
    found: dict[str, Listed] = {}
    for number, line in enumerate(table.lines if table is not None else ()):
        row = {column: cells[number].strip() for column, cells in (table.columns if table is not None else {}).items()}
        if row["User"] in found:
            problems.add("duplicate-row", "this user is listed twice", file=name, line=line, text=row["User"])
        scores = {f"{board.setting}/{split}": row[column] for column, split in board.scores.items()}
        rank = row[""] if row[""].isdecimal() else ""
        found[row["User"]] = Listed(_moment(row["Date"], name, line, problems), scores, rank)
    return found


def _moment(text: str, name: str, line: int, problems: Problems) -> str:
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        problems.add("bad-value", "this is not a moment with an offset", file=name, line=line, column="Date", text=text)
        return ""
    return in_utc(moment)
