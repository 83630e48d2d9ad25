"""Two submissions of a team side by side: the order of their scores."""

from __future__ import annotations

from sqlalchemy import Engine, update

from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.competitions.visibility import Viewer
from app.feedback.compare import compare
from app.models import Board, User
from tests.competitions.embargo import enter
from tests.world import COMPETITION, HOUR, NOW, ONE_SHOT, ZERO_SHOT


def test_scores_that_rank_come_first_in_the_order_of_the_boards(engine: Engine, people: list[User]) -> None:
    """The board of zero-shot has the lower id."""
    ada = people[0]
    older, newer = enter(engine, ada, 0.5, 0.6), enter(engine, ada, 0.7, 0.2, minute=1)
    looker = Viewer(ada, NOW + HOUR)

    def first() -> list[tuple[str, str]]:
        with reading(engine) as session:
            found = compare(session, newer, older, looker)
        assert (found.a.id, found.b.id) == (older, newer)
        return [(row.metric, row.split) for row in found.rows[:2]]

    assert first() == [("macro_f1", ZERO_SHOT), ("macro_f1", ONE_SHOT)]
    with writing(engine) as session:
        here = find_competition(session, COMPETITION).id
        last = update(Board).where(Board.competition_id == here, Board.name == "zero-shot")
        session.execute(last.values(position=9))
    assert first() == [("macro_f1", ONE_SHOT), ("macro_f1", ZERO_SHOT)]
