"""Requests of a team after a run cost the same on a board of few rows and of thousands, in statements and in steps of
SQLite's machine; and hardly more with a thousand submissions of the team than with a hundred.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading
from app.competitions.visibility import Viewer
from app.feedback.scores import own_scores_of_all
from app.feedback.standings import standings_of_all, standings_of_one
from app.models import Submission, User
from app.submissions.find import get_submission, list_submissions
from tests.filled_board import FOR_A_ROW, FOR_A_SUBMISSION, filled
from tests.plans import statements, steps
from tests.world import NOW

pytestmark = pytest.mark.soak


def costs(engine: Engine) -> tuple[Counter[str], int]:
    """Count steps by statement, and statements, for the newest run by itself and a page of ten."""
    with reading(engine) as session:
        ada = session.scalars(select(User).where(User.username == "ada")).one()
        newest = session.scalars(select(Submission.id).order_by(Submission.submitted_at.desc()).limit(1)).one()

    def ask() -> None:
        with reading(engine) as session:
            (found,) = standings_of_one(session, get_submission(session, newest, ada), Viewer(ada, NOW))
            assert found.ranks.now is not None
        with reading(engine) as session:
            page, _ = list_submissions(session, ada, limit=10)
            own = own_scores_of_all(session, page, Viewer(ada, NOW))
            assert len(standings_of_all(session, page, own, Viewer(ada, NOW), with_history=True)) == 10

    ask()
    with steps(engine) as counted, statements(engine) as asked:
        ask()
    return counted.copy(), len(asked)


def test_a_run_costs_the_same_on_a_board_of_thousands(tmp_path: Path) -> None:
    few, many, long = (costs(filled(tmp_path, *size)) for size in ((10, 10), (3_000, 10), (10, 1_000)))
    # Whether somebody is above a run decides on two statements for each board.
    assert max(few[1], many[1], long[1]) - min(few[1], many[1], long[1]) <= 4, "statements"
    for statement, number in many[0].items():
        assert number - few[0][statement] < 3_000 * FOR_A_ROW, (statement, number, few[0][statement])
    for statement, number in long[0].items():
        assert number - few[0][statement] < 1_000 * FOR_A_SUBMISSION, (statement, number, few[0][statement])
