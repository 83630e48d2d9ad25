"""A user's own submissions: those of their teams, and of a team that they left only what they sent themselves."""

from __future__ import annotations

from contextlib import suppress
from uuid import UUID

import pytest
from sqlalchemy import Engine, update

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import NotFound
from app.competitions.find import find_competition
from app.models import Board, Right, User
from app.people.act import UserAct
from app.submissions.accept import SubmissionForm, check_submission_form
from app.submissions.choices import boards_entered
from app.submissions.find import OwnFilter, check_visible, count_own, get_submission, newest_own, own_places
from app.teams.membership import leave_team
from tests.beside import one_right_each
from tests.competitions.embargo import add_phase, enter
from tests.plans import statements
from tests.world import COMPETITION, DAY, HOUR, NOW, PHASE, add_competition, add_team, add_user, submit, the_phase_task


@pytest.fixture
def engine(sqlite_engine: Engine) -> Engine:
    return sqlite_engine


def own(engine: Engine, user: User) -> set[UUID]:
    """Return all submissions of the user, or of a team of theirs, in the competition."""
    with reading(engine) as session:
        return set(newest_own(session, user, OwnFilter(competition=COMPETITION), limit=100))


def test_of_a_team_that_one_left_only_what_one_sent_is_ones_own(engine: Engine, people: list[User]) -> None:
    ada, bob, *_ = people
    add_team(engine, ada, bob, name="Both")
    sent = submit(engine, ada, content="sent").submission.id
    of_bob = submit(engine, bob, content="other").submission.id
    assert own(engine, ada) == {sent, of_bob}
    with writing(engine) as session:
        leave_team(UserAct(session, ada, NOW + HOUR, get_settings()), find_competition(session, COMPETITION))
    alone = submit(engine, ada, NOW + 2 * HOUR, content="alone").submission.id
    assert own(engine, ada) == {sent, alone}
    assert own(engine, bob) == {sent, of_bob}
    with reading(engine) as session:
        assert count_own(session, find_competition(session, COMPETITION), ada) == 2


def test_places_that_were_read_are_not_read_again_for_one_competition(engine: Engine, people: list[User]) -> None:
    ada = people[0]
    add_competition(engine, name="others")
    for name in (COMPETITION, "others"):
        submit(engine, ada, competition=name, content=name)
    names: list[dict[str, str]] = [{"competition": COMPETITION}, {"competition": "others", "phase": "practice"}, {}]
    alone = []
    for one in names:
        with reading(engine) as session:
            alone.append(own_places(session, ada, **one))
    assert [len(one) for one in alone] == [1, 0, 2]
    with reading(engine) as session:
        own_places(session, ada)
        with statements(engine) as sent:
            assert [own_places(session, ada, **one) for one in names] == alone
    assert sent == []


def test_who_sees_a_submission_is_its_team_and_organisers_with_the_right_to_it(
    engine: Engine, people: list[User]
) -> None:
    ada, bob, cat, dan = people
    add_team(engine, ada, bob, name="Both")
    submit(engine, cat)
    sent = submit(engine, ada).submission.id
    organisers = one_right_each(engine)
    root = add_user(engine, "root", is_administrator=True)
    everybody = [ada, bob, cat, dan, root, *organisers.values()]
    seen = []
    with reading(engine) as session:
        for user in everybody:
            with suppress(NotFound):
                assert get_submission(session, sent, user).id == sent
                check_visible(session, sent, user)
                seen.append(user.username)
    assert seen == ["ada", "bob", "root", organisers[Right.SUBMISSIONS].username]


def test_places_come_as_the_organisers_have_them(engine: Engine, people: list[User]) -> None:
    """Competitions by their position, phases by their start, whenever they were made and end."""
    ada = people[0]
    add_phase(engine, "practice", starts_at=NOW - 2 * HOUR, ends_at=NOW + 3 * DAY, position=5)
    add_phase(engine, "late", starts_at=NOW - HOUR, ends_at=NOW + HOUR)
    add_competition(engine, name="first", per_day=None)
    for phase in (PHASE, "late", "practice"):
        enter(engine, ada, 0.5, phase=phase)
    submit(engine, ada, competition="first")
    with writing(engine) as session:
        find_competition(session, COMPETITION).position = 7
        find_competition(session, "first").position = 2
    with reading(engine) as session:
        found = [one.names[:2] for one in own_places(session, ada)]
        assert found == [("first", PHASE), *((COMPETITION, phase) for phase in (PHASE, "practice", "late"))]
        assert [one.names[1] for one in own_places(session, ada, competition=COMPETITION, phase="late")] == ["late"]
        assert [one.names[:2] for one in own_places(session, ada, competition="first")] == [("first", PHASE)]


def test_of_a_team_that_one_left_there_are_only_places_that_one_sent_to(engine: Engine, people: list[User]) -> None:
    ada, bob, *_ = people
    for phase in ("hers", "his"):
        add_phase(engine, phase, starts_at=NOW - HOUR, ends_at=NOW + DAY)
    add_team(engine, ada, bob, name="Both")
    enter(engine, ada, 0.5, phase="hers")
    enter(engine, bob, 0.5, phase="his")
    with writing(engine) as session:
        leave_team(UserAct(session, ada, NOW + HOUR, get_settings()), find_competition(session, COMPETITION))
    with reading(engine) as session:
        assert [(one.names[1], one.is_member) for one in own_places(session, ada)] == [("hers", False)]
        assert [one.names[1] for one in own_places(session, bob)] == ["hers", "his"]


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
