"""Joining codes: who has the code takes part, without a confirmed address; codes are replaced, ended, never guessed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import Engine, select, update

from app.base.config import Settings, get_settings
from app.base.db import reading, writing
from app.base.errors import InvalidForm, LimitReached
from app.competitions.find import find_competition
from app.models import AuditEntry, Competition, JoiningCode, OutgoingMail, User
from app.people.act import Act, UserAct
from app.teams.codes import end_code, is_right_code, make_code
from app.teams.registration import Missing, SentCode, register, standing
from tests.rich_world import NEIGHBOURS, fresh
from tests.world import COMPETITION, NOW, add_competition, add_user

SETTINGS = Settings(base_url="https://evergold.example")


@pytest.fixture
def a_class(engine: Engine) -> Engine:
    add_competition(engine)
    with writing(engine) as session:
        found = session.scalars(select(Competition).where(Competition.name == COMPETITION)).one()
        found.registration = {"mode": "code", "terms": "Be kind."}
    return engine


def new_code(engine: Engine, competition: str = COMPETITION) -> str:
    with writing(engine) as session:
        return make_code(Act(session, None, NOW, get_settings()), find_competition(session, competition))


def student(engine: Engine, name: str = "stu") -> User:
    user = add_user(engine, name)
    with writing(engine) as session:
        session.execute(update(User).where(User.id == user.id).values(email_confirmed_at=None))
    return user


def join(
    engine: Engine, user: User, typed: str, count: Callable[[], None] = lambda: None, *, accepts: bool = True
) -> Missing | None:
    with writing(engine) as session:
        competition = find_competition(session, COMPETITION)
        accepted = standing(session, competition, user).rules.terms_sha256 if accepts else None
        register(UserAct(session, user, NOW, SETTINGS), competition, accepted=accepted, code=SentCode(typed, count))
    return missing(engine, user)


def missing(engine: Engine, user: User) -> Missing | None:
    with reading(engine) as session:
        return standing(session, find_competition(session, COMPETITION), user).missing


def test_whoever_types_the_code_takes_part_without_confirming_an_address(a_class: Engine) -> None:
    code, user = new_code(a_class), student(a_class)
    assert missing(a_class, user) is Missing.REGISTRATION
    assert join(a_class, user, code) is None
    with reading(a_class) as session:
        assert session.scalars(fresh(OutgoingMail)).all() == []


@pytest.mark.parametrize("typed", ["", "  ", "AAAA-AAAA-AAAA", "\0", "x" * 200])
def test_any_other_code_is_refused_with_everything_else_that_is_wrong(a_class: Engine, typed: str) -> None:
    new_code(a_class)
    user = student(a_class)
    with pytest.raises(InvalidForm) as refused:
        join(a_class, user, typed, accepts=False)
    assert set(refused.value.fields) == {"code", "terms"}
    assert missing(a_class, user) is Missing.REGISTRATION


def test_a_code_may_be_typed_as_people_type(a_class: Engine) -> None:
    code = new_code(a_class)
    letters = code.replace("-", " ").lower().replace("0", "o").replace("1", "l")
    assert join(a_class, student(a_class), f" {letters} ") is None


def test_another_code_replaces_the_one_before_and_who_joined_stays(a_class: Engine) -> None:
    first, early, late = new_code(a_class), student(a_class, "early"), student(a_class, "late")
    join(a_class, early, first)
    second = new_code(a_class)
    with pytest.raises(InvalidForm):
        join(a_class, late, first)
    assert (missing(a_class, early), join(a_class, late, second)) == (None, None)
    with writing(a_class) as session:
        competition = find_competition(session, COMPETITION)
        assert end_code(Act(session, None, NOW, get_settings()), competition)
        assert not end_code(Act(session, None, NOW, get_settings()), competition)
    with pytest.raises(InvalidForm):
        join(a_class, student(a_class, "last"), second)
    assert join(a_class, early, "") is None, "who takes part needs no code any more"


def test_the_code_of_one_competition_opens_no_other(a_class: Engine) -> None:
    theirs = new_code(a_class, NEIGHBOURS)
    with reading(a_class) as session:
        assert is_right_code(session, find_competition(session, NEIGHBOURS), theirs)
        assert not is_right_code(session, find_competition(session, COMPETITION), theirs)


def test_each_try_is_counted_before_it_is_compared(a_class: Engine) -> None:
    code, user = new_code(a_class), student(a_class)

    def refuse() -> None:
        raise LimitReached("Too many.", limit=10)

    with pytest.raises(LimitReached):
        join(a_class, user, code, refuse)
    assert missing(a_class, user) is Missing.REGISTRATION


def test_codes_are_long_random_and_nowhere_in_the_database(a_class: Engine) -> None:
    codes = {new_code(a_class) for _ in range(50)}
    assert len(codes) == 50
    characters = {character for code in codes for character in code.replace("-", "")}
    assert all(len(code.replace("-", "")) == 12 for code in codes)
    assert not characters & set("ILOU")
    with reading(a_class) as session:
        kept = [str(vars(row)) for table in (JoiningCode, AuditEntry) for row in session.scalars(select(table))]
    assert not [code for code in codes for row in kept if code in row or code.replace("-", "") in row]
