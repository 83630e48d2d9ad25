"""What one viewer's board shows, gathered once for all of its pictures: the only source of what they draw."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from app.boards.entries import rows_of
from app.boards.leaderboard import EntrySource, build_leaderboard, entry_sources, sight_of, whole_board
from app.boards.pictures.splits import drawn_scores
from app.boards.rows import Cell, Leaderboard, LeaderboardRow
from app.boards.view import WholeBoard, show
from app.competitions.columns import BoardColumn, board_columns
from app.competitions.visibility import SeenAs
from app.models import Board, BoardShown, EntryRule, Phase, User
from app.standings.choose import rules_of
from app.standings.kept import start_of_newest
from app.standings.tries import Bounds, standings_from_runs
from evergold.scoring.halves import Half
from evergold.scoring.tasks import TASKS

#: With these rules a board tells of a team's best whatever it tried: then every try is drawn, else what stands.
OPEN_RULES = frozenset({EntryRule.BEST, EntryRule.ALL})


@dataclass(frozen=True, slots=True)
class Seen:
    """board: with the columns of all that is drawn behind its own; entries: with only the ranking column, and a row for
    each entry that is drawn over time; has_tries: whether these are all that were scored, or what stands; submitted:
    the moments of all that were scored; is_cut: of the newest only, as there are too many to look at; options: the
    task's, in this phase."""

    board: Board
    leaderboard: Leaderboard
    entries: Leaderboard
    has_tries: bool
    submitted: tuple[datetime, ...]
    is_cut: bool
    options: Mapping[str, Any]

    @property
    def ranking(self) -> BoardColumn:
        return self.leaderboard.columns[self.leaderboard.rank_by]

    @property
    def ranking_title(self) -> str:
        """What the ranking score is called: a board's column may only say of what it is."""
        return TASKS[self.board.task.task_type].metrics[self.board.rank_metric].title

    def place(self, metric: str, split: str) -> int | None:
        """Where this score stands among the cells of a row, if the viewer may see it."""
        columns = [(column.metric, column.split) for column in self.leaderboard.columns]
        return columns.index((metric, split)) if (metric, split) in columns else None

    def named_rows(self) -> Iterator[tuple[str, LeaderboardRow]]:
        """The board's rows with names that tell them apart."""
        rows = self.leaderboard.rows
        return zip(row_names(rows), rows, strict=True)


def look_at(
    session: Session, phase: Phase, board: Board, viewer: User | None, now: datetime, *, seen_as: SeenAs | None = None
) -> Seen | None:
    """For the pictures of a board; None while it shows this viewer no scores."""
    asked = entry_sources(session, phase, board)
    sight = sight_of(session, asked, viewer, now, seen_as=seen_as)
    if sight.own.view.board is not BoardShown.PUBLIC:
        return None
    options = asked[0].phase_task.options_of(board.task)
    more = drawn_scores(board, options)
    leaderboard = build_leaderboard(session, phase, board, viewer, now, seen_as=seen_as, more=more)
    half = leaderboard.half
    whole = whole_board(session, board, asked, half=half)
    since = start_of_newest(session, asked[0].phase_task.id)
    tries = show(_over_time(whole, _tries(session, asked[0], board, half, since)), sight)
    # Where a team does not see its own scores, its tries would tell them.
    has_tries = whole.entry_rule in OPEN_RULES and sight.own.view.own_scores
    entries = tries if has_tries else show(_over_time(whole), sight)
    return Seen(board, leaderboard, entries, has_tries, _moments(tries), since is not None, options)


def _tries(
    session: Session, asked: EntrySource, board: Board, half: Half | None, since: datetime | None
) -> list[LeaderboardRow]:
    """Every scored submission of a team from then on, with its ranking score alone."""
    score = (board.rank_metric, board.rank_split)
    column = next(one for one in board_columns(board) if (one.metric, one.split) == score)
    rules = rules_of(asked.phase, asked.phase_task, board)
    if rules is None:
        return []
    all_of_them = replace(rules, rule=EntryRule.ALL)
    place = asked.phase_task.id, board.id
    every = standings_from_runs(session, *place, all_of_them, None, Bounds(since=since))
    rows = rows_of(session, asked.phase_task, every, [column], rules, None, half)
    return [row for row in rows if row.kind == "team"]


def _moments(tries: Leaderboard) -> tuple[datetime, ...]:
    """When each of them came; those carried over came to another phase."""
    found = (row.achieved_at for row in tries.rows if row.kind == "team" and row.carried_from is None)
    return tuple(moment for moment in found if moment is not None)


def _over_time(whole: WholeBoard, tries: Sequence[LeaderboardRow] | None = None) -> WholeBoard:
    """The board with its ranking column alone, and any tries in place of what stands of them; without statistics, which
    compare every two rows, and nothing that is drawn over time needs."""
    place = whole.rank_by
    rows = [row._replace(cells=(row.cells[place],)) for row in whole.rows]
    if tries is not None:
        rows = [row for row in rows if row.kind != "team" or row.carried_from] + list(tries)
    return replace(whole, columns=(whole.columns[place],), rank_by=0, rows=tuple(rows), statistics=None)


_BRACKET = re.compile(r" \(")


def row_names(rows: Sequence[LeaderboardRow]) -> list[str]:
    """Each row's team; with its method where the team has several rows, and a number where that is not enough."""
    teams = Counter(row.team for row in rows)
    names = [f"{row.team}: {row.method}" if teams[row.team] > 1 and row.method else row.team for row in rows]
    found: list[str] = []
    times = Counter[str]()  # by what a name is, or begins with before a bracket
    for name in names:
        found.append(f"{name} ({times[name] + 1})" if times[name] else name)
        times.update([found[-1], *(found[-1][: at.start()] for at in _BRACKET.finditer(found[-1]))])
    return found


def value_of(cell: Cell) -> tuple[float | None, str]:
    """A cell's value, and why there is none."""
    return (None, cell.reason or "") if cell.value is None else (float(cell.value), "")
