"""Questions at registration: answers are read against questions, and people without answers take no part."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine, select

from app.base.config import Settings
from app.base.db import reading, writing
from app.base.errors import InvalidForm
from app.competitions.find import find_competition
from app.exports.participants import registrations_csv
from app.models import OutgoingMail, Registration, RegistrationStatus, Role, User
from app.people.act import Act, UserAct
from app.people.rights import grant_role
from app.teams.questions import Question, QuestionKind, question_of, read_answers, ready_questions
from app.teams.registration import Missing, decide, list_registrations, register, standing
from tests.rich_world import EARLIER_USER
from tests.world import COMPETITION, NOW, add_competition, add_user

SETTINGS = Settings(base_url="https://evergold.example")
AFFILIATION = {"name": "affiliation", "required": True}
GPU = {"name": "gpu", "title": "Which GPU?", "kind": "choice", "choices": ["none", "one"]}
PLEDGE = {"name": "pledge", "title": "I share no data", "kind": "tick", "required": True}
QUESTIONS = tuple(question_of(one) for one in (AFFILIATION, GPU, PLEDGE))

NEEDED = "Please answer this."
NONE_OF_THEM = "This is not one of the answers; there are none, one."


def declare(engine: Engine, *questions: dict[str, Any], **more: Any) -> None:
    with writing(engine) as session:
        find_competition(session, COMPETITION).registration = {**more, "questions": list(questions)}


def ask(engine: Engine, user: User, answers: dict[str, Any] | None) -> Missing | None:
    with writing(engine) as session:
        register(UserAct(session, user, NOW, SETTINGS), find_competition(session, COMPETITION), answers=answers)
    return missing(engine, user)


def missing(engine: Engine, user: User) -> Missing | None:
    with reading(engine) as session:
        return standing(session, find_competition(session, COMPETITION), user).missing


@pytest.fixture
def ada(engine: Engine) -> User:
    add_competition(engine)
    return add_user(engine, "ada")


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        (
            {"affiliation": " A  university\r\nof B ", "pledge": True},
            {"affiliation": "A  university\nof B", "pledge": True},
        ),
        ({"affiliation": "A", "gpu": "one", "pledge": "YES"}, {"affiliation": "A", "gpu": "one", "pledge": True}),
        ({"affiliation": "A", "gpu": "", "pledge": "yes"}, {"affiliation": "A", "pledge": True}),
    ],
)
def test_answers_are_kept_as_they_are_meant(sent: dict[str, Any], kept: dict[str, Any]) -> None:
    assert read_answers(sent, QUESTIONS) == (kept, {})


@pytest.mark.parametrize(
    ("sent", "wrong"),
    [
        ({}, {"answers.affiliation": NEEDED, "answers.pledge": NEEDED}),
        (
            {"affiliation": "  ", "pledge": "no"},
            {"answers.affiliation": NEEDED, "answers.pledge": NEEDED},
        ),
        ({"affiliation": 3, "pledge": True}, {"answers.affiliation": "Write text here."}),
        ({"affiliation": "a\0", "pledge": True}, {"answers.affiliation": "Control characters are not allowed."}),
        (
            {"affiliation": "a" * 1001, "pledge": True},
            {"answers.affiliation": "At most 1000 characters; this has 1001."},
        ),
        ({"affiliation": "A", "pledge": "perhaps"}, {"answers.pledge": "Answer yes or no."}),
        (
            {"affiliation": "A", "pledge": True, "gpu": "two"},
            {"answers.gpu": NONE_OF_THEM},
        ),
        (
            {"affiliation": "A", "pledge": True, "gpu": ["one"]},
            {"answers.gpu": NONE_OF_THEM},
        ),
        (
            {"affiliation": "A", "pledge": True, "gpus": "one"},
            {"answers.gpus": "There is no such question; did you mean 'gpu'?; there are affiliation, gpu, pledge."},
        ),
    ],
)
def test_everything_wrong_is_told_at_once_and_by_question(sent: dict[str, Any], wrong: dict[str, str]) -> None:
    assert read_answers(sent, QUESTIONS)[1] == wrong


def test_ready_questions_need_their_name_alone_and_may_have_another_title() -> None:
    assert set(ready_questions()) == {"affiliation", "country", "students"}
    country = question_of({"name": "country", "required": True, "title": "Where?"})
    assert (country.title, country.kind, country.required) == ("Where?", QuestionKind.CHOICE, True)
    assert {"Italy", "Poland", "Türkiye"} & set(country.choices) >= {"Italy", "Poland"}
    assert question_of({"name": "students"}) == Question("students", "I am a student", QuestionKind.TICK)


def test_nobody_takes_part_without_the_answers(engine: Engine, ada: User) -> None:
    declare(engine, AFFILIATION)
    assert missing(engine, ada) is Missing.REGISTRATION
    with pytest.raises(InvalidForm) as refused:
        ask(engine, ada, {})
    assert refused.value.details == {"fields": {"answers.affiliation": NEEDED}}
    assert ask(engine, ada, {"affiliation": "A"}) is None
    with writing(engine) as session:
        mine = select(Registration.answers).where(Registration.user_id == ada.id)
        assert session.scalars(mine).one() == {"affiliation": "A"}


def test_a_question_that_comes_later_is_asked_of_those_who_are_in_already(engine: Engine, ada: User) -> None:
    declare(engine, GPU)
    assert ask(engine, ada, {}) is None
    declare(engine, GPU, AFFILIATION)
    assert missing(engine, ada) is Missing.ANSWERS
    assert ask(engine, ada, {"affiliation": "A", "gpu": "one"}) is None
    declare(engine, {**GPU, "required": True, "choices": ["two"]}, AFFILIATION)
    assert missing(engine, ada) is Missing.ANSWERS, "what was chosen is no answer any more"
    declare(engine, AFFILIATION)
    assert missing(engine, ada) is None
    assert ask(engine, ada, None) is None, "what is no longer asked is no mistake of whoever registers again"


def test_who_was_let_in_unasked_answers_too(engine: Engine, ada: User) -> None:
    declare(engine, AFFILIATION, mode="approval")
    with writing(engine) as session:
        decide(
            Act(session, None, NOW, SETTINGS), find_competition(session, COMPETITION), ada, RegistrationStatus.APPROVED
        )
    assert missing(engine, ada) is Missing.ANSWERS
    assert ask(engine, ada, {"affiliation": "A"}) is None


def test_organisers_read_the_answers_where_somebody_waits(engine: Engine, ada: User) -> None:
    declare(engine, AFFILIATION, PLEDGE, mode="approval")
    olga = add_user(engine, "olga")
    with writing(engine) as session:
        grant_role(session, find_competition(session, COMPETITION), olga, Role.ORGANISER, NOW)
    assert ask(engine, ada, {"affiliation": "A university", "pledge": True}) is Missing.APPROVAL
    with reading(engine) as session:
        mail = session.scalars(select(OutgoingMail).where(OutgoingMail.recipient == "olga@example.org")).one()
    assert "\nAffiliation: A university\nI share no data: yes\n" in mail.body


def test_the_csv_has_a_column_for_each_question_and_no_formula(engine: Engine, ada: User) -> None:
    declare(engine, AFFILIATION, PLEDGE)
    ask(engine, ada, {"affiliation": "=1+1", "pledge": True})
    with reading(engine) as session:
        competition = find_competition(session, COMPETITION)
        registrations = [one for one in list_registrations(session, competition) if one.user.username != EARLIER_USER]
        head, row, _ = registrations_csv(competition, registrations).split("\r\n")
    assert head.endswith("decided_by,answer affiliation,answer pledge")
    assert row.endswith(",'=1+1,yes")
