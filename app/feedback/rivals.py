"""Comparison of an entry with the other rows of its board: the baseline, and rows without a significant difference.

Built from the board as its viewer sees it, so that it reveals no row and no p-value that is not shown there.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from app.boards.pair_tests import PairTest
from app.boards.rows import Leaderboard, LeaderboardRow


@dataclass(frozen=True, slots=True)
class PeerComparison:
    """An entry compared with the rest of its board.

    baseline: the best one; baseline_test: the run minus the baseline; is_above_baseline: True if the run is better.
    alike: teams without a significant difference, in board order.
    ahead, behind: number of rows that are significantly better, or worse.
    is_pending: True while the tests are being computed.
    """

    baseline: str = ""
    baseline_test: PairTest | None = None
    is_above_baseline: bool = False
    alike: tuple[str, ...] = ()
    ahead: int = 0
    behind: int = 0
    is_pending: bool = False


def peer_comparison(board: Leaderboard, submission_id: UUID) -> PeerComparison | None:
    """Return the comparison, or None if the row is not on the board or the board shows no statistics."""
    mine = next((row for row in board.rows if row.page_id == submission_id), None)
    if mine is None or board.statistics in ("none", "withheld"):
        return None
    if board.statistics == "pending":
        return PeerComparison(is_pending=True)
    tests = [(row, test) for row in board.rows if row is not mine and (test := board.pair_test(mine, row)) is not None]
    if not tests:
        return None
    ranked = [(row, test) for row, test in tests if row.rank is not None and mine.rank is not None]
    best, test = _best_baseline(board, tests)
    return PeerComparison(
        baseline=best.team if best else "",
        baseline_test=test,
        is_above_baseline=test is not None and _is_better(board, test),
        alike=tuple(row.team for row, one in ranked if not one.is_significant),
        ahead=sum(one.is_significant and not _is_better(board, one) for _, one in ranked),
        behind=sum(one.is_significant and _is_better(board, one) for _, one in ranked),
    )


def _is_better(board: Leaderboard, test: PairTest) -> bool:
    return (test.difference > 0) == board.columns[board.rank_by].higher_is_better


def _best_baseline(
    board: Leaderboard, tests: list[tuple[LeaderboardRow, PairTest]]
) -> tuple[LeaderboardRow, PairTest] | tuple[None, None]:
    """Return the best baseline that was compared with the run."""
    sign = 1 if board.columns[board.rank_by].higher_is_better else -1
    baselines = [one for one in tests if one[0].kind == "baseline"]
    return max(baselines, key=lambda one: sign * (one[0].cells[board.rank_by].value or 0.0), default=(None, None))
