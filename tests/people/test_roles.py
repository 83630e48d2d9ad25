"""Roles: who organises a competition, who is written to about it, and who is not although they have a part in it."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading, writing
from app.base.errors import Forbidden, NotAuthenticated, NotFound
from app.competitions.find import find_competition
from app.models import AuditEntry, Right, Role, User
from app.people.auth import approve_organiser
from app.people.rights import (
    ANY_RIGHT,
    addresses_for_replies,
    check_may_organise,
    find_user,
    grant_role,
    has_role,
    list_roles,
    may_organise,
    organisers_of,
    revoke_role,
)
from tests.world import COMPETITION, DAY, NOW, add_competition, add_user


def test_letters_to_organisers_go_to_no_annotator_and_to_nobody_who_organises_elsewhere(sqlite_engine: Engine) -> None:
    for name in (COMPETITION, "others"):
        add_competition(sqlite_engine, name=name)
    add_user(sqlite_engine, "root", is_administrator=True)
    anna, elsa, olga = (add_user(sqlite_engine, name) for name in ("anna", "elsa", "olga"))
    with writing(sqlite_engine) as session:
        here, elsewhere = (find_competition(session, name) for name in (COMPETITION, "others"))
        grant_role(session, here, anna, Role.ANNOTATOR, NOW)
        grant_role(session, here, olga, Role.ORGANISER, NOW)
        grant_role(session, elsewhere, elsa, Role.ORGANISER, NOW)
    with reading(sqlite_engine) as session:
        assert [user.username for user in organisers_of(session, COMPETITION, Right.MESSAGES)] == ["olga"]
        assert addresses_for_replies(session, here.id) == ["olga@example.org"]


def test_organisers_are_those_of_this_competition_and_administrators(sqlite_engine: Engine) -> None:
    add_competition(sqlite_engine)
    root = add_user(sqlite_engine, "root", is_administrator=True)
    anna, olga, paul = (add_user(sqlite_engine, name) for name in ("anna", "olga", "paul"))
    with writing(sqlite_engine) as session:
        here = find_competition(session, COMPETITION)
        grant_role(session, here, anna, Role.ANNOTATOR, NOW)
        grant_role(session, here, olga, Role.ORGANISER, NOW)
    with reading(sqlite_engine) as session:
        nina = find_user(session, "nina")  # the neighbours'
        everybody: list[User | None] = [root, anna, olga, paul, nina, None]
        assert [may_organise(session, user, here, ANY_RIGHT) for user in everybody] == [
            True,
            False,
            True,
            False,
            False,
            False,
        ]
        assert check_may_organise(session, olga, here, ANY_RIGHT) is olga
        for user in (anna, paul, nina):
            with pytest.raises(Forbidden):
                check_may_organise(session, user, here, ANY_RIGHT)
        with pytest.raises(NotAuthenticated):
            check_may_organise(session, None, here, ANY_RIGHT)
        assert not has_role(session, root, here, Role.ORGANISER), "administrators need none"


def test_roles_are_listed_organisers_first_then_by_name(sqlite_engine: Engine) -> None:
    add_competition(sqlite_engine)
    zoe, anna, olga = (add_user(sqlite_engine, name) for name in ("zoe", "anna", "olga"))
    with writing(sqlite_engine) as session:
        here = find_competition(session, COMPETITION)
        for user, role in ((anna, Role.ANNOTATOR), (zoe, Role.ORGANISER), (olga, Role.ORGANISER)):
            grant_role(session, here, user, role, NOW)
    with reading(sqlite_engine) as session:
        found = [(one.role, one.username, one.granted_at) for one in list_roles(session, here)]
    assert found == [(Role.ORGANISER, "olga", NOW), (Role.ORGANISER, "zoe", NOW), (Role.ANNOTATOR, "anna", NOW)]


def test_a_role_is_given_and_taken_once_and_both_are_recorded(sqlite_engine: Engine) -> None:
    add_competition(sqlite_engine)
    root, olga, otto = (add_user(sqlite_engine, name) for name in ("root", "olga", "otto"))
    with writing(sqlite_engine) as session:
        here = find_competition(session, COMPETITION)
        for user in (olga, otto):
            assert grant_role(session, here, user, Role.ORGANISER, NOW, actor=root)
        assert grant_role(session, here, olga, Role.ANNOTATOR, NOW, actor=root)
        assert not grant_role(session, here, olga, Role.ORGANISER, NOW, actor=root)
        assert revoke_role(session, here, olga, Role.ORGANISER, NOW + DAY, actor="evergold role")
        assert not revoke_role(session, here, olga, Role.ORGANISER, NOW + DAY)
    with reading(sqlite_engine) as session:
        left = [(one.role, one.username) for one in list_roles(session, here)]
        entries = session.scalars(select(AuditEntry).where(AuditEntry.subject == f"competition {COMPETITION}")).all()
        recorded = [(one.action, one.details["user"], one.details["role"], one.at) for one in entries]
        actors = [one.actor for one in entries]
    assert left == [(Role.ORGANISER, "otto"), (Role.ANNOTATOR, "olga")]
    assert recorded == [
        ("role.grant", "olga", "organiser", NOW),
        ("role.grant", "otto", "organiser", NOW),
        ("role.grant", "olga", "annotator", NOW),
        ("role.revoke", "olga", "organiser", NOW + DAY),
    ]
    assert actors == ["root", "root", "root", "evergold role"]


def test_without_organisers_letters_go_to_administrators_whose_address_is_confirmed(sqlite_engine: Engine) -> None:
    add_competition(sqlite_engine)
    for name, is_confirmed in (("rosa", True), ("root", False), ("anna", True)):
        add_user(sqlite_engine, name, is_administrator=True, is_confirmed=is_confirmed)
    olga = add_user(sqlite_engine, "olga", is_confirmed=False)
    with writing(sqlite_engine) as session:
        here = find_competition(session, COMPETITION)
        grant_role(session, here, olga, Role.ORGANISER, NOW)
    with writing(sqlite_engine) as session:
        assert [user.username for user in organisers_of(session, COMPETITION, Right.MESSAGES)] == ["anna", "rosa"]
        for contact, wanted in (("idioms@example.org", ["idioms@example.org"]), ("https://example.org", None)):
            find_competition(session, COMPETITION).contact = contact
            assert addresses_for_replies(session, here.id) == (wanted or ["anna@example.org", "rosa@example.org"])


def test_an_account_is_found_by_its_name_or_its_confirmed_address(sqlite_engine: Engine) -> None:
    add_user(sqlite_engine, "olga")
    add_user(sqlite_engine, "otto", is_confirmed=False)
    with reading(sqlite_engine) as session:
        assert {find_user(session, name).username for name in ("olga", " Olga ", "OLGA@example.org")} == {"olga"}
        assert find_user(session, "otto").username == "otto"
        with pytest.raises(NotFound, match="has confirmed the address 'otto@example.org'"):
            find_user(session, "otto@example.org")
        for name in ("nobody", "ol", "ol\0ga", ""):
            with pytest.raises(NotFound, match="There is no account"):
                find_user(session, name)


def test_one_is_approved_to_organise_and_the_others_are_not(sqlite_engine: Engine) -> None:
    add_competition(sqlite_engine)
    ada, bob = (add_user(sqlite_engine, name) for name in ("ada", "bob"))

    def approve(user: User, is_approved: bool) -> tuple[bool, list[str]]:
        """Return whether that changed something, and who is approved then."""
        with writing(sqlite_engine) as session:
            changed = approve_organiser(session, user, is_approved, NOW)
        with reading(sqlite_engine) as session:
            approved = select(User.username).where(User.is_approved_organiser).order_by(User.username)
            return changed, list(session.scalars(approved))

    assert approve(ada, True) == (True, ["ada"])
    assert approve(ada, True) == (False, ["ada"])
    assert approve(bob, True) == (True, ["ada", "bob"])
    assert approve(ada, False) == (True, ["bob"])
