"""What boards are made of: cells, rows, and the board; and which value is better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal
from uuid import UUID

from app.board_columns import BoardColumn
from app.models import EntryRule
from app.visibility import View, coarser

RowKind = Literal["team", "baseline", "historic"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A value, or None with the reason; historic cells have no signature: nobody knows how they were computed."""

    value: float | None
    reason: str | None
    signature: str | None


@dataclass(frozen=True, slots=True)
class CommittedGold:
    """A published version of sealed gold: its commitment says nothing, and makes exchanging it impossible."""

    number: int
    commitment: str


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """rank: None for everything that is shown without one; entries: how many scored submissions the team has here, None
    where that is not shown; carried_from: name of the phase that it was carried over from; run_id, team_id: whose
    report and team these are (live rows only; for us, never for readers).
    """

    rank: int | None
    team: str
    kind: RowKind
    cells: tuple[Cell, ...]
    achieved_at: datetime | None
    method: str
    entries: int | None
    track: str | None = None
    source: str | None = None
    submission_id: UUID | None = None  # of the viewer's own rows, and for organisers
    is_mine: bool = False
    run_id: int | None = None
    carried_from: str | None = None
    team_id: int | None = None
    commitment: str | None = None  # of the sealed gold that it was scored against


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """rank_by: index of the ranking column. version: equal versions show equal boards (to the same viewer).

    has_tracks: whether submissions belong to tracks, which rows then name. view: what its viewer may see of it;
    precision: decimals of the values, None for all. gold_version: what the organisers call the gold;
    sealed_gold: its published versions, oldest first.
    """

    columns: tuple[BoardColumn, ...]
    rank_by: int
    rows: tuple[LeaderboardRow, ...]
    version: str
    entry_rule: EntryRule
    has_tracks: bool = False
    view: View = View()
    precision: int | None = None
    gold_version: str = ""
    sealed_gold: tuple[CommittedGold, ...] = ()


def goodness(value: float | None, sign: float) -> tuple[bool, float]:
    """Sorts better values first and undefined ones last; equal ones keep their order. sign: -1 if higher is better."""
    return value is None, sign * (value or 0.0)


def sign_of(column: BoardColumn) -> float:
    """For `goodness`."""
    return -1.0 if column.higher_is_better else 1.0


def decimals_of(column: BoardColumn, precision: int | None) -> int | None:
    """Decimals of a column's values under this precision: no more than it shows, so that nothing is rounded twice."""
    if precision is None or column.out_of is not None:
        return None
    return coarser(precision, column.decimals + 2 * column.percent)


def with_decimals(column: BoardColumn, precision: int | None) -> BoardColumn:
    """The column as it is shown under this precision."""
    decimals = decimals_of(column, precision)
    return column if decimals is None else replace(column, decimals=max(0, decimals - 2 * column.percent))


def ranked(ordered: Sequence[tuple[LeaderboardRow, float | None]]) -> list[int | None]:
    """The ranks of rows with the values that rank them, best first: teams get 1, 2, 2, 4 …, equal values share one;
    every other row stands in its place without one."""
    ranks: list[int | None] = []
    teams_before, rank, last_value = 0, 0, None
    for row, value in ordered:
        if row.kind != "team" or value is None:
            ranks.append(None)
            continue
        teams_before += 1
        if value != last_value:
            rank, last_value = teams_before, value
        ranks.append(rank)
    return ranks
