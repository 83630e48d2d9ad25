"""Log-ins with a provider, without one: which is whose, how long it lasts, and whose account it may be linked to."""

from __future__ import annotations

from datetime import datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from pydantic import SecretStr
from sqlalchemy import Engine, select

from app.base.config import Settings
from app.base.db import reading, writing
from app.base.errors import Forbidden, NameTaken, NotFound
from app.base.providers import Provider
from app.models import Identity, LoginSession, MailLink, OutgoingMail, ProviderLogin, User
from app.people import auth, provider_logins
from app.people.act import UserAct
from app.people.providers import Person
from tests import letters
from tests.rich_world import NAMESAKES
from tests.world import HOUR, NOW, add_user

MINUTE = timedelta(minutes=1)
END = NOW + timedelta(minutes=provider_logins.MINUTES)
ADA = Person("https://uni.example", "a-1", "ada@uni.example", email="ada@example.org", is_email_proved=True)
BOB = Person("https://uni.example", "b-2", "bob@uni.example")


@pytest.fixture
def engine(sqlite_engine: Engine) -> Engine:
    return sqlite_engine


@pytest.fixture
def settings() -> Settings:
    known = {
        name: Provider(title=name, issuer="https://uni.example", client_id="us", client_secret=SecretStr("x"), **more)
        for name, more in (("uni", {}), ("hub", {"trusted": True}))
    }
    return Settings(base_url="https://scores.example.org", providers=known)


@pytest.fixture
def people(engine: Engine) -> dict[str, User]:
    """Ada and Bob, and Root, who is an administrator; they can log in with passwords. The others of their names are
    next door."""
    found = {name: add_user(engine, name, is_administrator=name == "root") for name in ("ada", "bob", "root")}
    with writing(engine) as session:
        for user in found.values():
            session.get_one(User, user.id).password_hash = "a hash"
    assert NAMESAKES == ("Ada", "Bob")
    return found


def answered(engine: Engine, person: Person, *, following: str = "/submissions", provider: str = "uni") -> str:
    """The cookie of a browser whose log-in was answered."""
    with writing(engine) as session:
        cookie, made = provider_logins.begin(session, provider, following, NOW)
        login, _ = provider_logins.take_answer(session, cookie, provider, made.state, NOW + MINUTE)
        provider_logins.keep_answer(session, login.id, person)
    return cookie


def found(engine: Engine, cookie: str, now: datetime = NOW + MINUTE) -> Person | None:
    with reading(engine) as session:
        try:
            return provider_logins.find_answered(session, cookie, now)[1]
        except NotFound:
            return None


def test_each_browser_has_its_own_log_in_for_half_an_hour(engine: Engine) -> None:
    hers, his = answered(engine, ADA), answered(engine, BOB)
    assert (found(engine, hers), found(engine, his), found(engine, "guessed")) == (ADA, BOB, None)
    assert (found(engine, hers, END - MINUTE), found(engine, hers, END)) == (ADA, None)


def test_an_answer_belongs_to_its_browser_provider_and_state_and_is_taken_once_and_in_time(engine: Engine) -> None:
    with writing(engine) as session:
        cookie, made = provider_logins.begin(session, "uni", "", NOW)
        other, others = provider_logins.begin(session, "uni", "", NOW)
        for wrong in (
            (cookie, "hub", made.state, NOW),
            (cookie, "uni", others.state, NOW),
            ("guessed", "uni", made.state, NOW),
            (cookie, "uni", made.state, END),
        ):
            with pytest.raises(NotFound):
                provider_logins.take_answer(session, *wrong)
        login, back = provider_logins.take_answer(session, cookie, "uni", made.state, NOW)
        assert (back, login.provider) == (made, "uni")
        with pytest.raises(NotFound):
            provider_logins.take_answer(session, cookie, "uni", made.state, NOW)
    assert found(engine, cookie) is None, "nothing is proved yet"
    assert found(engine, other) is None, "the provider has not answered"


def test_a_log_in_that_links_to_an_account_opens_no_other(engine: Engine, people: dict[str, User]) -> None:
    with writing(engine) as session:
        cookie, made = provider_logins.begin(session, "uni", "", NOW, linking=people["ada"])
        login, _ = provider_logins.take_answer(session, cookie, "uni", made.state, NOW)
        provider_logins.keep_answer(session, login.id, ADA)
    assert found(engine, cookie) is None


def test_what_nobody_finished_is_forgotten_when_the_next_begins(engine: Engine) -> None:
    answered(engine, ADA)
    with writing(engine) as session:
        provider_logins.begin(session, "uni", "x" * 2001, END)
        [left] = session.scalars(select(ProviderLogin))
        assert (left.expires_at, left.following) == (END + timedelta(minutes=provider_logins.MINUTES), "")


# ------------------------------------------------------------------------------------------------------ mailed links


def asked(engine: Engine, settings: Settings, cookie: str, address: str = "ada@example.org") -> str:
    """The secret of the link that was mailed last."""
    with writing(engine) as session:
        login, _ = provider_logins.find_answered(session, cookie, NOW + MINUTE)
        provider_logins.ask_by_mail(session, login, address, "Uni", settings, NOW + MINUTE)
    mailed = letters.links(engine, MailLink.LOGIN, NOW + 2 * MINUTE, settings)
    return parse_qs(urlsplit(mailed[-1]).query)["link"][0] if mailed else ""


def test_a_mailed_link_opens_in_the_browser_that_asked_and_links_the_account_of_the_address(
    engine: Engine, people: dict[str, User], settings: Settings
) -> None:
    hers, his = answered(engine, BOB), answered(engine, ADA)
    secret = asked(engine, settings, hers)
    with reading(engine) as session:
        [mail] = session.scalars(select(OutgoingMail).where(OutgoingMail.user_id == people["ada"].id))
        assert (mail.recipient, mail.link) == ("ada@example.org", MailLink.LOGIN)
        for wrong in ((his, secret), (hers, "guessed"), (hers, "")):
            with pytest.raises(NotFound):
                provider_logins.find_mailed(session, *wrong, NOW + 3 * MINUTE)
        _, person, user = provider_logins.find_mailed(session, hers, secret, NOW + 3 * MINUTE)
        assert (person, user.id) == (BOB, people["ada"].id)
    with writing(engine) as session:
        auth.start_session(session, people["ada"], NOW, hours=1)
        user, following = provider_logins.link_mailed(session, hers, secret, settings, NOW + 3 * MINUTE)
        assert (user.username, following) == ("ada", "/submissions")
        assert session.scalars(select(LoginSession).where(LoginSession.user_id == user.id)).all(), "they stay logged in"
        assert session.get_one(User, user.id).has_password
    assert found(engine, hers) is None, "it is finished"
    assert found(engine, his) == ADA
    with writing(engine) as session:
        assert [one.subject for one in provider_logins.list_identities(session, people["ada"])] == ["b-2"]
        assert provider_logins.account_of(session, BOB, "uni", settings, NOW).username == "ada"  # type: ignore[union-attr]
        assert provider_logins.account_of(session, ADA, "uni", settings, NOW) is None


def test_a_link_is_for_the_newest_request_and_not_for_ever(
    engine: Engine, people: dict[str, User], settings: Settings
) -> None:
    first, second = answered(engine, BOB), answered(engine, BOB)
    asked(engine, settings, first)
    new = asked(engine, settings, second)
    with reading(engine) as session:
        with pytest.raises(NotFound):
            provider_logins.find_mailed(session, first, new, NOW + 3 * MINUTE)
        assert provider_logins.find_mailed(session, second, new, NOW + 3 * MINUTE)[2].username == "ada"
        with pytest.raises(NotFound):
            provider_logins.find_mailed(session, second, new, END)


def test_an_address_without_an_account_gets_no_link(
    engine: Engine, people: dict[str, User], settings: Settings
) -> None:
    """Check a user name, too: anybody may know that one."""
    for address in ("nobody@example.org", "ada"):
        assert asked(engine, settings, answered(engine, BOB), address) == ""


def test_whoever_registered_an_address_without_confirming_it_loses_every_way_in(
    engine: Engine, people: dict[str, User], settings: Settings
) -> None:
    with writing(engine) as session:
        session.get_one(User, people["ada"].id).email_confirmed_at = None
        auth.start_session(session, people["ada"], NOW, hours=1)
        provider_logins.link(UserAct(session, people["ada"], NOW, settings), BOB, "uni")
    cookie = answered(engine, ADA)
    secret = asked(engine, settings, cookie)
    with writing(engine) as session:
        provider_logins.link_mailed(session, cookie, secret, settings, NOW + 3 * MINUTE)
    with reading(engine) as session:
        assert [one.subject for one in provider_logins.list_identities(session, people["ada"])] == ["a-1"]
        assert session.scalars(select(LoginSession).where(LoginSession.user_id == people["ada"].id)).all() == []
        assert session.get_one(User, people["ada"].id).email_confirmed_at is not None


# --------------------------------------------------------------------------------------------------------- accounts


def test_a_trusted_provider_links_a_confirmed_address_and_no_administrators(
    engine: Engine, people: dict[str, User], settings: Settings
) -> None:
    root = Person("https://uni.example", "r-3", "root", email="root@example.org", is_email_proved=True)
    unproved = Person("https://uni.example", "b-2", "bob", email="bob@example.org")
    with writing(engine) as session:
        found = {
            (person.subject, name): provider_logins.account_of(session, person, name, settings, NOW)
            for person, name in ((ADA, "uni"), (root, "hub"), (unproved, "hub"), (ADA, "hub"))
        }
    assert {key: user.username if user else None for key, user in found.items()} == {
        ("a-1", "uni"): None,
        ("r-3", "hub"): None,
        ("b-2", "hub"): None,
        ("a-1", "hub"): "ada",
    }
    with writing(engine) as session:
        [identity] = session.scalars(select(Identity))
        assert (identity.user_id, identity.provider, identity.last_used_at) == (people["ada"].id, "hub", None)
        provider_logins.account_of(session, ADA, "uni", settings, NOW + HOUR)
        assert (identity.last_used_at, identity.label) == (NOW + HOUR, "ada@uni.example")


def test_an_identity_opens_one_account_and_is_its_owners_to_unlink(
    engine: Engine, people: dict[str, User], settings: Settings
) -> None:
    ada, bob = people["ada"], people["bob"]
    with writing(engine) as session:
        provider_logins.link(UserAct(session, ada, NOW, settings), ADA, "uni")
        provider_logins.link(UserAct(session, bob, NOW, settings), BOB, "uni")
        [hers] = provider_logins.list_identities(session, ada)
        with pytest.raises(NameTaken):
            provider_logins.link(UserAct(session, bob, NOW, settings), ADA, "uni")
        with pytest.raises(NotFound):
            provider_logins.unlink(session, bob, hers.id, settings, NOW)
    with writing(engine) as session:
        provider_logins.unlink(session, bob, provider_logins.list_identities(session, bob)[0].id, settings, NOW)
        assert len(provider_logins.list_identities(session, ada)) == 1
        assert provider_logins.list_identities(session, bob) == []


def test_the_last_way_in_is_not_unlinked(engine: Engine, people: dict[str, User], settings: Settings) -> None:
    ada = people["ada"]
    with writing(engine) as session:
        provider_logins.link(UserAct(session, ada, NOW, settings), ADA, "uni")
        [only] = provider_logins.list_identities(session, ada)
        alone = settings.model_copy(update={"passwords": False})
        with pytest.raises(Forbidden, match="the only way"):
            provider_logins.unlink(session, ada, only.id, alone, NOW)
        provider_logins.link(UserAct(session, ada, NOW, alone), BOB, "uni")
        provider_logins.unlink(session, ada, only.id, alone, NOW)
        assert [one.subject for one in provider_logins.list_identities(session, ada)] == ["b-2"]
