"""Two rows of a board side by side: every score that the board shows for both, and the test of the ranking score.

It starts from the board as the viewer sees it, and shows nothing that the details of a row do not show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from sqlalchemy.orm import Session

from app.base.errors import NotFound
from app.boards.details import find_row, published_scores, scores_of_row
from app.boards.pair_tests import PairTest
from app.boards.query import difference, is_better
from app.boards.rows import Cell, Leaderboard, LeaderboardRow, with_decimals
from app.competitions.columns import BoardColumn, further_columns
from app.models import Board, Phase
from evergold.value_words import did_you_mean


@dataclass(frozen=True, slots=True)
class ScorePair:
    """One score of both rows.

    difference: first minus second; None if one is undefined or the two were computed differently.
    is_same_computation: False if both have signatures that differ.
    """

    column: BoardColumn
    first: Cell
    second: Cell
    difference: float | None
    is_same_computation: bool

    @property
    def better(self) -> Literal["first", "second", "equal", ""]:
        """`first`, `second` or `equal`; "" without a difference."""
        if self.difference is None:
            return ""
        if not self.difference:
            return "equal"
        return "first" if is_better(self.difference, self.column) else "second"


@dataclass(frozen=True, slots=True)
class RowComparison:
    """Two rows with their scores, the ranking score first. test: of first minus second; None if not compared."""

    first: LeaderboardRow
    second: LeaderboardRow
    test: PairTest | None
    scores: tuple[ScorePair, ...]

    @property
    def ranking(self) -> ScorePair:
        """The ranking score of both rows."""
        return self.scores[0]


def choose_rows(
    leaderboard: Leaderboard, wanted: Sequence[UUID]
) -> tuple[LeaderboardRow, LeaderboardRow] | tuple[None, None]:
    """Return the two requested rows in board order. Missing ones default to the viewer's own row, then the top rows.

    Raises NotFound if a requested row is not on the board; returns None twice if fewer than two rows have pages.
    """
    found = [find_row(leaderboard, one) for one in dict.fromkeys(wanted)][:2]
    offered = [row for row in leaderboard.rows if row.page_id is not None]
    for row in sorted(offered, key=lambda row: not row.is_mine):
        if len(found) < 2 and all(row.page_id != one.page_id for one in found):
            found.append(row)
    if len(found) < 2:
        return None, None
    first, second = sorted(found, key=offered.index)
    return first, second


def find_rows(leaderboard: Leaderboard, teams: Sequence[str]) -> list[UUID]:
    """Return for each team, by its name on the board, the first row that has a page; raises NotFound."""
    found: list[UUID] = []
    by_name: dict[str, UUID] = {}
    for row in leaderboard.rows:
        if row.page_id is not None:
            by_name.setdefault(row.team, row.page_id)
    for team in teams:
        if team not in by_name:
            raise NotFound(f"This board shows no scores of '{team[:60]}'{did_you_mean(team, by_name)}.")
        found.append(by_name[team])
    return found


def compare_rows(
    session: Session, phase: Phase, board: Board, leaderboard: Leaderboard, rows: tuple[LeaderboardRow, LeaderboardRow]
) -> RowComparison:
    """Return the comparison of two rows: the columns of the board, then all other scores on the page of either row."""
    first, second = rows
    places = sorted(range(len(leaderboard.columns)), key=lambda place: place != leaderboard.rank_by)
    pairs = [_pair(leaderboard.columns[at], first.cells[at], second.cells[at]) for at in places]
    known = {(column.metric, column.split) for column in leaderboard.columns}
    every = [_scores(session, phase, board, leaderboard, row) for row in rows]
    names = [name for name in dict.fromkeys([*every[0], *every[1]]) if name not in known]
    for column in further_columns(board, leaderboard.columns, names):
        cells = [scores.get((column.metric, column.split), _NONE) for scores in every]
        pairs.append(_pair(with_decimals(column, leaderboard.precision), *cells))
    return RowComparison(first, second, leaderboard.pair_test(first, second), tuple(pairs))


#: The cell of a score that one of the two rows does not have.
_NONE = Cell(None, "not there", None)


def _scores(
    session: Session, phase: Phase, board: Board, leaderboard: Leaderboard, row: LeaderboardRow
) -> dict[tuple[str, str], Cell]:
    """Return every score that the page of this row shows."""
    if row.kind == "historic":
        shows_all = not leaderboard.view.shows_ranking_scores_only
        found = published_scores(session, phase, board, row) if shows_all else []
    else:
        found = scores_of_row(session, leaderboard, row)
    return {(one.metric, one.split): Cell(one.value, one.reason, one.signature or None) for one in found}


def _pair(column: BoardColumn, first: Cell, second: Cell) -> ScorePair:
    signatures = {cell.signature for cell in (first, second) if cell.signature}
    is_same = len(signatures) < 2
    return ScorePair(column, first, second, difference(first, second) if is_same else None, is_same)
