"""The rows around a team's own: two above, two below, as its board shows them, and nothing where it shows nothing."""

from __future__ import annotations

from uuid import UUID

import pytest
from sqlalchemy import Engine

from app.base.db import reading
from app.competitions.visibility import Viewer
from app.feedback.neighbours import Neighbours, neighbours_of
from app.feedback.standings import standings_of_one
from app.models import BoardShown, User
from app.submissions.find import get_submission
from tests import world
from tests.competitions.embargo import enter, hide
from tests.world import HOUR, NOW


@pytest.fixture
def own(engine: Engine, people: list[User]) -> UUID:
    """Six teams; ada is fourth with 0.6."""
    ada = people[0]
    others = [people[1], people[2], *(world.add_user(engine, name) for name in ("north", "south", "west"))]
    for minute, (user, value) in enumerate(zip(others, (0.9, 0.8, 0.7, 0.5, 0.4), strict=True)):
        enter(engine, user, value, minute=minute)
    submission: UUID = enter(engine, ada, 0.6, minute=9)
    return submission


def around(engine: Engine, viewer: User, submission: UUID) -> Neighbours | None:
    looker = Viewer(viewer, NOW + HOUR)
    with reading(engine) as session:
        found = get_submission(session, submission, viewer)
        first = standings_of_one(session, found, looker)[0]
        return neighbours_of(session, found.phase_task.phase, first, looker)


def test_two_above_and_two_below_with_the_difference_to_oneself(engine: Engine, people: list[User], own: UUID) -> None:
    found = around(engine, people[0], own)
    assert found is not None
    told = [(one.row.rank, one.row.team, one.value, one.delta, one.row.is_mine) for one in found.rows]
    assert told == [
        (2, "Cat", 0.8, pytest.approx(0.2), False),
        (3, "North", 0.7, pytest.approx(0.1), False),
        (4, "Ada", 0.6, None, True),
        (5, "South", 0.5, pytest.approx(-0.1), False),
        (6, "West", 0.4, pytest.approx(-0.2), False),
    ]
    places = [one.spread.place for one in found.rows if one.spread is not None]
    assert places == sorted(places, reverse=True)


def test_a_submission_that_does_not_count_has_none(engine: Engine, people: list[User], own: UUID) -> None:
    worse = enter(engine, people[0], 0.1, minute=20)
    assert around(engine, people[0], worse) is None
    assert around(engine, people[0], own) is not None


@pytest.mark.parametrize("board", [BoardShown.HIDDEN, BoardShown.RANKS_ONLY])
def test_a_board_without_scores_has_none(engine: Engine, people: list[User], own: UUID, board: BoardShown) -> None:
    hide(engine, board=board)
    with reading(engine) as session:
        listed = standings_of_one(session, get_submission(session, own, people[0]), Viewer(people[0], NOW + HOUR))
    assert not listed or around(engine, people[0], own) is None
