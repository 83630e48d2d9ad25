"""Unconfirmed addresses decide nothing: no role, no mail, no log-in for the person who typed one first."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, select

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import NotFound
from app.competitions.find import find_competition
from app.models import AuditEntry, LoginSession, MailLink, OutgoingMail, Right, Role, User
from app.people import auth, email_confirmations, password_resets
from app.people.auth import NewAccount, find_session, find_token, register_user, set_email, start_session
from app.people.mail import send_mail
from app.people.mail_delivery import send_waiting
from app.people.rights import find_user, grant_role, organisers_of
from tests import letters
from tests.rich_world import fresh
from tests.world import COMPETITION, HOUR, NOW, add_competition, add_user

PASSWORD, NEW = "correct horse battery", "staple of another kind"

pytestmark = pytest.mark.usefixtures("cheap_passwords")


@pytest.fixture
def mallory(engine: Engine) -> User:
    """Return somebody who registered with another person's address; only the user name is their choice."""
    with writing(engine) as session:
        return register_user(session, NewAccount("win-money.example", "ada@uni.edu", PASSWORD), NOW)


def confirm(engine: Engine, user: User, *, keep: LoginSession | None = None) -> None:
    with writing(engine) as session:
        email_confirmations.send_link(session, user, get_settings(), NOW)
    secret = letters.links(engine, MailLink.ADDRESS, NOW)[-1].partition("link=")[2]
    with writing(engine) as session:
        email_confirmations.confirm(session, user, secret, NOW, keep=keep)


def test_a_role_is_given_by_a_confirmed_address_only(engine: Engine, mallory: User) -> None:
    with reading(engine) as session, pytest.raises(NotFound, match="has confirmed the address 'Ada@uni.edu'"):
        find_user(session, "Ada@uni.edu")
    confirm(engine, mallory)
    with reading(engine) as session:
        assert find_user(session, "Ada@uni.edu").id == mallory.id


def test_organisers_are_written_to_at_confirmed_addresses_only(engine: Engine, mallory: User) -> None:
    add_competition(engine)
    root = add_user(engine, "root", is_administrator=True)
    with writing(engine) as session:
        grant_role(session, find_competition(session, COMPETITION), mallory, Role.ORGANISER, NOW)
    with reading(engine) as session:
        assert [user.id for user in organisers_of(session, COMPETITION, Right.MESSAGES)] == [root.id]
    confirm(engine, mallory)
    with reading(engine) as session:
        assert [user.id for user in organisers_of(session, COMPETITION, Right.MESSAGES)] == [mallory.id]


def test_nothing_is_written_to_an_address_that_is_not_confirmed(engine: Engine, mallory: User) -> None:
    with writing(engine) as session:
        assert send_mail(session, mallory, "Results", "your file win-money.zip was scored", now=NOW) is None
        assert session.scalars(select(OutgoingMail)).all() == []
        mallory.email_confirmed_at = NOW  # what a caller holds may be old, or wrong
        assert send_mail(session, mallory, "Results", "x", now=NOW) is None


def test_what_a_stranger_gets_holds_no_word_of_a_participant(engine: Engine, mallory: User) -> None:
    with writing(engine) as session:
        email_confirmations.send_link(session, mallory, get_settings(), NOW)
        password_resets.ask(session, "ada@uni.edu", get_settings(), NOW)
        mails = session.scalars(select(OutgoingMail)).all()
    assert {mail.recipient for mail in mails} == {"ada@uni.edu"}
    assert len(mails) == 2
    for mail in mails:
        assert "win-money" not in mail.subject + mail.body


def test_the_first_confirmation_ends_what_was_there_before(engine: Engine, mallory: User) -> None:
    with writing(engine) as session:
        here, cookie_here = start_session(session, mallory, NOW, hours=24)
        _, cookie_elsewhere = start_session(session, mallory, NOW, hours=24)
        _, token = auth.create_token(session, mallory, "laptop", NOW)
    confirm(engine, mallory, keep=here)
    with writing(engine) as session:
        assert find_session(session, cookie_here, NOW) is not None, "where it was confirmed"
        assert find_session(session, cookie_elsewhere, NOW) is None
        assert find_token(session, token, NOW) is None
        _, later = auth.create_token(session, mallory, "laptop", NOW)
    confirm(engine, mallory)
    with reading(engine) as session:
        assert find_token(session, later, NOW) is not None, "only the first one ends anything"
        deeds = [entry.action for entry in session.scalars(fresh(AuditEntry).order_by(AuditEntry.id))]
    assert deeds == ["token.create", "email.confirm", "token.create"]


@pytest.mark.parametrize("by_mail", [True, False])
def test_tokens_from_before_do_not_outlive_the_owner_s_new_password(
    engine: Engine, mallory: User, by_mail: bool
) -> None:
    with writing(engine) as session:
        _, token = auth.create_token(session, mallory, "laptop", NOW)
        if by_mail:
            password_resets.ask(session, "ada@uni.edu", get_settings(), NOW)
        else:
            _, link = password_resets.make_link(session, mallory.username, get_settings(), NOW)
    if by_mail:
        [link] = letters.links(engine, MailLink.PASSWORD, NOW)
    with writing(engine) as session:
        password_resets.use(session, link.partition("link=")[2], NEW, get_settings(), NOW)
    with reading(engine) as session:
        assert find_token(session, token, NOW) is None
        assert email_confirmations.is_confirmed(session, mallory) == by_mail, "who used it read the mail"


def test_another_address_is_confirmed_anew(engine: Engine, mallory: User) -> None:
    confirm(engine, mallory)
    with writing(engine) as session:
        set_email(session, mallory, "ADA@uni.edu", NOW)
        assert email_confirmations.is_confirmed(session, mallory), "the same one"
        set_email(session, mallory, "grace@uni.edu", NOW)
        assert not email_confirmations.is_confirmed(session, mallory)


def test_a_link_that_waits_is_not_sent_to_an_address_that_was_given_up(engine: Engine, mallory: User) -> None:
    with writing(engine) as session:
        password_resets.ask(session, "ada@uni.edu", get_settings(), NOW)
        set_email(session, mallory, "mallory@example.org", NOW)
    assert send_waiting(engine, get_settings(), lambda: NOW + HOUR) == 0
    with reading(engine) as session:
        assert session.scalars(select(OutgoingMail.status)).all() == ["dropped"]


def test_the_database_holds_no_link_before_it_is_handed_over(engine: Engine, mallory: User) -> None:
    """Check that a reader of the database cannot take over an account while a mail waits."""
    with writing(engine) as session:
        password_resets.ask(session, "ada@uni.edu", get_settings(), NOW)
        email_confirmations.send_link(session, mallory, get_settings(), NOW)
    with reading(engine) as session:
        bodies = session.scalars(select(OutgoingMail.body)).all()
    assert len(bodies) == 2
    assert all("{link}" in body and "link=" not in body for body in bodies)
    assert send_waiting(engine, get_settings(), lambda: NOW) == 2
    written = sorted((get_settings().data_dir / "mail").iterdir())
    assert ["link=" in path.read_text() for path in written] == [True, True]
    with reading(engine) as session:
        assert session.scalars(select(OutgoingMail.body)).all() == ["", ""]


def test_a_mail_handed_over_twice_has_two_links_and_both_work_until_one_is_used(engine: Engine, mallory: User) -> None:
    with writing(engine) as session:
        password_resets.ask(session, "ada@uni.edu", get_settings(), NOW)
    [first], [second] = (letters.links(engine, MailLink.PASSWORD, NOW) for _ in range(2))
    assert first != second
    with writing(engine) as session:
        for link in (first, second):
            assert password_resets.find(session, link.partition("link=")[2], NOW).user_id == mallory.id
        password_resets.use(session, second.partition("link=")[2], NEW, get_settings(), NOW)
        with pytest.raises(NotFound):
            password_resets.find(session, first.partition("link=")[2], NOW)
