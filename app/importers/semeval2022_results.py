"""Published results of SemEval-2022 Task 2 as historic rows: the paper's tables, and who is left of the official lists.

A system stands under the name that the paper gives it, its name on CodaLab beside; the date of a listed result is that
of the submission. Systems that the paper does not have stand under their names on CodaLab.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from app.base.text import listed
from app.base.times import in_utc
from app.declarations.historic import COLUMNS, SAID_COLUMNS
from app.importers.published import read_published
from app.importers.semeval2022_layout import BOARDS, LANGUAGE_TITLES, METRICS, RESULTS, BoardPart
from app.importers.writing import read_columns
from evergold.scoring.errors import Problems

PUBLISHED = "published_semeval2022.csv"
SYSTEMS = "systems_semeval2022.csv"
#: The first day of the workshop, borne by what no list dates.
PUBLISHED_ON = "2022-07-14"
BASELINE = "baseline"
HEADER = (*COLUMNS, *SAID_COLUMNS)

#: As HEADER has it.
HistoricRow = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Listed:
    """A line of an official list; scores: by split; is_ranked: some have a dash for a rank."""

    moment: str
    scores: Mapping[str, str]
    is_ranked: bool


@dataclass(frozen=True, slots=True)
class System:
    """What is known of a system of the paper. handle: on CodaLab; note: what sets it apart from the others."""

    handle: str
    paper: str
    code: str
    note: str


def historic_file(board: str, *, is_listed: bool = False, is_ranked: bool = True) -> str:
    """Results of a board, below the competition's folder; is_listed: they are in the lists alone."""
    return f"historic/{board}{'-codalab' if is_listed else ''}{'' if is_ranked else '-unranked'}.csv"


def read_results(
    source: Path, languages: Mapping[str, Sequence[str]], problems: Problems
) -> dict[str, list[HistoricRow]]:
    """The rows of each historic file.

    languages: of the test set, by task; a task without them has no boards to stand on, and values of other languages
    are left out.
    """
    files: defaultdict[str, list[HistoricRow]] = defaultdict(list)
    systems = {row.pop("team"): System(**row) for row in read_published(SYSTEMS)}
    for board in (board for board in BOARDS if board.task in languages):
        lists = _read_list(source, board, problems)
        for team, rows in _paper_rows(board, languages[board.task]).items():
            result = lists.pop(systems[team].handle, None)
            name = f"Baseline ({systems[team].note})" if team == BASELINE else team
            said = _method(team, systems[team], _best_in(board, team)), systems[team].paper, systems[team].code
            file = historic_file(board.name, is_ranked=rows[0]["rank"] != "unranked")
            date = result.moment if result else PUBLISHED_ON
            files[file] += [(name, date, row["metric"], row["split"], row["value"], *said) for row in rows]
        for handle, result in lists.items():
            file = historic_file(board.name, is_listed=True, is_ranked=result.is_ranked)
            files[file] += [
                (handle, result.moment, METRICS[board.task], split, value, "", "", "")
                for split, value in result.scores.items()
            ]
    return dict(files)


# ----------------------------------------------------------------------------------------------------------- the paper


def _paper_rows(board: BoardPart, languages: Iterable[str]) -> dict[str, list[dict[str, str]]]:
    """The printed values of each system on this board, in the languages of the test set."""
    known = {"all", *languages}
    rows: defaultdict[str, list[dict[str, str]]] = defaultdict(list)
    for row in _printed(board):
        if row["split"].split("/")[1] in known:
            rows[row["team"]].append(row)
    return dict(rows)


def _printed(board: BoardPart) -> list[dict[str, str]]:
    return [row for row in read_published(PUBLISHED) if row["board"] == board.setting]


def _best_in(board: BoardPart, team: str) -> list[str]:
    """The languages, or kinds of pairs, in which nobody in the paper has more."""
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


def _method(team: str, system: System, best_in: Sequence[str]) -> str:
    """`CodaLab: sted97; best in Portuguese`."""
    parts = [
        f"CodaLab: {system.handle}" if system.handle not in ("", team) else "",
        "" if team == BASELINE else system.note,
        f"best in {listed(best_in)}" if best_in else "",
    ]
    return "; ".join(part for part in parts if part)


_KINDS = {**LANGUAGE_TITLES, "all/idiom": "pairs with idioms", "all/sts": "STS pairs"}


# ------------------------------------------------------------------------------------------------- the official lists


def _read_list(source: Path, board: BoardPart, problems: Problems) -> dict[str, Listed]:
    """The results of a board by their names on CodaLab; none where the checkout has no such list."""
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
        found[row["User"]] = Listed(_moment(row["Date"], name, line, problems), scores, row[""].isdigit())
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
