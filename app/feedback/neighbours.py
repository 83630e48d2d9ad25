"""The rows of a board around an entry, as the board shows them to this viewer."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from app.boards.axis import Spread, axis_of, spread_of
from app.boards.rows import Leaderboard
from app.boards.team_board import BESIDE
from app.competitions.columns import BoardColumn
from app.competitions.ordering import difference_of


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A row near a submission's own.

    is_this: True for the submission's own row; is_mine: True for all rows of its team.
    delta: its score minus the own score; None for the own row.
    spread: of the score and its interval on one axis; None if the board shows no intervals.
    """

    rank: int
    team: str
    is_this: bool
    is_mine: bool
    value: float
    delta: float | None
    spread: Spread | None


@dataclass(frozen=True, slots=True)
class Neighbours:
    """A few rows of a board, including a submission's own, with the ranking column."""

    column: BoardColumn
    rows: tuple[Neighbour, ...]

    @property
    def have_intervals(self) -> bool:
        """True if the board shows the interval of any of these rows."""
        return any(one.spread is not None and one.spread.low is not None for one in self.rows)


def neighbours_of(board: Leaderboard, submission_id: UUID, above: int = 0) -> Neighbours | None:
    """Return the rows around a submission of the viewer's team; None if it has no rank, or the board shows no scores.

    board: with at least the rows around it; above: number of ranked rows above those that it contains.
    """
    column, place = board.columns[board.rank_by], board.rank_by
    ranked = [row for row in board.rows if row.rank is not None and row.cells and row.cells[place].value is not None]
    own = next((at for at, row in enumerate(ranked) if row.is_mine and row.submission_id == submission_id), None)
    if own is None or len(ranked) < 2:
        return None
    mine = ranked[own].cells[place].value
    has_intervals = any(row.cells[place].interval is not None for row in ranked)
    axis = axis_of(board) if has_intervals else None
    found = [
        Neighbour(
            rank=row.rank + above,
            team=row.team,
            is_this=row is ranked[own],
            is_mine=row.is_mine,
            value=value,
            delta=None if row is ranked[own] else difference_of(value, mine, column.decimals),
            spread=spread_of(axis, row.cells[place]) if axis is not None else None,
        )
        for row in ranked[max(0, own - BESIDE) : own + BESIDE + 1]
        if row.rank is not None and (value := row.cells[place].value) is not None
    ]
    return Neighbours(column, tuple(found))
