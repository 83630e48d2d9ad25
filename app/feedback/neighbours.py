"""The rows of a board around a team's own: whom it is next to, as the board shows it to this viewer."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.boards.axis import Spread, axis_of, spread_of
from app.boards.leaderboard import build_leaderboard
from app.boards.rows import LeaderboardRow
from app.competitions.columns import BoardColumn
from app.competitions.ordering import difference_of
from app.competitions.visibility import Viewer
from app.feedback.standings import RunStanding
from app.models import Phase

#: Rows shown above the own one, and below.
BESIDE = 2


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A row beside one's own. delta: its score minus one's own; spread: of the score and its interval on one axis."""

    row: LeaderboardRow
    value: float
    delta: float | None
    spread: Spread | None


@dataclass(frozen=True, slots=True)
class Neighbours:
    """A few rows of a board, one's own among them, with the ranking column."""

    standing: RunStanding
    column: BoardColumn
    rows: tuple[Neighbour, ...]

    @property
    def have_intervals(self) -> bool:
        """True if the board shows the interval of any of these rows."""
        return any(one.spread is not None and one.spread.low is not None for one in self.rows)


def neighbours_of(session: Session, phase: Phase, standing: RunStanding, viewer: Viewer) -> Neighbours | None:
    """Return the rows around the submission that counts; None if it does not, or the board shows no scores."""
    if not standing.counts:
        return None
    board = build_leaderboard(session, phase, standing.board, viewer)
    column, place = board.columns[board.rank_by], board.rank_by
    ranked = [row for row in board.rows if row.rank is not None and row.cells and row.cells[place].value is not None]
    own = next((at for at, row in enumerate(ranked) if row.is_mine), None)
    if own is None or len(ranked) < 2:
        return None
    mine, axis = ranked[own].cells[place].value, axis_of(board)
    found = [
        Neighbour(
            row,
            value,
            None if row.is_mine else difference_of(value, mine, column.decimals),
            spread_of(axis, row.cells[place]) if axis is not None else None,
        )
        for row in ranked[max(0, own - BESIDE) : own + BESIDE + 1]
        if (value := row.cells[place].value) is not None
    ]
    return Neighbours(standing, column, tuple(found))
