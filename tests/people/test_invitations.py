"""Invitations to a role: to one address and one role in one competition, until they are answered, ended or too old."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

import pytest
from sqlalchemy import Engine, select

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import InvalidForm, LimitReached, NotFound
from app.competitions.find import find_competition
from app.models import Competition, OutgoingMail, Right, Role, RoleInvitation, User
from app.people import invitations
from app.people.act import Act, UserAct
from app.people.invitations import (
    LASTS,
    answer,
    count_own,
    end_links,
    end_those_beyond,
    invite,
    join_as_guest,
    make_link,
    open_invitations,
    own_invitations,
    take_back,
)
from app.people.rights import grant_role, has_role, rights_of
from tests.rich_world import NEIGHBOURS
from tests.world import COMPETITION, DAY, HOUR, NOW, add_competition, add_user


@pytest.fixture
def olga(sqlite_engine: Engine) -> User:
    """She organises with every right."""
    add_competition(sqlite_engine)
    user = add_user(sqlite_engine, "olga")
    with writing(sqlite_engine) as session:
        grant_role(session, find_competition(session, COMPETITION), user, Role.ORGANISER, NOW)
    return user


def asked(
    engine: Engine,
    by: User,
    whom: str,
    role: Role = Role.TESTER,
    *,
    competition: str = COMPETITION,
    rights: Collection[Right] | None = None,
    now: datetime = NOW,
) -> int:
    """Invite and return the id of the invitation."""
    with writing(engine) as session:
        here = find_competition(session, competition)
        return invite(Act(session, by, now, get_settings()), here, whom, role, rights=rights).id


def still_open(engine: Engine, competition: str = COMPETITION, now: datetime = NOW) -> list[int]:
    with reading(engine) as session:
        return [one.id for one in open_invitations(session, find_competition(session, competition), now)]


def letters(engine: Engine) -> list[OutgoingMail]:
    with reading(engine) as session:
        return list(session.scalars(select(OutgoingMail).order_by(OutgoingMail.id)))


def here_in(session: object) -> Competition:
    return find_competition(session, COMPETITION)  # type: ignore[arg-type]


def test_asking_again_ends_the_same_invitation_and_no_other(sqlite_engine: Engine, olga: User) -> None:
    add_user(sqlite_engine, "grace")
    root = add_user(sqlite_engine, "root", is_administrator=True)
    kept = [
        asked(sqlite_engine, olga, "grace", Role.GUEST),
        asked(sqlite_engine, olga, "eve@example.org"),
    ]
    beside = asked(sqlite_engine, root, "grace", competition=NEIGHBOURS)
    first = asked(sqlite_engine, olga, "grace")
    again = asked(sqlite_engine, olga, "Grace@Example.org", now=NOW + HOUR)
    assert still_open(sqlite_engine) == [again, *reversed(kept)], "the newest first"
    assert first not in still_open(sqlite_engine)
    assert still_open(sqlite_engine, NEIGHBOURS) == [beside]


def test_one_is_taken_back_by_its_own_competition_alone(sqlite_engine: Engine, olga: User) -> None:
    add_user(sqlite_engine, "grace")
    root = add_user(sqlite_engine, "root", is_administrator=True)
    ours, other = asked(sqlite_engine, olga, "grace"), asked(sqlite_engine, olga, "grace", Role.GUEST)
    theirs = asked(sqlite_engine, root, "grace", competition=NEIGHBOURS)
    with writing(sqlite_engine) as session, pytest.raises(NotFound):
        take_back(Act(session, olga, NOW, get_settings()), here_in(session), theirs)
    with writing(sqlite_engine) as session:
        take_back(Act(session, olga, NOW, get_settings()), here_in(session), ours)
    assert (still_open(sqlite_engine), still_open(sqlite_engine, NEIGHBOURS)) == ([other], [theirs])
    with writing(sqlite_engine) as session, pytest.raises(NotFound, match="Invitation not found"):
        take_back(Act(session, olga, NOW, get_settings()), here_in(session), ours)


def test_a_new_link_ends_the_one_before_and_leaves_letters_and_neighbours_alone(
    sqlite_engine: Engine, olga: User
) -> None:
    grace = add_user(sqlite_engine, "grace")
    letter = asked(sqlite_engine, olga, "grace")
    with writing(sqlite_engine) as session:
        next_door = make_link(UserAct(session, olga, NOW, get_settings()), find_competition(session, NEIGHBOURS))
        old, new = (make_link(UserAct(session, olga, NOW, get_settings()), here_in(session)) for _ in range(2))
    assert letter in still_open(sqlite_engine)
    assert len(still_open(sqlite_engine)) == 2
    with writing(sqlite_engine) as session:
        with pytest.raises(NotFound):
            join_as_guest(session, grace, old, NOW)
        assert join_as_guest(session, grace, new, NOW).name == COMPETITION
        assert has_role(session, grace, here_in(session), Role.GUEST)
        assert [end_links(UserAct(session, olga, NOW, get_settings()), here_in(session)) for _ in range(2)] == [
            True,
            False,
        ]
        with pytest.raises(NotFound):
            join_as_guest(session, olga, new, NOW)
        assert join_as_guest(session, grace, next_door, NOW + LASTS - HOUR).name == NEIGHBOURS
        with pytest.raises(NotFound):
            join_as_guest(session, olga, next_door, NOW + LASTS)
    assert still_open(sqlite_engine) == [letter]


def test_who_loses_rights_has_given_none_of_them_on(sqlite_engine: Engine, olga: User) -> None:
    otto = add_user(sqlite_engine, "otto")
    root = add_user(sqlite_engine, "root", is_administrator=True)
    with writing(sqlite_engine) as session:
        grant_role(session, here_in(session), otto, Role.ORGANISER, NOW)
        grant_role(session, find_competition(session, NEIGHBOURS), otto, Role.ORGANISER, NOW)
    beyond = asked(sqlite_engine, otto, "a@example.org", Role.ORGANISER, rights=[Right.EDIT, Right.GOLD])
    kept = [
        asked(sqlite_engine, otto, "b@example.org", Role.ORGANISER, rights=[Right.EDIT]),
        asked(sqlite_engine, otto, "c@example.org", Role.TESTER),
        asked(sqlite_engine, root, "d@example.org", Role.ORGANISER, rights=[Right.GOLD]),
    ]
    beside = asked(sqlite_engine, otto, "e@example.org", Role.ORGANISER, rights=[Right.GOLD], competition=NEIGHBOURS)
    with writing(sqlite_engine) as session:
        end_those_beyond(session, here_in(session), otto, frozenset({Right.EDIT}), NOW)
    assert (sorted(still_open(sqlite_engine)), still_open(sqlite_engine, NEIGHBOURS)) == (kept, [beside])
    assert beyond not in kept


def test_one_sees_and_answers_what_is_for_ones_own_address_while_it_is_open(sqlite_engine: Engine, olga: User) -> None:
    grace, eve = add_user(sqlite_engine, "grace"), add_user(sqlite_engine, "eve")
    asked(sqlite_engine, olga, "eve")
    first = asked(sqlite_engine, olga, "grace", Role.ORGANISER, rights=[Right.GOLD])
    second = asked(sqlite_engine, olga, "grace", Role.GUEST, now=NOW + HOUR)
    with writing(sqlite_engine) as session:
        assert [one.id for one in own_invitations(session, grace, NOW + HOUR)] == [second, first], "the newest first"
        assert (count_own(session, grace, NOW), count_own(session, eve, NOW)) == (2, 1)
        assert [one.id for one in own_invitations(session, grace, NOW + LASTS)] == [second]
        assert count_own(session, grace, NOW + LASTS) == 1
        with pytest.raises(NotFound):
            answer(session, eve, first, True, NOW)
        with pytest.raises(NotFound):
            answer(session, grace, first, True, NOW + LASTS)
        assert answer(session, grace, first, True, NOW).name == COMPETITION
        answer(session, grace, second, False, NOW)
        assert rights_of(session, grace, here_in(session)) == {Right.GOLD}
        assert not has_role(session, grace, here_in(session), Role.GUEST)
        assert (count_own(session, grace, NOW), count_own(session, eve, NOW)) == (0, 1)


@pytest.mark.parametrize(
    ("role", "words"),
    [
        (Role.ORGANISER, "an organiser"),
        (Role.ANNOTATOR, "an annotator"),
        (Role.TESTER, "a tester"),
        (Role.GUEST, "a guest"),
    ],
)
def test_who_has_the_role_already_is_not_invited_to_it(
    sqlite_engine: Engine, olga: User, role: Role, words: str
) -> None:
    grace = add_user(sqlite_engine, "grace")
    with writing(sqlite_engine) as session:
        grant_role(session, here_in(session), grace, role, NOW)
    with pytest.raises(InvalidForm) as refused:
        asked(sqlite_engine, olga, "grace", role)
    assert refused.value.details["fields"] == {"whom": f"grace is {words} already."}


def test_who_has_an_account_and_who_has_none_each_get_their_letter(sqlite_engine: Engine, olga: User) -> None:
    add_user(sqlite_engine, "grace")
    asked(sqlite_engine, olga, "grace", Role.ORGANISER, rights=[Right.GOLD])
    asked(sqlite_engine, olga, "new@example.org")
    known, stranger = letters(sqlite_engine)
    assert [one.recipient for one in (known, stranger)] == ["grace@example.org", "new@example.org"]
    assert [one.subject for one in (known, stranger)] == ["Invitation: Idioms"] * 2
    assert 'Hello Grace,\n\nOlga invites you to the competition "Idioms": you may organise it' in known.body
    assert "with the rights gold" in known.body
    assert "http://127.0.0.1:8321/invitations\n" in known.body
    assert "you may test it before it is published" in stranger.body
    assert "/register?next=%2Finvitations" in stranger.body
    assert known.competition_id == stranger.competition_id, "replies go to the organisers"
    assert known.competition_id is not None


def test_strangers_are_written_to_by_one_person_so_often_a_day(
    sqlite_engine: Engine, olga: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(invitations, "STRANGERS_A_DAY", 2)
    otto = add_user(sqlite_engine, "otto")
    with writing(sqlite_engine) as session:
        grant_role(session, here_in(session), otto, Role.ORGANISER, NOW)
        make_link(UserAct(session, olga, NOW, get_settings()), here_in(session))
    asked(sqlite_engine, otto, "zero@example.org")
    for number in range(2):
        asked(sqlite_engine, olga, f"new{number}@example.org")
    with pytest.raises(LimitReached):
        asked(sqlite_engine, olga, "new2@example.org", now=NOW + DAY - HOUR)
    asked(sqlite_engine, otto, "one@example.org")
    asked(sqlite_engine, olga, "new2@example.org", now=NOW + DAY)
    with reading(sqlite_engine) as session:
        addresses = select(RoleInvitation.address).where(RoleInvitation.address.is_not(None))
        assert len(session.scalars(addresses).all()) == 5
