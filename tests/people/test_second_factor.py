"""Second factors and identities when several requests come at once: a code opens once, an identity has one owner."""

from __future__ import annotations

import pyotp
import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import EvergoldError, Forbidden
from app.models import Authenticator, Identity, LoginSession, Passkey, RecoveryCode, SecondStep, User
from app.people import auth, provider_logins, second_factor
from app.people.act import UserAct
from app.people.providers import Person
from tests.threads import in_threads
from tests.world import NOW, add_user

pytestmark = [pytest.mark.both, pytest.mark.usefixtures("cheap_passwords")]

SECRET = "JBSWY3DPEHPK3PXP" * 2  # pragma: allowlist secret
SOMEBODY = Person(issuer="https://login.example.edu", subject="4711", label="ada@example.edu")


@pytest.fixture
def ada(engine: Engine) -> User:
    with writing(engine) as session:
        return auth.register_user(session, auth.NewAccount("ada", "ada@example.org", None), NOW)


def with_app(session: Session, user: User) -> None:
    session.add(Authenticator(user_id=user.id, secret=SECRET, created_at=NOW, confirmed_at=NOW, last_step=None))


def proved(engine: Engine, cookie: str, code: str) -> bool:
    """Return whether the code completes the step, as the page requests."""
    try:
        with writing(engine) as session:
            step = second_factor.take_try(session, cookie, NOW)
        with writing(engine) as session:
            second_factor.prove_code(session, step, code, get_settings(), NOW)
    except EvergoldError:
        return False
    return True


def cookies(engine: Engine, user: User, count: int) -> list[str]:
    with writing(engine) as session:
        return [second_factor.begin_step(session, user, "", "password", NOW) for _ in range(count)]


def test_a_code_of_the_app_opens_one_of_many_log_ins_at_once(engine: Engine, ada: User) -> None:
    with writing(engine) as session:
        with_app(session, ada)
    known, code = cookies(engine, ada, 6), pyotp.TOTP(SECRET).at(NOW)
    assert sum(in_threads(6, lambda n: proved(engine, known[n], code))) == 1


def test_so_does_a_recovery_code(engine: Engine, ada: User) -> None:
    with writing(engine) as session:
        with_app(session, ada)
        session.flush()
        codes = second_factor.new_codes(session, ada, get_settings(), NOW)
    known = cookies(engine, ada, 6)
    assert sum(in_threads(6, lambda n: proved(engine, known[n], codes[0]))) == 1
    with reading(engine) as session:
        assert second_factor.factors_of(session, ada).codes == len(codes) - 1


def test_guesses_at_once_are_no_more_than_one_after_another(engine: Engine, ada: User) -> None:
    with writing(engine) as session:
        with_app(session, ada)
    [cookie] = cookies(engine, ada, 1)
    in_threads(12, lambda n: proved(engine, cookie, f"wrong {n}"))
    with reading(engine) as session:
        assert session.scalars(select(SecondStep.tries)).one() == second_factor.TRIES
    assert not proved(engine, cookie, pyotp.TOTP(SECRET).at(NOW))


def test_an_identity_linked_to_two_accounts_at_once_opens_one(engine: Engine, ada: User) -> None:
    people = [ada, *(add_user(engine, f"other{n}") for n in range(5))]

    def linked(number: int) -> bool:
        try:
            with writing(engine) as session:
                provider_logins.link(UserAct(session, people[number], NOW, get_settings()), SOMEBODY, "uni")
        except EvergoldError:
            return False
        return True

    assert sum(in_threads(6, linked)) == 1
    with reading(engine) as session:
        assert len(session.scalars(select(Identity)).all()) == 1


def test_of_two_ways_in_that_are_unlinked_at_once_one_stays(engine: Engine, ada: User) -> None:
    with writing(engine) as session:
        for subject in ("1", "2"):
            person = Person(issuer=SOMEBODY.issuer, subject=subject, label=subject)
            provider_logins.link(UserAct(session, ada, NOW, get_settings()), person, "uni")
        ids = [one.id for one in provider_logins.list_identities(session, ada)]

    def unlinked(number: int) -> bool:
        try:
            with writing(engine) as session:
                provider_logins.unlink(session, ada, ids[number], get_settings(), NOW)
        except Forbidden:
            return False
        return True

    assert sum(in_threads(2, unlinked)) == 1


def test_an_answer_of_a_provider_is_taken_once_at_once(engine: Engine) -> None:
    with writing(engine) as session:
        cookie, secrets = provider_logins.begin(session, "uni", "", NOW)

    def taken(_: int) -> bool:
        try:
            with writing(engine) as session:
                provider_logins.take_answer(session, cookie, "uni", secrets.state, NOW)
        except EvergoldError:
            return False
        return True

    assert sum(in_threads(6, taken)) == 1


def test_an_account_that_cannot_log_in_does_not_with_a_provider(engine: Engine, ada: User) -> None:
    with writing(engine) as session:
        provider_logins.link(UserAct(session, ada, NOW, get_settings()), SOMEBODY, "uni")
        session.get_one(User, ada.id).password_hash = None
    with writing(engine) as session, pytest.raises(Forbidden):
        provider_logins.account_of(session, SOMEBODY, "uni", get_settings(), NOW)


def test_who_takes_an_account_over_finds_no_other_way_into_it(engine: Engine, ada: User) -> None:
    with writing(engine) as session:
        with_app(session, ada)
        key = {"credential": "x", "public_key": b"x", "sign_count": 2**32 - 1, "name": "Theirs"}
        session.add(Passkey(user_id=ada.id, created_at=NOW, last_used_at=None, **key))
        session.flush()
        second_factor.new_codes(session, ada, get_settings(), NOW)
        second_factor.begin_step(session, ada, "", "password", NOW)
        provider_logins.link(UserAct(session, ada, NOW, get_settings()), SOMEBODY, "uni")
        auth.start_session(session, ada, NOW, 24)
        auth.take_over(session, ada, NOW)
    with reading(engine) as session:
        for table in (Authenticator, Passkey, RecoveryCode, SecondStep, Identity, LoginSession):
            assert session.scalars(select(table)).all() == [], table
        assert not session.get_one(User, ada.id).has_password
