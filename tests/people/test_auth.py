"""Accounts, log-ins and tokens: what is stored cannot be used to log in, and what has ended stays ended."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading, writing
from app.base.errors import InvalidForm, NameTaken, NotAuthenticated, NotFound
from app.models import ApiToken, LoginSession, User
from app.people import auth
from app.people.auth import (
    NewAccount,
    authenticate,
    create_token,
    end_session,
    find_session,
    find_token,
    list_tokens,
    note_token_use,
    register_user,
    revoke_token,
    start_session,
)
from app.people.logins import list_logins
from tests.threads import in_threads
from tests.world import DAY, HOUR, NOW, SECOND, add_user, answer_to

PASSWORD = "correct horse battery"

pytestmark = [pytest.mark.both, pytest.mark.usefixtures("cheap_passwords")]
real_hasher = auth._hasher


def register(engine: Engine, username: str = "ada", **changes: Any) -> User:
    form = {"username": username, "email": f"{username}@example.org", "password": PASSWORD} | changes
    with writing(engine) as session:
        return register_user(session, NewAccount(**form), NOW)


# ---------------------------------------------------------------------------------------------------- registration


def test_a_password_is_kept_as_argon2_hash_only(engine: Engine) -> None:
    ada, bob = register(engine, "ada"), register(engine, "bob")
    assert ada.password_hash is not None
    assert ada.password_hash.startswith("$argon2id$")
    assert PASSWORD not in ada.password_hash
    assert ada.password_hash != bob.password_hash, "the same password has another salt"


def test_hashing_takes_the_work_that_rfc_9106_asks_of_small_machines() -> None:
    # RFC 9106, section 4, second recommended option: Argon2id, t = 3, p = 4 lanes, m = 2^16 (64 MiB).
    assert real_hasher().hash(PASSWORD).startswith("$argon2id$v=19$m=65536,t=3,p=4$")


def test_names_and_addresses_are_kept_in_lower_case(engine: Engine) -> None:
    user = register(engine, username=" Ada.Lovelace ", email=" Ada@Example.ORG ", display_name="  Ada   Lovelace ")
    assert (user.username, user.email, user.display_name) == ("ada.lovelace", "ada@example.org", "Ada Lovelace")


def test_without_a_display_name_the_user_name_is_shown(engine: Engine) -> None:
    assert register(engine, "ada", display_name=" ").display_name == "ada"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("username", ""),
        ("username", "ab"),
        ("username", "a" * 41),
        ("username", "-ada"),
        ("username", "ada."),
        ("username", "ada lovelace"),
        ("username", "ada@example.org"),
        ("username", "адa"),
        ("username", "ada\0b"),
        ("email", ""),
        ("email", "ada"),
        ("email", "ada@localhost"),
        ("email", "a@b@example.org"),
        ("email", "ada@example.org, bob@example.org"),
        ("email", "ada\0@example.org"),
        ("email", "ada\u202e@example.org"),
        ("email", "a" * 320 + "@example.org"),
        ("password", "nine char"),
        ("password", "x" * 201),
        ("display_name", "x" * 101),
        ("display_name", "Ada\u202eLovelace"),
        ("display_name", "Ada\0"),
    ],
)
def test_what_cannot_be_registered_is_said_by_field(sqlite_engine: Engine, field: str, value: str) -> None:
    with pytest.raises(InvalidForm) as refused:
        register(sqlite_engine, **{"username": "ada", "email": "ada@example.org", field: value})
    assert list(refused.value.details["fields"]) == [field]


def test_everything_wrong_with_a_form_is_said_at_once(sqlite_engine: Engine) -> None:
    with pytest.raises(InvalidForm) as refused:
        register(sqlite_engine, username="a", email="b", password="c")
    assert list(refused.value.details["fields"]) == ["username", "email", "password"]


@pytest.mark.parametrize("again", [{"username": "ADA"}, {"username": "bob", "email": "Ada@example.org"}])
def test_a_name_or_address_has_one_account(engine: Engine, again: dict[str, str]) -> None:
    register(engine, "ada")
    with pytest.raises(NameTaken):
        register(engine, **again)


def test_ten_who_want_one_name_at_once_get_it_once(engine: Engine) -> None:
    answers = in_threads(10, lambda n: answer_to(lambda: register(engine, "ada", email=f"ada{n}@example.org")))
    assert sorted(answers) == ["accepted"] + 9 * ["name_taken"]


# ------------------------------------------------------------------------------------------------------------ log-in


def test_log_in_by_name_or_address(engine: Engine) -> None:
    ada = register(engine, "ada")
    for name in ("ada", "ADA ", "ada@example.org", " Ada@Example.org"):
        with reading(engine) as session:
            assert authenticate(session, name, PASSWORD).id == ada.id


def test_unknown_name_and_wrong_password_get_the_same_answer(engine: Engine) -> None:
    register(engine, "ada")
    add_user(engine, "baseline")  # has no password
    wrong = ("wrong horse battery", PASSWORD.upper(), "")
    for name, password in [("ada", p) for p in wrong] + [(n, PASSWORD) for n in ("nobody", "", "ada\0", "baseline")]:
        with reading(engine) as session, pytest.raises(NotAuthenticated) as refused:
            authenticate(session, name, password)
        assert (refused.value.message, refused.value.details) == ("Unknown user name or wrong password.", {})


def test_an_unknown_name_takes_the_same_work(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check the work: otherwise the time of an answer would reveal which names exist."""
    verified = []

    class Counting:
        def __init__(self, real: Any) -> None:
            self.real = real

        def verify(self, stored: str, password: str) -> bool:
            verified.append(stored)
            return bool(self.real.verify(stored, password))

        def hash(self, password: str) -> str:
            return str(self.real.hash(password))

    counting = Counting(auth._hasher())
    monkeypatch.setattr(auth, "_hasher", lambda: counting)
    with reading(engine) as session, pytest.raises(NotAuthenticated):
        authenticate(session, "nobody", PASSWORD)
    assert len(verified) == 1
    assert verified[0].startswith("$argon2id$")


# ---------------------------------------------------------------------------------------------------------- sessions


def test_a_session_is_found_by_its_secret_until_it_expires(engine: Engine) -> None:
    ada = add_user(engine, "ada")
    with writing(engine) as session:
        login, secret = start_session(session, ada, NOW, hours=24)
    with reading(engine) as session:
        found = find_session(session, secret, NOW + DAY - SECOND)
        assert found is not None
        assert (found.id, found.user.username, found.csrf_token) == (login.id, "ada", login.csrf_token)
        assert found.expires_at == NOW + DAY
        assert find_session(session, secret, NOW + DAY) is None
        assert find_session(session, secret + "x", NOW) is None
        assert find_session(session, "", NOW) is None


def test_only_log_ins_that_have_not_ended_are_listed_the_newest_first(engine: Engine) -> None:
    user, other = add_user(engine, "ada"), add_user(engine, "bob")
    with writing(engine) as session:
        for hours in (1, 48, 24):
            start_session(session, user, NOW, hours=hours)
        start_session(session, other, NOW, hours=48)
    with reading(engine) as session:
        live = list_logins(session, user, NOW + 2 * HOUR)
        assert [one.expires_at for one in live] == [NOW + 24 * HOUR, NOW + 48 * HOUR]


def test_the_database_does_not_hold_what_the_cookie_holds(engine: Engine) -> None:
    ada = add_user(engine, "ada")
    with writing(engine) as session:
        login, secret = start_session(session, ada, NOW, hours=24)
        _, other = start_session(session, ada, NOW, hours=24)
    assert len(secret) >= 43, "256 bits"
    assert secret not in (login.secret_hash, login.csrf_token)
    assert secret != other
    with reading(engine) as session:
        assert find_session(session, login.secret_hash, NOW) is None, "a stolen table does not log anybody in"


def test_logging_out_ends_one_session_at_once(engine: Engine) -> None:
    ada = add_user(engine, "ada")
    with writing(engine) as session:
        _, here = start_session(session, ada, NOW, hours=24)
        _, elsewhere = start_session(session, ada, NOW, hours=24)
    for _ in range(2):  # twice is fine
        with writing(engine) as session:
            end_session(session, here)
    with reading(engine) as session:
        assert find_session(session, here, NOW) is None
        assert find_session(session, elsewhere, NOW) is not None


def test_expired_sessions_go_with_the_next_log_in(engine: Engine) -> None:
    ada, bob = add_user(engine, "ada"), add_user(engine, "bob")
    with writing(engine) as session:
        start_session(session, ada, NOW, hours=1)
        start_session(session, bob, NOW, hours=1)
        start_session(session, ada, NOW, hours=3)
    with writing(engine) as session:
        start_session(session, ada, NOW + HOUR, hours=1)
    with reading(engine) as session:
        left = session.scalars(select(LoginSession.user_id).order_by(LoginSession.id)).all()
    assert list(left) == [bob.id, ada.id, ada.id], "only Ada's first is gone; Bob's row is his own next log-in's work"


# ------------------------------------------------------------------------------------------------------------ tokens


def test_a_token_is_shown_once_and_stored_hashed(engine: Engine) -> None:
    ada = add_user(engine, "ada")
    with writing(engine) as session:
        token, secret = create_token(session, ada, "  my   laptop ", NOW)
    assert secret.startswith("evg_")
    assert len(secret) >= 47, "256 bits after the start"
    assert token.name == "my laptop"
    assert token.prefix == secret[:8]
    assert secret not in token.secret_hash
    with reading(engine) as session:
        found = find_token(session, secret, NOW)
        assert found is not None
        assert found.user.username == "ada"
        assert find_token(session, secret[:-1], NOW) is None
        assert find_token(session, token.secret_hash, NOW) is None


@pytest.mark.parametrize("name", ["", "  ", "x" * 101, "lap\0top", "lap\u202etop"])
def test_a_token_has_a_printable_name(sqlite_engine: Engine, name: str) -> None:
    ada = add_user(sqlite_engine, "ada")
    with writing(sqlite_engine) as session, pytest.raises(InvalidForm):
        create_token(session, ada, name, NOW)


def test_a_revoked_token_is_dead_and_no_longer_listed(engine: Engine) -> None:
    ada = add_user(engine, "ada")
    with writing(engine) as session:
        first, secret = create_token(session, ada, "first", NOW)
        second, _ = create_token(session, ada, "second", NOW)
    with reading(engine) as session:
        assert [token.name for token in list_tokens(session, ada)] == ["second", "first"]
    with writing(engine) as session:
        revoke_token(session, ada, first.id, NOW)
    with reading(engine) as session:
        assert find_token(session, secret, NOW) is None
        assert [token.id for token in list_tokens(session, ada)] == [second.id]
    with writing(engine) as session, pytest.raises(NotFound):
        revoke_token(session, ada, first.id, NOW)


def test_a_token_is_dead_from_the_very_moment_of_its_end(sqlite_engine: Engine) -> None:
    ada = add_user(sqlite_engine, "ada")
    with writing(sqlite_engine) as session:
        _, secret = create_token(session, ada, "laptop", NOW, days=1)
    end, instant = NOW + timedelta(days=1), timedelta(microseconds=1)
    with reading(sqlite_engine) as session:
        assert find_token(session, secret, end - instant) is not None
        assert find_token(session, secret, end) is None


def test_somebody_elses_token_cannot_be_revoked_and_looks_like_none(engine: Engine) -> None:
    ada, bob = add_user(engine, "ada"), add_user(engine, "bob")
    with writing(engine) as session:
        token, secret = create_token(session, ada, "laptop", NOW)
    answers = []
    for token_id in (token.id, 999_999):
        with writing(engine) as session, pytest.raises(NotFound) as refused:
            revoke_token(session, bob, token_id, NOW)
        answers.append((refused.value.message, refused.value.details))
    assert answers[0] == answers[1]
    with reading(engine) as session:
        assert find_token(session, secret, NOW) is not None


def test_the_last_use_is_noted(engine: Engine) -> None:
    ada = add_user(engine, "ada")
    with writing(engine) as session:
        token, _ = create_token(session, ada, "laptop", NOW)
    with writing(engine) as session:
        note_token_use(session, token, NOW + HOUR)
    with reading(engine) as session:
        assert session.get_one(ApiToken, token.id).last_used_at == NOW + HOUR


def test_times_of_accounts_are_aware(engine: Engine) -> None:
    ada = add_user(engine, "ada")
    with reading(engine) as session:
        created = session.get_one(User, ada.id).created_at
    assert created == NOW
    assert created.utcoffset() is not None
