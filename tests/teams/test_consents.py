"""Consent to the publication of predictions: of each person, for a team only if all consent, and never assumed."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, select

from app.base.config import get_settings
from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.models import AuditEntry, TeamKind, User
from app.people.act import UserAct
from app.teams.consents import describe_consent, publishable, set_consent
from app.teams.membership import create_team, invite, join_team, leave_team
from tests.world import COMPETITION, HOUR, NOW, add_competition, add_team, add_user, submit

pytestmark = pytest.mark.both


@pytest.fixture
def ada(engine: Engine) -> User:
    """Return a user in a competition that requests consent."""
    add_competition(engine, per_day=None)
    ask(engine, True)
    return add_user(engine, "ada")


@pytest.fixture
def bob(engine: Engine, ada: User) -> User:
    return add_user(engine, "bob")


def ask(engine: Engine, is_asked: bool) -> None:
    with writing(engine) as session:
        competition = find_competition(session, COMPETITION)
        competition.registration = {**competition.registration, "publish_predictions": is_asked}


def consent(engine: Engine, user: User, is_given: bool = True) -> bool:
    with writing(engine) as session:
        return set_consent(session, find_competition(session, COMPETITION), user, is_given, NOW)


def may_publish(engine: Engine, *sent: object) -> list[bool]:
    """Return whether each submission may be published, by its id."""
    with reading(engine) as session:
        ids = [one.submission.id for one in sent]  # type: ignore[attr-defined]
        found = publishable(session, find_competition(session, COMPETITION), ids)
        return [one in found for one in ids]


def test_nothing_is_published_without_and_it_can_be_taken_back(engine: Engine, ada: User) -> None:
    sent = submit(engine, ada)
    assert may_publish(engine, sent) == [False]
    assert consent(engine, ada)
    assert not consent(engine, ada), "given already"
    assert may_publish(engine, sent) == [True]
    assert consent(engine, ada, False)
    assert may_publish(engine, sent) == [False]
    with reading(engine) as session:
        deeds = select(AuditEntry.action).where(AuditEntry.actor_id == ada.id).order_by(AuditEntry.id)
        assert list(session.scalars(deeds)) == ["consent.give", "consent.revoke"]


def test_a_team_consents_when_all_of_its_members_do(engine: Engine, ada: User, bob: User) -> None:
    with writing(engine) as session:
        competition = find_competition(session, COMPETITION)
        create_team(UserAct(session, ada, NOW, get_settings()), competition, "Both")
        invitation, _ = invite(UserAct(session, ada, NOW, get_settings()), competition)
        join_team(UserAct(session, bob, NOW, get_settings()), competition, invitation)
    of_ada, of_bob = submit(engine, ada), submit(engine, bob, NOW + HOUR, content="another")
    consent(engine, ada)
    assert may_publish(engine, of_ada, of_bob) == [False, False]
    with reading(engine) as session:
        found = describe_consent(session, find_competition(session, COMPETITION), ada)
        assert (found.is_asked, found.consents, found.team_consents) == (True, True, False)
    consent(engine, bob)
    assert may_publish(engine, of_ada, of_bob) == [True, True]
    with writing(engine) as session:
        leave_team(UserAct(session, bob, NOW + 2 * HOUR, get_settings()), find_competition(session, COMPETITION))
    consent(engine, bob, False)
    assert may_publish(engine, of_ada, of_bob) == [True, False], "what somebody sent who has left needs their consent"


def test_who_joins_later_is_asked_as_well(engine: Engine, ada: User, bob: User) -> None:
    with writing(engine) as session:
        create_team(UserAct(session, ada, NOW, get_settings()), find_competition(session, COMPETITION), "Both")
    sent = submit(engine, ada)
    consent(engine, ada)
    assert may_publish(engine, sent) == [True]
    with writing(engine) as session:
        competition = find_competition(session, COMPETITION)
        invitation, _ = invite(UserAct(session, ada, NOW, get_settings()), competition)
        join_team(UserAct(session, bob, NOW, get_settings()), competition, invitation)
    assert may_publish(engine, sent) == [False]


def test_where_nobody_asks_nothing_is_given_and_nothing_published(engine: Engine, ada: User) -> None:
    sent = submit(engine, ada)
    consent(engine, ada)
    ask(engine, False)
    assert may_publish(engine, sent) == [False]
    consent(engine, ada, False)
    assert not consent(engine, ada)


def test_baselines_are_the_organisers_own(engine: Engine, ada: User) -> None:
    maker = add_user(engine, "maker")
    add_team(engine, maker, name="A baseline", kind=TeamKind.BASELINE)
    assert may_publish(engine, submit(engine, maker)) == [True]
