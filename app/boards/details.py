"""A row of a board, opened: what stands on it, every score of its run that the board's viewer may see, and whom it is
told apart from.

Starts from the board as the viewer is shown it: a row that is not there, or whose values are not, cannot be opened.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.base.errors import NotFound
from app.boards.pair_tests import PairTest
from app.boards.rows import Leaderboard, LeaderboardRow
from app.competitions.visibility import rounded
from app.models import ScoringRun
from app.runs.private_scores import private_scores
from app.runs.report import scores_of_report
from evergold.scoring.halves import Half
from evergold.scoring.task import Score


@dataclass(frozen=True, slots=True)
class RowTest:
    """Another row of the board; test: what the opened one has more."""

    other: LeaderboardRow
    test: PairTest


def find_row(leaderboard: Leaderboard, submission_id: UUID) -> LeaderboardRow:
    """The row of this submission; raises NotFound where it does not stand there, or its values are not shown."""
    found = next((row for row in leaderboard.rows if row.page_id == submission_id), None)
    if found is None:
        raise NotFound("This submission does not stand on this board, or its scores are not shown here.")
    return found


def scores_of_row(session: Session, leaderboard: Leaderboard, row: LeaderboardRow) -> list[Score]:
    """Every score of the row's run, in the digits of the board; none where only what the board shows is shown."""
    if row.run_id is None:
        return []
    if leaderboard.half is Half.PRIVATE:
        shown = [score for _, score in private_scores(session, [row.run_id])]
        return [replace(score, value=rounded(score.value, leaderboard.precision)) for score in shown]
    packed = session.scalar(select(ScoringRun.report).where(ScoringRun.id == row.run_id))
    if packed is None:
        return []
    return [replace(score, value=rounded(score.value, leaderboard.precision)) for score in scores_of_report(packed)]


def tests_of_row(leaderboard: Leaderboard, row: LeaderboardRow) -> list[RowTest]:
    """With every row that it was compared with, in the order of the board; none where the board tells none."""
    tests = [(other, leaderboard.pair_test(row, other)) for other in leaderboard.rows if other.page_id != row.page_id]
    return [RowTest(other, test) for other, test in tests if test is not None]
