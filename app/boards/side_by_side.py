"""All results of one task side by side: teams, baselines and published systems, over all phases and boards of the task.

A cell is the team's ranking score on that board; nothing is re-ranked. Values that a board hides from its viewer are
hidden here, too; a team whose name is hidden in a phase has a separate row there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy.orm import Session

from app.base.errors import NotFound
from app.boards.leaderboard import board_version, build_leaderboard
from app.boards.rows import Cell, Leaderboard, LeaderboardRow, RowKind
from app.boards.views import CellOut, ResultRowOut
from app.competitions.columns import BoardColumn
from app.competitions.find import boards_of
from app.competitions.limits import phase_state
from app.competitions.visibility import View, Viewer, until_words
from app.models import Board, BoardShown, Competition, CompetitionTask, Phase
from evergold.scoring.task import NOT_ENTERED
from evergold.value_words import did_you_mean

#: Reason for an empty cell: the team is not on the board.
_NOT_THERE = {"team": NOT_ENTERED, "baseline": NOT_ENTERED, "historic": "not published"}


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """A board in a phase.

    title: of the board, without the beginning that all boards of the task share.
    shown: format of the ranking score; view: access of the viewer.
    """

    phase: Phase
    board: Board
    title: str
    shown: BoardColumn
    view: View


@dataclass(frozen=True, slots=True)
class Results:
    """The results of a task. sorted_by: index of the column that sorts the rows, best first; None without columns."""

    columns: tuple[ResultColumn, ...]
    rows: tuple[ResultRowOut, ...]
    sorted_by: int | None


def find_task(competition: Competition, name: str) -> CompetitionTask:
    """Return a task of a competition from `find_competition`; raises NotFound."""
    found = next((task for task in competition.tasks if task.name == name), None)
    if found is None:
        names = [task.name for task in competition.tasks]
        hint = did_you_mean(name, names)
        known = ", ".join(f"'{one}'" for one in names)
        raise NotFound(f"Competition '{competition.name}' has no task '{name}'{hint}; it has {known}.")
    return found


def results_version(
    session: Session,
    competition: Competition,
    task: CompetitionTask,
    viewer: Viewer,
) -> str:
    """Return a version that changes whenever the results could change for this viewer, for answers from a cache."""
    places = _places(competition, task, viewer.now)
    versions = [board_version(session, *place, viewer) for place in places]
    return " ".join([str(task.id), *versions])


def build_results(
    session: Session,
    competition: Competition,
    task: CompetitionTask,
    viewer: Viewer,
) -> Results:
    """Return the results as this viewer sees them, sorted by the first board with values in the last phase that has
    any.

    competition: from `find_competition`, including `task`.
    """
    places = _places(competition, task, viewer.now)
    boards = [build_leaderboard(session, *place, viewer) for place in places]
    titles = short_titles([board.title for _, board in places])
    columns = tuple(
        ResultColumn(phase, board, title, found.columns[found.rank_by], found.view)
        for (phase, board), title, found in zip(places, titles, boards, strict=True)
    )
    results = Results(columns, _rows(boards), None)
    return sort_results(results, _last_with_values(results)) if columns else results


def sort_results(results: Results, by: int) -> Results:
    """Return the results sorted best first by this column, then by the others from left to right; missing values come
    last.
    """
    order = [by, *(place for place in range(len(results.columns)) if place != by)]

    def goodness(row: ResultRowOut) -> list[tuple[bool, float]]:
        return [_goodness(row.cells[place], results.columns[place].shown) for place in order]

    ordered = sorted(results.rows, key=lambda row: (goodness(row), row.team.casefold()))
    return replace(results, rows=tuple(ordered), sorted_by=by)


def results_best(results: Results) -> list[float | None]:
    """Return the best value of each column."""
    best = []
    for place, column in enumerate(results.columns):
        values = [row.cells[place].value for row in results.rows]
        known = [value for value in values if value is not None]
        choose = max if column.shown.higher_is_better else min
        best.append(choose(known) if known else None)
    return best


def short_titles(titles: Sequence[str]) -> list[str]:
    """Return the titles without their common beginning, compared part by part: `English, zero-shot`, `English,
    one-shot`.
    """
    if len(set(titles)) < 2:
        return list(titles)
    parts = [title.split(", ") for title in titles]
    shortest = min(len(part) for part in parts)
    common = 0
    while common < shortest - 1 and len({part[common] for part in parts}) == 1:
        common += 1
    return [", ".join(part[common:]) for part in parts]


def _places(competition: Competition, task: CompetitionTask, now: datetime) -> list[tuple[Phase, Board]]:
    """List every board of the task in every started phase; boards with the same ranking score share a column."""
    found = []
    for phase in competition.phases:
        seen = set()
        for board in boards_of(competition, phase):
            ranking = (board.rank_metric, board.rank_split, board.track)
            if board.task_id == task.id and ranking not in seen and phase_state(phase, now) != "upcoming":
                seen.add(ranking)
                found.append((phase, board))
    return found


def _rows(boards: Sequence[Leaderboard]) -> tuple[ResultRowOut, ...]:
    """Return one row for all rows of the same team, or of the same published system and source."""
    found: dict[tuple[RowKind, str, str | None], tuple[LeaderboardRow, dict[int, Cell]]] = {}
    for place, board in enumerate(boards):
        for row in board.rows:
            _, cells = found.setdefault((row.kind, row.team, row.source), (row, {}))
            cells.setdefault(place, row.cells[board.rank_by])  # of several rows of a team the best comes first
    rows = [_row(first, cells, boards) for first, cells in found.values()]
    return tuple(row for row in rows if row.kind != "historic" or any(cell.value is not None for cell in row.cells))


def _row(first: LeaderboardRow, cells: Mapping[int, Cell], boards: Sequence[Leaderboard]) -> ResultRowOut:
    """Return a row with a cell for each board. first: the team's row on the first board that has one."""
    shown = [
        cells.get(place) or Cell(None, _why_empty(first.kind, board.view), None) for place, board in enumerate(boards)
    ]
    return ResultRowOut(
        team=first.team,
        kind=first.kind,
        source=first.source,
        is_mine=first.is_mine,
        cells=[CellOut.model_validate(cell) for cell in shown],
    )


def _why_empty(kind: RowKind, view: View) -> str:
    """Return the reason for a missing value on this board, as far as its viewer may know it."""
    if view.board is not BoardShown.PUBLIC:
        return f"hidden {until_words(view.board_at)}"
    if kind == "team" and not view.names:
        return f"boards do not show the names of teams{f' {until_words(view.names_at)}' if view.names_at else ''}"
    return _NOT_THERE[kind]


def _last_with_values(results: Results) -> int:
    """Return the index of the first column with values in the last phase that has any."""
    with_values = [
        place
        for place in range(len(results.columns))
        if any(row.cells[place].value is not None for row in results.rows)
    ]
    if not with_values:
        return 0
    phase = results.columns[with_values[-1]].phase
    return next(place for place in with_values if results.columns[place].phase is phase)


def _goodness(cell: CellOut, shown: BoardColumn) -> tuple[bool, float]:
    sign = -1.0 if shown.higher_is_better else 1.0
    return cell.value is None, sign * (cell.value or 0.0)
