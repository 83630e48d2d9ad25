"""Accounts that the operator makes, and administrators: one is meant, and the others stay what they were."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading, writing
from app.models import AuditEntry, User
from app.people import email_confirmations
from app.people.auth import NewAccount, authenticate, make_account, promote
from app.people.mail import MailKind, choice_of, choices_of, choose, wants
from tests.rich_world import fresh
from tests.world import DAY, NOW, add_user

PASSWORD = "correct horse battery"

pytestmark = pytest.mark.usefixtures("cheap_passwords")


@pytest.mark.parametrize(("is_administrator", "deed"), [(False, "account.create"), (True, "administrator.create")])
def test_the_operator_makes_an_account_that_logs_in_at_once(
    sqlite_engine: Engine, is_administrator: bool, deed: str
) -> None:
    with writing(sqlite_engine) as session:
        made = make_account(
            session,
            NewAccount("ada", "Ada@Uni.edu", PASSWORD, "Ada Lovelace"),
            NOW,
            is_administrator=is_administrator,
        )
    with reading(sqlite_engine) as session:
        assert authenticate(session, "ada@uni.edu", PASSWORD).id == made.id
        told = session.get_one(User, made.id)
        assert (told.username, told.email, told.display_name) == ("ada", "ada@uni.edu", "Ada Lovelace")
        assert (told.is_administrator, told.email_confirmed_at) == (is_administrator, NOW)
        entries = session.execute(fresh(AuditEntry).with_only_columns(AuditEntry.action, AuditEntry.subject)).all()
    assert [tuple(one) for one in entries] == [(deed, "user ada")]


def test_one_becomes_an_administrator_and_the_others_do_not(sqlite_engine: Engine) -> None:
    ada, _ = (add_user(sqlite_engine, name) for name in ("ada", "bob"))
    with writing(sqlite_engine) as session:
        assert [promote(session, ada, NOW) for _ in range(2)] == [True, False]
    with reading(sqlite_engine) as session:
        assert session.scalars(select(User.username).where(User.is_administrator)).all() == ["ada"]


def test_one_address_is_confirmed_once_and_the_others_are_not(sqlite_engine: Engine) -> None:
    ada, bob = (add_user(sqlite_engine, name, is_confirmed=False) for name in ("ada", "bob"))
    with writing(sqlite_engine) as session:
        moments = (NOW, NOW + DAY)
        assert [email_confirmations.believe(session, ada, now) for now in moments] == [True, False]
    with reading(sqlite_engine) as session:
        assert session.get_one(User, ada.id).email_confirmed_at == NOW
        assert not email_confirmations.is_confirmed(session, bob)


def test_each_chooses_which_mail_to_get_for_themselves(sqlite_engine: Engine) -> None:
    ada, bob = (add_user(sqlite_engine, name) for name in ("ada", "bob"))
    with writing(sqlite_engine) as session:
        choose(session, ada, {MailKind.RESULTS: True})
        choose(session, bob, {MailKind.ANNOUNCEMENTS: False})
    with reading(sqlite_engine) as session:
        rows = choice_of(session, ada), choice_of(session, bob), None
        told = [[wants(row, kind) for kind in (MailKind.ANNOUNCEMENTS, MailKind.RESULTS)] for row in rows]
        assert told == [[True, True], [False, False], [True, False]], "announcements, results"
        assert choices_of(session, [bob.id]).keys() == {bob.id}
