"""A run compared with the other rows of its board: who is better, who is alike, and the baseline, as the board shows
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from uuid import UUID

import pytest

from app.boards.pair_tests import PairTest
from app.boards.rows import Cell, Leaderboard, LeaderboardRow, RowKind
from app.competitions.columns import BoardColumn
from app.feedback.standings import PeerComparison, peer_comparison
from app.models import EntryRule

F1 = BoardColumn("macro_f1", "all", "F1", 4, False, True, "")
ERROR = BoardColumn("mae", "all", "Error", 4, False, False, "")
MINE = UUID(int=1)


def row(number: int, team: str, rank: int | None, value: float, kind: RowKind = "team") -> LeaderboardRow:
    return LeaderboardRow(rank, team, kind, (Cell(value, None, "s"),), None, "", 1, page_id=UUID(int=number))


def pair(difference: float, p: float) -> PairTest:
    return PairTest(difference, None, None, 0.95, p, p, "paired:1")


def board(column: BoardColumn = F1) -> Leaderboard:
    """Return a board on which Ada has rank 3 of 5: Bob and Cat are above her, Dan and Eve below, with two baselines,
    and Fay unranked.
    """
    rows = (
        row(2, "Bob", 1, 0.9),
        row(3, "Cat", 2, 0.8),
        row(1, "Ada", 3, 0.7),
        row(4, "Dan", 4, 0.6),
        row(5, "Eve", 5, 0.5),
        row(6, "Majority", None, 0.4, "baseline"),
        row(7, "Random", None, 0.2, "baseline"),
        row(8, "Fay", None, 0.1),
    )
    p = {2: 0.01, 3: 0.3, 4: 0.2, 5: 0.01, 6: 0.001, 7: 0.001, 8: 0.001}
    tests: Mapping[tuple[UUID, UUID], PairTest] = {
        (MINE, UUID(int=other)): pair(0.7 - rows[[2, 3, 1, 4, 5, 6, 7, 8].index(other)].cells[0].value, p[other])  # type: ignore[operator]
        for other in p
    }
    return Leaderboard((column,), 0, rows, "1", EntryRule.BEST, statistics="current", pair_tests=dict(tests))


def test_rows_are_counted_as_better_alike_or_worse_than_the_run() -> None:
    found = peer_comparison(board(), MINE)
    assert found is not None
    assert (found.ahead, found.alike, found.behind) == (1, ("Cat", "Dan"), 1), "Bob; Eve; and neither Fay nor baselines"


def test_where_less_is_better_who_has_less_is_ahead() -> None:
    found = peer_comparison(board(ERROR), MINE)
    assert found is not None
    assert (found.ahead, found.behind, found.baseline) == (1, 1, "Random")
    assert not found.is_above_baseline


def test_the_baseline_is_the_best_one() -> None:
    found = peer_comparison(board(), MINE)
    assert found is not None
    assert (found.baseline, found.is_above_baseline) == ("Majority", True)
    assert found.baseline_test == pair(0.7 - 0.4, 0.001)


def test_a_run_without_a_rank_is_compared_with_the_baseline_alone() -> None:
    whole = board()
    rows = tuple(one._replace(rank=None) if one.page_id == MINE else one for one in whole.rows)
    found = peer_comparison(replace(whole, rows=rows), MINE)
    assert found is not None
    assert (found.ahead, found.alike, found.behind, found.baseline) == (0, (), 0, "Majority")


@pytest.mark.parametrize(
    ("statistics", "expected"),
    [("none", None), ("withheld", None), ("pending", PeerComparison(is_pending=True))],
)
def test_nothing_is_said_that_the_board_does_not_say(statistics: str, expected: PeerComparison | None) -> None:
    assert peer_comparison(replace(board(), statistics=statistics), MINE) == expected  # type: ignore[arg-type]
    assert peer_comparison(board(), UUID(int=99)) is None, "not on the board"
    assert peer_comparison(replace(board(), pair_tests={}), MINE) is None, "not compared with anybody"
