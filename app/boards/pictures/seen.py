"""The data of a board for one viewer, collected once as the only source of all its pictures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from sqlalchemy.orm import Session

from app.boards.entries import rows_of
from app.boards.leaderboard import EntrySource, build_leaderboard, entry_sources, sight_of, whole_board
from app.boards.pictures.splits import drawn_scores
from app.boards.rows import Cell, Leaderboard, LeaderboardRow
from app.boards.view import UnfilteredBoard, ViewerContext, show
from app.charts.picture import AxisOut
from app.competitions.columns import BoardColumn, board_columns
from app.competitions.metrics import metrics_of
from app.competitions.visibility import Viewer, declared_of
from app.models import Board, BoardShown, EntryRule, Phase
from app.standings.check import start_of_newest
from app.standings.choose import BoardRows, entered_as_latest, rules_of
from app.standings.tries import RunFilter, scored_runs, standings_from_runs
from evergold.scoring.halves import Half

#: Rules by which a board reveals a team's best anyway: all scored runs are drawn.
OPEN_RULES = frozenset({EntryRule.BEST, EntryRule.ALL})
#: Entries drawn over time. every: all scored runs; stood: those that were on the board when they came; current: those
#: that are on it now.
Drawn = Literal["every", "stood", "current"]


@dataclass(frozen=True, slots=True)
class Seen:
    """A board as its viewer sees it, for pictures.

    leaderboard: with an additional column for every score that is drawn.
    entries: with only the ranking column, and a row for each entry drawn over time.
    drawn: the kind of these entries.
    submitted: times of all scored submissions.
    is_cut: True if only the latest submissions are included, because there are too many.
    options: of the task in this phase.
    """

    board: Board
    leaderboard: Leaderboard
    entries: Leaderboard
    drawn: Drawn
    submitted: tuple[datetime, ...]
    is_cut: bool
    options: Mapping[str, Any]

    @property
    def ranking(self) -> BoardColumn:
        return self.leaderboard.columns[self.leaderboard.rank_by]

    @property
    def ranking_title(self) -> str:
        """The title of the ranking metric; the board's column may only name the part of the items."""
        return metrics_of(self.board.task)[self.board.rank_metric].title

    @property
    def ranking_axis(self) -> AxisOut:
        """The axis of the ranking score, in the board's number format."""
        return AxisOut(title=self.ranking_title, decimals=self.ranking.decimals, percent=self.ranking.percent)

    def place(self, metric: str, split: str) -> int | None:
        """Return the position of this score in the cells of a row; None if the viewer may not see the score."""
        columns = [(column.metric, column.split) for column in self.leaderboard.columns]
        return columns.index((metric, split)) if (metric, split) in columns else None

    def named_rows(self) -> Iterator[tuple[str, LeaderboardRow]]:
        """Yield the board's rows with unique names."""
        rows = self.leaderboard.rows
        return zip(row_names(rows), rows, strict=True)


def look_at(
    session: Session,
    phase: Phase,
    board: Board,
    viewer: Viewer,
) -> Seen | None:
    """Return the data for the pictures of a board; None while it shows this viewer no scores."""
    sources = entry_sources(session, phase, board)
    sight = sight_of(session, sources, viewer)
    if sight.own.view.board is not BoardShown.PUBLIC:
        return None
    options = sources[0].phase_task.options_of(board.task)
    more = drawn_scores(board, options)
    leaderboard = build_leaderboard(session, phase, board, viewer, more=more)
    half = leaderboard.half
    whole = whole_board(session, board, sources, half=half)
    since = start_of_newest(session, sources[0].phase_task.id)
    rows = _tries(session, sources[0], board, half, since)
    tries = show(_over_time(whole, rows), sight)
    drawn = _drawn(whole, sight, half)
    if drawn == "every":
        entries = tries
    elif drawn == "stood":
        entered = _runs_entered(session, sources[0], board, since)
        entries = show(_over_time(whole, [row for row in rows if row.run_id in entered]), sight)
    else:
        entries = show(_over_time(whole), sight)
    return Seen(board, leaderboard, entries, drawn, _moments(tries), since is not None, options)


def _drawn(whole: UnfilteredBoard, sight: ViewerContext, half: Half | None) -> Drawn:
    """Return which entries are drawn over time: never any that the board itself did not show.

    Teams that may not see their own scores must not read them from their runs. Scores of a private part are shown only
    for final entries. Former choices are not stored, and a Ladder shows no scores of runs.
    """
    if not sight.own.view.own_scores:
        return "current"
    if whole.entry_rule in OPEN_RULES:
        return "every"
    return "stood" if whole.entry_rule is EntryRule.LAST and half is not Half.PRIVATE else "current"


def _runs_entered(session: Session, source: EntrySource, board: Board, since: datetime | None) -> frozenset[int]:
    """Return the runs since a moment that were entries while the board was public, for the rule "latest submission".

    For a board that was hidden at first: the entries at the moment when it was shown, and all later ones.
    """
    rules = rules_of(source.phase, source.phase_task, board)
    if rules is None:
        return frozenset()
    place, declared = source.phase_task.id, declared_of(source.phase, source.phase_task)
    tries = scored_runs(session, place, [rules], RunFilter(since=since))[rules]
    entered = {one.run_id for one in entered_as_latest(tries)}
    if declared.public_from is None:
        return frozenset(entered)
    before = scored_runs(session, place, [rules], RunFilter(since=since, until=declared.public_from))[rules]
    first = {one.team_id: one.run_id for one in entered_as_latest(before)}  # the last of each team stays
    return frozenset(entered - {one.run_id for one in before} | set(first.values()))


def _tries(
    session: Session, source: EntrySource, board: Board, half: Half | None, since: datetime | None
) -> list[LeaderboardRow]:
    """Return a row with only its ranking score for every scored team submission since a moment."""
    score = (board.rank_metric, board.rank_split)
    column = next(one for one in board_columns(board) if (one.metric, one.split) == score)
    rules = rules_of(source.phase, source.phase_task, board)
    if rules is None:
        return []
    every_run = BoardRows(source.phase_task.id, board.id, replace(rules, rule=EntryRule.ALL))
    every = standings_from_runs(session, every_run, RunFilter(since=since))
    rows = rows_of(session, source.phase_task, every, [column], rules, None, half)
    return [row for row in rows if row.kind == "team"]


def _moments(tries: Leaderboard) -> tuple[datetime, ...]:
    """Return the submission times, without those of carried-over rows, which were submitted to another phase."""
    found = (row.achieved_at for row in tries.rows if row.kind == "team" and row.carried_from is None)
    return tuple(moment for moment in found if moment is not None)


def _over_time(whole: UnfilteredBoard, tries: Sequence[LeaderboardRow] | None = None) -> UnfilteredBoard:
    """Return the board with only its ranking column, and with the given scored runs, if any, in place of the entries.

    Statistics are dropped, because nothing drawn over time needs the comparisons of all rows.
    """
    place = whole.rank_by
    rows = [row._replace(cells=(row.cells[place],)) for row in whole.rows]
    if tries is not None:
        rows = [row for row in rows if row.kind != "team" or row.carried_from] + list(tries)
    return replace(whole, columns=(whole.columns[place],), rank_by=0, rows=tuple(rows), statistics=None)


_BRACKET = re.compile(r" \(")


def row_names(rows: Sequence[LeaderboardRow]) -> list[str]:
    """Return a unique name for each row: its team, with its method if the team has several rows, and a number if
    needed.
    """
    teams = Counter(row.team for row in rows)
    names = [f"{row.team}: {row.method}" if teams[row.team] > 1 and row.method else row.team for row in rows]
    found: list[str] = []
    times = Counter[str]()  # counts of names, and of their parts before a bracket
    for name in names:
        found.append(f"{name} ({times[name] + 1})" if times[name] else name)
        times.update([found[-1], *(found[-1][: at.start()] for at in _BRACKET.finditer(found[-1]))])
    return found


def value_of(cell: Cell) -> tuple[float | None, str]:
    """Return a cell's value, and the reason if it has none ("" otherwise)."""
    return (None, cell.reason or "") if cell.value is None else (float(cell.value), "")
