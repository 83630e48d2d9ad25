"""Comparisons of values on a board: a difference to some row, a change of rank.

Based on boards as a viewer sees them, like `app.boards.query`.
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
    """Return the row of this name to compare with: a baseline if there are several, or else the first."""
    named = [row for row in board.rows if folded(row.team) == folded(name)] if name else []
    return next((row for row in named if row.kind == "baseline"), named[0] if named else None)


def references(board: Leaderboard) -> list[str]:
    """List the usual references: baselines, published results, the viewer's own rows."""
    kinds = {"baseline": 0, "historic": 1, "team": 2}
    wanted = [row for row in board.rows if row.kind != "team" or row.is_mine]
    return list(dict.fromkeys(row.team for row in sorted(wanted, key=lambda row: kinds[row.kind])))


def difference(cell: Cell, reference: Cell) -> float | None:
    """Return the difference of the values as shown, without rounding noise; None if one is undefined."""
    return difference_of(cell.value, reference.value, None)


def is_better(delta: float, column: BoardColumn) -> bool:
    """True if a difference is an improvement."""
    return delta > 0 if column.higher_is_better else delta < 0


# ------------------------------------------------------------------------------------------------------ changes of rank


@dataclass(frozen=True, slots=True)
class Move:
    """A change of rank. before: None if the row had no rank; up: number of places risen, None if not comparable."""

    before: int | None
    up: int | None


def moves(now: Leaderboard, then: Leaderboard) -> dict[tuple[object, ...], Move]:
    """Return the moves of ranked rows by `row_key`; empty unless the viewer sees the whole board, dates included."""
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
    """Identify a row now and then: a team has one per phase, or one per submission."""
    moment = row.achieved_at if board.entry_rule is EntryRule.ALL else None
    return row.kind, row.team, row.carried_from, moment
