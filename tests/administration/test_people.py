"""Accounts as administrators find and describe them: nothing of another person's, and each rule for whom it is."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, select

from app.administration import people as room
from app.administration.live import LiveState
from app.administration.people import (
    Group,
    OrganiserRules,
    Search,
    block,
    describe,
    find_account,
    search_people,
    set_organiser_rules,
    unblock,
)
from app.administration.views import AccountOut
from app.base.config import MEBIBYTE, get_settings
from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.models import Identity, LoginSession, Role, User
from app.people import auth
from app.people.act import Act
from app.people.rights import grant_role
from tests.rich_rows import add_gold
from tests.rich_world import NEIGHBOURS, ONE_RIGHT, ORGANISER
from tests.world import COMPETITION, DAY, HOUR, NOW, PHASE, TASK, add_team, add_user, submit


@pytest.fixture
def engine(sqlite_engine: Engine) -> Engine:
    return sqlite_engine


def names(engine: Engine, text: str = "", group: Group = "all") -> list[str]:
    with reading(engine) as session:
        return [one.username for one in search_people(session, Search(text, group)).accounts]


def the(engine: Engine, user: User) -> AccountOut:
    with reading(engine) as session:
        return describe(session, session.get_one(User, user.id), get_settings(), NOW)


def test_each_group_has_those_who_are_in_it(engine: Engine, people: list[User]) -> None:
    ada, bob, cat, dan = people
    add_user(engine, "root", is_administrator=True)
    add_user(engine, "una", is_confirmed=False)
    with writing(engine) as session:
        here = find_competition(session, COMPETITION)
        here.owner_id = ada.id
        grant_role(session, here, bob, Role.ANNOTATOR, NOW)
        grant_role(session, here, cat, Role.ORGANISER, NOW)
        session.get_one(User, dan.id).is_approved_organiser = True
        block(Act(session, None, NOW, get_settings()), session.get_one(User, bob.id), "Spam.")
    assert names(engine, group="administrators") == ["root"]
    assert names(engine, group="blocked") == ["bob"]
    assert names(engine, group="unconfirmed") == ["una"]
    assert names(engine, group="organisers") == sorted(["ada", "cat", "dan", ORGANISER, *ONE_RIGHT.values()])
    assert names(engine, "a", "organisers")[0] == "ada"
    assert "bob" not in names(engine, "o", "organisers"), "text and group, both"


def test_a_team_leads_to_its_members_and_pages_have_no_gaps(
    engine: Engine, people: list[User], monkeypatch: pytest.MonkeyPatch
) -> None:
    add_team(engine, people[1], people[3], name="Zebra")
    add_team(engine, people[2], name="Okapi")
    assert names(engine, "zebra") == ["bob", "dan"]
    whole = names(engine)
    assert whole == sorted(whole)
    monkeypatch.setattr(room, "PAGE_LENGTH", 3)
    paged, after = list[str](), ""
    with reading(engine) as session:
        while True:
            page = search_people(session, Search(after=after))
            paged += [one.username for one in page.accounts]
            assert len(page.accounts) <= 3
            if page.next_after is None:
                break
            after = page.next_after
    assert paged == whole


def test_an_account_is_described_by_its_own_alone(engine: Engine, people: list[User]) -> None:
    """Check it next to another account that has everything of its own."""
    ada, bob = people[:2]
    add_team(engine, ada, bob, name="Both")
    with writing(engine) as session:
        here, beside = (find_competition(session, name) for name in (COMPETITION, NEIGHBOURS))
        here.owner_id = ada.id
        grant_role(session, beside, ada, Role.ANNOTATOR, NOW)
        grant_role(session, here, bob, Role.ORGANISER, NOW)
        for user, hours in ((ada, 48), (ada, 1), (bob, 48), (bob, 48), (bob, 48)):
            login, _ = auth.start_session(session, user, NOW - 2 * HOUR, hours)
            login.seen_at = NOW - (HOUR if hours == 1 else 2 * HOUR) if user is ada else NOW
        for user in (ada, ada, ada, bob):
            auth.create_token(session, user, "t", NOW)
        session.flush()
        auth.create_token(session, ada, "old", NOW)[0].revoked_at = NOW
        for user, provider in ((ada, "uni"), (bob, "lab")):
            session.add(
                Identity(
                    user_id=user.id, provider=provider, issuer=provider, subject="7", label="x", created_at=NOW - DAY
                )
            )
        session.get_one(User, ada.id).competitions_limit = 3
    submit(engine, ada, content="one")
    for number in range(2):
        submit(engine, bob, content=f"of Bob {number}")
    add_gold(engine, COMPETITION, PHASE, TASK, NOW)
    found, settings = the(engine, ada), get_settings()
    assert (found.teams, found.roles, found.owns) == (
        [f"Both ({COMPETITION})"],
        [f"annotator of {NEIGHBOURS}"],
        [COMPETITION],
    )
    assert (found.submissions, found.log_ins, found.tokens, found.providers) == (1, 1, 3, ["uni"])
    assert (found.used_bytes, found.seen_at) == (900, NOW - HOUR)
    assert (found.competitions_limit, found.mebibytes_limit, found.may_own) == (3, None, 3)
    assert found.may_hold_bytes == settings.mebibytes_per_organiser * MEBIBYTE
    other = the(engine, bob)
    assert (other.submissions, other.log_ins, other.tokens, other.used_bytes) == (2, 3, 1, 0)
    assert (other.roles, other.owns) == ([f"organiser of {COMPETITION}"], [])


def test_rules_for_one_organiser_are_kept_each_in_its_place(engine: Engine, people: list[User]) -> None:
    ada, bob = people[:2]
    rules = OrganiserRules("approved", competitions=2, mebibytes=70)
    with writing(engine) as session:
        assert set_organiser_rules(Act(session, None, NOW, get_settings()), session.get_one(User, ada.id), rules)
        assert not set_organiser_rules(Act(session, None, NOW, get_settings()), session.get_one(User, ada.id), rules), (
            "as it was"
        )
    found = the(engine, ada)
    assert (found.organising, found.may_own, found.may_hold_bytes) == ("approved", 2, 70 * MEBIBYTE)
    assert (found.competitions_limit, found.mebibytes_limit) == (2, 70)
    assert the(engine, bob).organising == "rule"


def test_a_block_ends_the_log_ins_of_one_account_and_is_lifted_from_one(engine: Engine, people: list[User]) -> None:
    with writing(engine) as session:
        for user in people[:3]:
            auth.start_session(session, user, NOW, 24)
        for user in people[:2]:
            assert block(
                Act(session, None, NOW, get_settings()), session.get_one(User, user.id), f"As to {user.username}."
            )
        assert session.scalars(select(LoginSession.user_id).where(LoginSession.expires_at > NOW)).all() == [
            people[2].id
        ]
        assert unblock(Act(session, None, NOW, get_settings()), find_account(session, "ada"))
        assert not unblock(Act(session, None, NOW, get_settings()), find_account(session, "ada"))
    assert names(engine, group="blocked") == ["bob"]
    state = LiveState(get_settings(), lambda: NOW)
    state.look(engine)
    assert [state.is_blocked(user) for user in people] == [False, True, False, False]
    assert (the(engine, people[0]).blocked_reason, the(engine, people[1]).blocked_reason) == ("", "As to bob.")
