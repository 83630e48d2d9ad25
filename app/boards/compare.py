"""What a board's values say beside each other: a difference to some row, a change of rank.

Made from boards as a viewer is shown them, like `app.boards.query`.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.base.text import folded
from app.boards.rows import Cell, Leaderboard, LeaderboardRow
from app.competitions.columns import BoardColumn
from app.competitions.ordering import difference_of
from app.models import BoardShown, EntryRule

# --------------------------------------------------------------------------------------------------------- differences


def reference_row(board: Leaderboard, name: str) -> LeaderboardRow | None:
    """The row of this name to compare with; of several a baseline's, or else the first."""
    named = [row for row in board.rows if folded(row.team) == folded(name)] if name else []
    return next((row for row in named if row.kind == "baseline"), named[0] if named else None)


def references(board: Leaderboard) -> list[str]:
    """What one usually compares with: baselines, published results, the viewer's own."""
    kinds = {"baseline": 0, "historic": 1, "team": 2}
    wanted = [row for row in board.rows if row.kind != "team" or row.is_mine]
    return list(dict.fromkeys(row.team for row in sorted(wanted, key=lambda row: kinds[row.kind])))


def difference(cell: Cell, reference: Cell) -> float | None:
    """Of the values as they are shown, without rounding noise; None where one is undefined."""
    return difference_of(cell.value, reference.value, None)


def is_better(delta: float, column: BoardColumn) -> bool:
    """Whether a difference is on the good side."""
    return delta > 0 if column.higher_is_better else delta < 0


# ------------------------------------------------------------------------------------------------------ changes of rank


@dataclass(frozen=True, slots=True)
class Move:
    """A row's rank then, None for one that had none; how many places it has risen since (None: nothing to compare)."""

    before: int | None
    up: int | None


def moves(now: Leaderboard, then: Leaderboard) -> dict[tuple[object, ...], Move]:
    """For each ranked row of the board, by `row_key`; nothing unless the whole board is shown, dates and all."""
    if now.view.board is not BoardShown.PUBLIC and not now.view.is_organiser:
        return {}
    ranks = {row_key(then, row): row.rank for row in then.rows}
    found = {}
    for row in now.rows:
        if row.rank is not None:
            before = ranks.get(row_key(now, row))
            found[row_key(now, row)] = Move(before, None if before is None else before - row.rank)
    return found


def row_key(board: Leaderboard, row: LeaderboardRow) -> tuple[object, ...]:
    """The same for a row then and now: a team has one of each phase, or one for each submission."""
    moment = row.achieved_at if board.entry_rule is EntryRule.ALL else None
    return row.kind, row.team, row.carried_from, moment
