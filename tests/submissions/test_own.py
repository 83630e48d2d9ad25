"""A user's own submissions: those of their teams, and of a team that they left only what they sent themselves."""

from __future__ import annotations

from uuid import UUID

import pytest
from sqlalchemy import Engine, update

from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.models import Board, User
from app.submissions.accept import SubmissionForm, check_submission_form
from app.submissions.choices import boards_entered
from app.submissions.find import OwnFilter, count_own, get_submission, newest_own
from app.teams.membership import leave_team
from tests.competitions.embargo import enter
from tests.world import COMPETITION, HOUR, NOW, add_team, submit, the_phase_task


@pytest.fixture
def engine(sqlite_engine: Engine) -> Engine:
    return sqlite_engine


def own(engine: Engine, user: User) -> set[UUID]:
    """All submissions of the user, or of a team of theirs, in the competition."""
    with reading(engine) as session:
        return set(newest_own(session, user, OwnFilter(competition=COMPETITION), limit=100))


def test_of_a_team_that_one_left_only_what_one_sent_is_ones_own(engine: Engine, people: list[User]) -> None:
    ada, bob, *_ = people
    add_team(engine, ada, bob, name="Both")
    sent = submit(engine, ada, content="sent").submission.id
    of_bob = submit(engine, bob, content="other").submission.id
    assert own(engine, ada) == {sent, of_bob}
    with writing(engine) as session:
        leave_team(session, find_competition(session, COMPETITION), ada, NOW + HOUR)
    alone = submit(engine, ada, NOW + 2 * HOUR, content="alone").submission.id
    assert own(engine, ada) == {sent, alone}
    assert own(engine, bob) == {sent, of_bob}
    with reading(engine) as session:
        assert count_own(session, find_competition(session, COMPETITION), ada) == 2


def test_the_method_sent_beside_the_card_is_the_cards(engine: Engine, people: list[User]) -> None:
    with reading(engine) as session:
        card = check_submission_form(the_phase_task(session), SubmissionForm(method=" BERT "))
        whole = SubmissionForm(card={"method": "BERT", "summary": "One of many."})
        assert check_submission_form(the_phase_task(session), whole) == whole.card
    assert card == {"method": "BERT"}


def test_boards_entered_come_in_the_order_of_their_positions(engine: Engine, people: list[User]) -> None:
    entered = enter(engine, people[0], 0.5, 0.6)
    with writing(engine) as session:
        here = find_competition(session, COMPETITION).id
        last = update(Board).where(Board.competition_id == here, Board.name == "zero-shot")
        session.execute(last.values(position=9))
    with reading(engine) as session:
        boards = boards_entered(session, get_submission(session, entered, people[0]))
        assert [board.name for board in boards] == ["one-shot", "zero-shot"]
