"""Asking to organise: one open request a person, a mail to every administrator, an answer once, by mail."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from sqlalchemy import Engine, update

from app.base.config import Settings
from app.base.db import reading, writing
from app.base.errors import Forbidden, InvalidForm, LimitReached, NotFound
from app.competitions.organisers import may_create
from app.models import AuditEntry, OutgoingMail, User
from app.people.act import Act, UserAct
from app.people.organising_requests import (
    A_MONTH,
    MONTH,
    TEXT_CHARACTERS,
    AlreadyAnswered,
    AlreadyAsked,
    answer_request,
    ask_to_organise,
    latest_request,
    list_requests,
)
from tests.rich_world import fresh
from tests.world import NOW, add_user

APPROVED = Settings(base_url="https://evergold.example", organise="approved")
ADMINS = Settings(base_url="https://evergold.example", organise="admins")
WHAT = "A task on riddles, for my seminar."


@pytest.fixture
def ada(engine: Engine) -> User:
    return add_user(engine, "ada")


@pytest.fixture
def root(engine: Engine) -> User:
    """Return an administrator, in addition to those who were there before."""
    user = add_user(engine, "root-of-all")
    with writing(engine) as session:
        session.execute(update(User).where(User.id == user.id).values(is_administrator=True))
    with reading(engine) as session:
        return session.get_one(User, user.id)


def ask(engine: Engine, user: User, text: str = WHAT, now: datetime = NOW) -> int:
    with writing(engine) as session:
        return ask_to_organise(UserAct(session, user, now, APPROVED), text).id


def answer(engine: Engine, number: int, is_approved: bool, *, by: User | None = None, text: str = "") -> None:
    with writing(engine) as session:
        answer_request(Act(session, by, NOW, APPROVED), number, is_approved=is_approved, text=text)


def mails(engine: Engine, to: str) -> list[OutgoingMail]:
    with reading(engine) as session:
        found = session.scalars(fresh(OutgoingMail).order_by(OutgoingMail.id)).all()
    return [one for one in found if one.recipient == to]


def approved(engine: Engine, user: User) -> bool:
    with reading(engine) as session:
        return may_create(session.get_one(User, user.id), "approved")


def test_administrators_get_the_sentence_and_who_asked_gets_the_answer(engine: Engine, ada: User, root: User) -> None:
    number = ask(engine, ada, f"  {WHAT}\n")
    (mail,) = mails(engine, root.email)
    for part in (WHAT, "ada@example.org", "/admin/requests", f"evergold account answer {number} --approve"):
        assert part in mail.body
    with reading(engine) as session:
        assert [(one.id, one.user.username, one.text) for one in list_requests(session)] == [(number, "ada", WHAT)]
    answer(engine, number, True, by=root, text="Welcome.")
    (mail,) = mails(engine, ada.email)
    assert "you may create competitions" in mail.body
    assert "https://evergold.example/organise" in mail.body
    assert "Welcome." in mail.body
    assert approved(engine, ada)
    with reading(engine) as session:
        assert list_requests(session) == []
        assert [one.answered_by for one in list_requests(session, only_open=False)] == [root.username]
        actions = [one.action for one in session.scalars(fresh(AuditEntry).order_by(AuditEntry.id))]
    assert actions[-3:] == ["organiser.ask", "organiser.accept", "organiser.approve"]


def test_a_refusal_approves_nobody_and_may_be_followed_by_another_request(engine: Engine, ada: User) -> None:
    answer(engine, ask(engine, ada), False, text="Not here.")
    (mail,) = mails(engine, ada.email)
    assert "did not accept" in mail.body
    assert "Not here." in mail.body
    assert not approved(engine, ada)
    ask(engine, ada, "Another one.")
    with reading(engine) as session:
        latest = latest_request(session, ada)
        assert latest is not None
        assert (latest.text, latest.answered_at) == ("Another one.", None)


def test_where_administrators_alone_create_the_answer_promises_no_more(engine: Engine, ada: User) -> None:
    number = ask(engine, ada)
    with writing(engine) as session:
        answer_request(Act(session, None, NOW, ADMINS), number, is_approved=True)
    (mail,) = mails(engine, ada.email)
    assert "will create yours" in mail.body
    assert "you may create" not in mail.body


@pytest.mark.parametrize("text", ["", "  \n", "x" * (TEXT_CHARACTERS + 1), "a\0b"])
def test_what_cannot_be_sent_is_refused_in_words(engine: Engine, ada: User, root: User, text: str) -> None:
    with pytest.raises(InvalidForm) as refused:
        ask(engine, ada, text)
    assert set(refused.value.fields) == {"text"}
    assert mails(engine, root.email) == []


def test_nobody_asks_twice_at_once_or_more_often_than_the_bound(engine: Engine, ada: User) -> None:
    for round_ in range(A_MONTH):
        number = ask(engine, ada, now=NOW + timedelta(days=round_))
        with pytest.raises(AlreadyAsked):
            ask(engine, ada)
        answer(engine, number, False)
    with pytest.raises(LimitReached):
        ask(engine, ada, now=NOW + timedelta(days=5))
    ask(engine, ada, now=NOW + MONTH + timedelta(seconds=1))


def test_an_address_that_nobody_has_confirmed_asks_nothing(engine: Engine, ada: User) -> None:
    with writing(engine) as session:
        session.execute(update(User).where(User.id == ada.id).values(email_confirmed_at=None))
    with pytest.raises(Forbidden, match="Confirm your e-mail address first"):
        ask(engine, ada)


def test_each_request_is_answered_once_and_by_administrators(engine: Engine, ada: User, root: User) -> None:
    number = ask(engine, ada)
    with pytest.raises(Forbidden):
        answer(engine, number, True, by=ada)
    assert not approved(engine, ada)
    answer(engine, number, False, by=root)
    with pytest.raises(AlreadyAnswered, match=root.username):
        answer(engine, number, True)
    with pytest.raises(NotFound):
        answer(engine, number + 1000, True)
    assert not approved(engine, ada)
