"""Details of a row: its entry, every score of its run that the viewer may see, and its tests against other rows.

Starts from the board as the viewer sees it: rows and values that it does not show have no details.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from uuid import UUID, uuid5

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.base.errors import NotFound
from app.boards.pair_tests import PairTest
from app.boards.rows import Leaderboard, LeaderboardRow
from app.competitions.visibility import rounded
from app.models import Board, HistoricRow, Phase, ScoringRun
from app.runs.private_scores import private_scores
from app.runs.report import scores_of_report
from evergold.scoring.halves import Half
from evergold.scoring.task import Score


@dataclass(frozen=True, slots=True)
class RowTest:
    """A test against another row of the board. test: the opened row minus the other one."""

    other: LeaderboardRow
    test: PairTest


def find_row(leaderboard: Leaderboard, submission_id: UUID) -> LeaderboardRow:
    """Return the row of this submission; raises NotFound if it is not on the board, or its values are not shown."""
    found = next((row for row in leaderboard.rows if row.page_id == submission_id), None)
    if found is None:
        raise NotFound("This submission is not on this board, or its scores are not shown here.")
    return found


#: Namespace of the ids of published results, so that the addresses of their pages stay the same after every `apply`.
_PUBLISHED_PAGES = UUID("6f2dbb1c-6b0e-5d0f-9a52-3c0a51e6a4d7")


def published_page(row: HistoricRow) -> UUID:
    """Return the id of a published result's page in each phase, derived from its board, source, name and date."""
    moment = row.achieved_at.isoformat() if row.achieved_at else ""
    return uuid5(_PUBLISHED_PAGES, json.dumps([row.board_id, row.source, row.team, moment]))


def published_scores(session: Session, phase: Phase, board: Board, row: LeaderboardRow) -> list[Score]:
    """Return every published score of a row, including those without a column; empty if the board shows only ranking
    scores.
    """
    query = select(HistoricRow).where(HistoricRow.phase_id == phase.id, HistoricRow.board_id == board.id)
    found = next((one for one in session.scalars(query) if published_page(one) == row.page_id), None)
    named = [(name.split(" ", 1), value) for name, value in (found.scores if found else {}).items() if " " in name]
    return [Score(metric, split, value, None, "") for (metric, split), value in named]


def scores_of_row(session: Session, leaderboard: Leaderboard, row: LeaderboardRow) -> list[Score]:
    """Return every score of the row's run, rounded to the board's decimals; empty if only the board's scores may be
    shown.
    """
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
    """Return the tests against all compared rows, in board order; empty if the board shows none."""
    tests = [(other, leaderboard.pair_test(row, other)) for other in leaderboard.rows if other.page_id != row.page_id]
    return [RowTest(other, test) for other, test in tests if test is not None]
