"""The rows around a team's own: two above, two below, as its board shows them, and nothing where it shows nothing."""

from __future__ import annotations

from uuid import UUID

import pytest
from sqlalchemy import Engine, update

from app.base.db import reading, writing
from app.competitions.visibility import Viewer
from app.feedback.neighbours import Neighbours
from app.feedback.standings import RunStanding, standings_of_one
from app.models import BoardShown, EntryRule, Phase, User
from app.submissions.find import get_submission
from tests import world
from tests.competitions.embargo import enter, hide
from tests.world import HOUR, NOW, PHASE


@pytest.fixture
def own(engine: Engine, people: list[User]) -> UUID:
    """Six teams; ada is fourth with 0.6."""
    ada = people[0]
    others = [people[1], people[2], *(world.add_user(engine, name) for name in ("north", "south", "west"))]
    for minute, (user, value) in enumerate(zip(others, (0.9, 0.8, 0.7, 0.5, 0.4), strict=True)):
        enter(engine, user, value, minute=minute)
    submission: UUID = enter(engine, ada, 0.6, minute=9)
    return submission


def standing(engine: Engine, viewer: User, submission: UUID) -> RunStanding:
    looker = Viewer(viewer, NOW + HOUR)
    with reading(engine) as session:
        found = get_submission(session, submission, viewer)
        return standings_of_one(session, found, looker)[0]


def around(engine: Engine, viewer: User, submission: UUID) -> Neighbours | None:
    return standing(engine, viewer, submission).neighbours


def test_two_above_and_two_below_with_the_difference_to_oneself(engine: Engine, people: list[User], own: UUID) -> None:
    found = around(engine, people[0], own)
    assert found is not None
    told = [(one.rank, one.team, one.value, one.delta, one.is_mine) for one in found.rows]
    assert told == [
        (2, "Cat", 0.8, pytest.approx(0.2), False),
        (3, "North", 0.7, pytest.approx(0.1), False),
        (4, "Ada", 0.6, None, True),
        (5, "South", 0.5, pytest.approx(-0.1), False),
        (6, "West", 0.4, pytest.approx(-0.2), False),
    ]
    assert [one.is_this for one in found.rows] == [False, False, True, False, False]
    assert not found.have_intervals


def test_a_submission_that_does_not_count_has_none(engine: Engine, people: list[User], own: UUID) -> None:
    worse = enter(engine, people[0], 0.1, minute=20)
    assert around(engine, people[0], worse) is None
    assert around(engine, people[0], own) is not None


def test_where_all_count_they_are_those_of_this_submission(engine: Engine, people: list[User], own: UUID) -> None:
    lower = enter(engine, people[0], 0.45, minute=20)
    with writing(engine) as session:
        session.execute(update(Phase).where(Phase.name == PHASE).values(entry_rule=EntryRule.ALL))
    found = around(engine, people[0], lower)
    assert found is not None
    assert [(one.rank, one.value, one.is_this, one.is_mine) for one in found.rows] == [
        (4, 0.6, False, True),
        (5, 0.5, False, False),
        (6, 0.45, True, True),
        (7, 0.4, False, False),
    ]
    assert [one.delta for one in found.rows] == [pytest.approx(0.15), pytest.approx(0.05), None, pytest.approx(-0.05)]
    ranks = standing(engine, people[0], lower).ranks
    assert (ranks.then, ranks.now, ranks.of) == (6, 6, 7), "the team's better row is above it, as on the board"


@pytest.mark.parametrize("board", [BoardShown.HIDDEN, BoardShown.RANKS_ONLY])
def test_a_board_without_scores_has_none(engine: Engine, people: list[User], own: UUID, board: BoardShown) -> None:
    hide(engine, board=board)
    with reading(engine) as session:
        listed = standings_of_one(session, get_submission(session, own, people[0]), Viewer(people[0], NOW + HOUR))
    assert not listed or around(engine, people[0], own) is None
