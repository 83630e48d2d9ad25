"""All results of one task side by side: teams, baselines and published systems, over every phase and board of the task.

A cell is what the team's row on that board has in the ranking column; nothing is ranked anew. What a board hides from
its viewer is hidden here; a team whose name one phase hides has a row of its own there, apart from its named one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy.orm import Session

from app.base.errors import NotFound
from app.base.text import did_you_mean
from app.boards.leaderboard import Cell, Leaderboard, RowKind, board_version, build_leaderboard
from app.competitions.columns import BoardColumn
from app.competitions.find import boards_of
from app.competitions.limits import phase_state
from app.competitions.visibility import SeenAs, View, until_words
from app.models import Board, BoardShown, Competition, CompetitionTask, Phase, User
from evergold.scoring.task import NOT_ENTERED

#: Why there is no value; a team that has none on a board is not on it.
_NOT_THERE = {"team": NOT_ENTERED, "baseline": NOT_ENTERED, "historic": "not published"}


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """A board in a phase; title: of the board, without what all boards of the task begin with; shown: how it shows its
    ranking score; view: what its viewer sees of it."""

    phase: Phase
    board: Board
    title: str
    shown: BoardColumn
    view: View


@dataclass(frozen=True, slots=True)
class ResultRow:
    """A team (or baseline, or published system) with a cell for each column."""

    team: str
    kind: RowKind
    source: str | None
    cells: tuple[Cell, ...]
    is_mine: bool = False


@dataclass(frozen=True, slots=True)
class Results:
    """sorted_by: index of the column that the rows are sorted by, best first; None where there are no columns."""

    columns: tuple[ResultColumn, ...]
    rows: tuple[ResultRow, ...]
    sorted_by: int | None


def find_task(competition: Competition, name: str) -> CompetitionTask:
    """A task of a competition as `find_competition` gives it; raises NotFound."""
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
    viewer: User | None,
    now: datetime,
    *,
    seen_as: SeenAs | None = None,
) -> str:
    """Changes whenever the results could show this viewer something else; for answering from a cache."""
    places = _places(competition, task, now)
    versions = [board_version(session, *place, viewer, now, seen_as=seen_as) for place in places]
    return " ".join([str(task.id), *versions])


def build_results(
    session: Session,
    competition: Competition,
    task: CompetitionTask,
    viewer: User | None,
    now: datetime,
    *,
    seen_as: SeenAs | None = None,
) -> Results:
    """The results as this viewer sees them, sorted by the first board of the last phase that has any.

    competition: as `find_competition` gives it, with `task` in it.
    """
    places = _places(competition, task, now)
    boards = [build_leaderboard(session, *place, viewer, now, seen_as=seen_as) for place in places]
    titles = short_titles([board.title for _, board in places])
    columns = tuple(
        ResultColumn(phase, board, title, found.columns[found.rank_by], found.view)
        for (phase, board), title, found in zip(places, titles, boards, strict=True)
    )
    results = Results(columns, _rows(boards), None)
    return sort_results(results, _last_with_values(results)) if columns else results


def sort_results(results: Results, by: int) -> Results:
    """Best first in this column, then in the others from left to right; a row without a value goes below."""
    order = [by, *(place for place in range(len(results.columns)) if place != by)]

    def goodness(row: ResultRow) -> list[tuple[bool, float]]:
        return [_goodness(row.cells[place], results.columns[place].shown) for place in order]

    ordered = sorted(results.rows, key=lambda row: (goodness(row), row.team.casefold()))
    return replace(results, rows=tuple(ordered), sorted_by=by)


def results_best(results: Results) -> list[float | None]:
    """The best value of each column."""
    best = []
    for place, column in enumerate(results.columns):
        values = [row.cells[place].value for row in results.rows]
        known = [value for value in values if value is not None]
        choose = max if column.shown.higher_is_better else min
        best.append(choose(known) if known else None)
    return best


def short_titles(titles: Sequence[str]) -> list[str]:
    """Without what all of them begin with, comma by comma: `English, zero-shot` beside `English, one-shot`."""
    if len(set(titles)) < 2:
        return list(titles)
    parts = [title.split(", ") for title in titles]
    shortest = min(len(part) for part in parts)
    common = 0
    while common < shortest - 1 and len({part[common] for part in parts}) == 1:
        common += 1
    return [", ".join(part[common:]) for part in parts]


def _places(competition: Competition, task: CompetitionTask, now: datetime) -> list[tuple[Phase, Board]]:
    """Every phase that has begun with each board of the task; boards that rank by the same are one column."""
    found = []
    for phase in competition.phases:
        seen = set()
        for board in boards_of(competition, phase):
            ranking = (board.rank_metric, board.rank_split, board.track)
            if board.task_id == task.id and ranking not in seen and phase_state(phase, now) != "upcoming":
                seen.add(ranking)
                found.append((phase, board))
    return found


def _rows(boards: Sequence[Leaderboard]) -> tuple[ResultRow, ...]:
    """Rows of the same team, or of the same published system and source, are one."""
    rows: dict[tuple[RowKind, str, str | None], ResultRow] = {}
    for place, board in enumerate(boards):
        for row in board.rows:
            key = row.kind, row.team, row.source
            empty = tuple(Cell(None, _why_empty(row.kind, one.view), None) for one in boards)
            known = rows.get(key) or ResultRow(row.team, row.kind, row.source, empty, row.is_mine)
            if known.cells[place] == empty[place]:  # a better row of the same team came before
                cells = (*known.cells[:place], row.cells[board.rank_by], *known.cells[place + 1 :])
                rows[key] = replace(known, cells=cells)
    return tuple(row for row in rows.values() if row.kind != "historic" or any(c.value is not None for c in row.cells))


def _why_empty(kind: RowKind, view: View) -> str:
    """Why a row that stands elsewhere has no value on this board, as far as its viewer may know."""
    if view.board is not BoardShown.PUBLIC:
        return f"hidden {until_words(view.board_at)}"
    if kind == "team" and not view.names:
        return f"teams have no names here {until_words(view.names_at)}"
    return _NOT_THERE[kind]


def _last_with_values(results: Results) -> int:
    """The first column of the last phase in which anybody has a value."""
    with_values = [
        place
        for place in range(len(results.columns))
        if any(row.cells[place].value is not None for row in results.rows)
    ]
    if not with_values:
        return 0
    phase = results.columns[with_values[-1]].phase
    return next(place for place in with_values if results.columns[place].phase is phase)


def _goodness(cell: Cell, shown: BoardColumn) -> tuple[bool, float]:
    sign = -1.0 if shown.higher_is_better else 1.0
    return cell.value is None, sign * (cell.value or 0.0)
