"""Questions to the organisers: each word in its place, each key its asker's own, and who is written to."""

from __future__ import annotations

from datetime import datetime

import pytest
from sqlalchemy import Engine, select

from app.base.config import Settings
from app.base.db import reading, writing
from app.base.errors import IdempotencyConflict, NotFound
from app.competitions.find import find_competition
from app.messages.questions import (
    QuestionForm,
    answer,
    ask,
    find_question,
    find_question_by_key,
    questions_for,
    set_closed,
)
from app.models import AuditEntry, OutgoingMail, Question, Role, User
from app.people.act import Act, UserAct
from app.people.competition_blocks import BlockedHere, block
from app.people.rights import grant_role
from tests.rich_world import NEIGHBOURS
from tests.world import COMPETITION, HOUR, NOW, add_user

SETTINGS = Settings(base_url="https://scores.example.org")
FORM = QuestionForm("Is it blind?", "May we train on dev?")


@pytest.fixture
def olga(sqlite_engine: Engine, people: list[User]) -> User:
    user = add_user(sqlite_engine, "olga")
    with writing(sqlite_engine) as session:
        grant_role(session, find_competition(session, COMPETITION), user, Role.ORGANISER, NOW)
    return user


def asked(
    engine: Engine,
    asker: User,
    form: QuestionForm = FORM,
    key: str | None = None,
    now: datetime = NOW,
    competition: str = COMPETITION,
) -> Question:
    with writing(engine) as session:
        found = find_competition(session, competition)
        return ask(UserAct(session, asker, now, SETTINGS), found, form, key=key)


def mail_to(engine: Engine, username: str) -> OutgoingMail:
    with reading(engine) as session:
        to = OutgoingMail.recipient == f"{username}@example.org"
        return session.scalars(select(OutgoingMail).where(to)).one()


def listed(engine: Engine, viewer: User | None, *, sees_all: bool = False) -> list[str]:
    with reading(engine) as session:
        found = find_competition(session, COMPETITION)
        return [question.title for question in questions_for(session, found, viewer, sees_all=sees_all)]


def test_every_word_of_a_question_is_in_its_place(sqlite_engine: Engine, people: list[User], olga: User) -> None:
    question = asked(sqlite_engine, people[0])
    assert (question.title, question.text, question.asked_at) == (FORM.title, FORM.text, NOW)
    mail = mail_to(sqlite_engine, "olga")
    assert mail.subject == "[Idioms] Question: Is it blind?"
    assert mail.body.startswith(
        f"Ada (user name ada) asks about Idioms:\n\n{FORM.title}\n\n{FORM.text}\n\n--\n"
        "Reply on the question page (privately or to everyone): https://scores.example.org/competitions/idioms/questions"
    )
    assert f"#question-{question.id}\n" in mail.body


def test_every_word_of_an_answer_is_in_its_place(sqlite_engine: Engine, people: list[User], olga: User) -> None:
    question = asked(sqlite_engine, people[0])
    answered(sqlite_engine, question.id, olga, "No.")
    mail = mail_to(sqlite_engine, "ada")
    assert mail.subject == "[Idioms] Answer: Is it blind?"
    assert mail.body.startswith("Hello ada,\n\nThe organisers of Idioms ")
    assert f"{FORM.title}\n\nNo.\n\n--\nOnly you and the organisers see it, at" in mail.body


def answered(
    engine: Engine,
    question_id: int,
    organiser: User,
    text: str,
    *,
    is_public: bool = False,
    now: datetime = NOW + HOUR,
) -> Question:
    with writing(engine) as session:
        found = find_competition(session, COMPETITION)
        return answer(UserAct(session, organiser, now, SETTINGS), found, question_id, text=text, is_public=is_public)


def test_an_answer_that_is_sent_again_is_news_if_its_words_are(
    sqlite_engine: Engine, people: list[User], olga: User
) -> None:
    question = asked(sqlite_engine, people[0])
    with writing(sqlite_engine) as session:
        found = find_competition(session, COMPETITION)
        set_closed(UserAct(session, olga, NOW, SETTINGS), found, question.id, is_closed=True)
    first, last = NOW + HOUR, NOW + 3 * HOUR
    for hours, text, edited_at, mails in ((1, "No.", None, 1), (2, "No.", None, 1), (3, "Yes.", last, 2)):
        now = NOW + hours * HOUR
        found_again = answered(sqlite_engine, question.id, olga, text, is_public=hours > 1, now=now)
        told = (found_again.answered_at, found_again.answer_edited_at, found_again.closed_at)
        assert told == (first, edited_at, NOW), "it was closed before it was answered"
        assert found_again.answered_by_id == olga.id
        with reading(sqlite_engine) as session:
            to_ada = select(OutgoingMail.body).where(OutgoingMail.recipient == "ada@example.org")
            bodies = session.scalars(to_ada.order_by(OutgoingMail.id)).all()
            edits = session.scalars(select(AuditEntry.details).where(AuditEntry.action == "question.edit")).all()
        assert len(bodies) == mails
    assert ["changed their answer to your question" in body for body in bodies] == [False, True]
    assert [details["before"] for details in edits] == [{"is_public": False}, {"is_public": True}]


def test_who_is_blocked_here_asks_next_door_alone(sqlite_engine: Engine, people: list[User]) -> None:
    with writing(sqlite_engine) as session:
        block(Act(session, None, NOW, SETTINGS), find_competition(session, COMPETITION), people[0], "Rude.")
    with pytest.raises(BlockedHere):
        asked(sqlite_engine, people[0])
    assert asked(sqlite_engine, people[0], competition=NEIGHBOURS).asker_id == people[0].id
    assert asked(sqlite_engine, people[1]).asker_id == people[1].id


def test_the_same_key_of_another_asker_is_another_question(sqlite_engine: Engine, people: list[User]) -> None:
    ada, bob = people[:2]
    first, hers = asked(sqlite_engine, ada, key="k"), asked(sqlite_engine, bob, key="k")
    assert asked(sqlite_engine, ada, key="k").id == first.id
    assert asked(sqlite_engine, bob, key="k").id == hers.id != first.id
    with pytest.raises(IdempotencyConflict):
        asked(sqlite_engine, ada, QuestionForm("Other", FORM.text), key="k")
    with pytest.raises(IdempotencyConflict):
        asked(sqlite_engine, ada, QuestionForm(FORM.title, "Other"), key="k")
    with pytest.raises(IdempotencyConflict):
        asked(sqlite_engine, ada, key="k", competition=NEIGHBOURS)


def test_a_question_is_found_by_its_asker_and_key_together(sqlite_engine: Engine, people: list[User]) -> None:
    ada, bob = people[:2]
    asked(sqlite_engine, ada, key="first")
    second = asked(sqlite_engine, ada, QuestionForm("And this?", "Or that?"), key="second")
    with reading(sqlite_engine) as session:
        found = find_question_by_key(session, ada, "second")
        assert found is not None
        assert found.id == second.id
        assert find_question_by_key(session, bob, "second") is None
        assert find_question_by_key(session, ada, "third") is None


def test_the_newest_stand_first_also_of_one_moment(sqlite_engine: Engine, people: list[User]) -> None:
    for number, now in enumerate((NOW + HOUR, NOW, NOW)):
        asked(sqlite_engine, people[0], QuestionForm(f"number {number}", "?"), now=now)
    assert listed(sqlite_engine, people[0]) == ["number 0", "number 2", "number 1"]


def test_others_see_what_is_public_and_answered(sqlite_engine: Engine, people: list[User], olga: User) -> None:
    ada, bob = people[:2]
    of_ada, of_bob = asked(sqlite_engine, ada), asked(sqlite_engine, bob, QuestionForm("Mine?", "?"))
    assert (listed(sqlite_engine, ada), listed(sqlite_engine, None)) == ([FORM.title], [])
    answered(sqlite_engine, of_ada.id, olga, "No.", is_public=True)
    answered(sqlite_engine, of_bob.id, olga, "Yes.")
    assert listed(sqlite_engine, None) == [FORM.title]
    assert listed(sqlite_engine, bob) == ["Mine?", FORM.title]
    assert listed(sqlite_engine, olga, sees_all=True) == ["Mine?", FORM.title]


def test_what_is_to_be_public_is_so_from_its_answer_on(sqlite_engine: Engine, people: list[User], olga: User) -> None:
    ada, bob = people[:2]
    question = asked(sqlite_engine, ada)
    with writing(sqlite_engine) as session:
        session.get_one(Question, question.id).is_public = True
    assert [listed(sqlite_engine, viewer) for viewer in (ada, bob, None)] == [[FORM.title], [], []]
    answered(sqlite_engine, question.id, olga, "No.", is_public=True)
    assert [listed(sqlite_engine, viewer) for viewer in (ada, bob, None)] == [[FORM.title]] * 3


def test_a_question_is_of_its_competition(sqlite_engine: Engine, people: list[User], olga: User) -> None:
    question = asked(sqlite_engine, people[0])
    with writing(sqlite_engine) as session:
        beside = find_competition(session, NEIGHBOURS)
        with pytest.raises(NotFound):
            find_question(session, beside, question.id)
        here = find_competition(session, COMPETITION)
        with pytest.raises(NotFound):
            find_question(session, here, 1)
        assert set_closed(UserAct(session, olga, NOW, SETTINGS), here, question.id, is_closed=True).closed_at == NOW
        assert set_closed(UserAct(session, olga, NOW, SETTINGS), here, question.id, is_closed=False).closed_at is None
