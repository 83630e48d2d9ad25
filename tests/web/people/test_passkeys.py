"""Passkeys in a real browser, with a virtual authenticator: added, used, and refused where they are another's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, CDPSession, Page, expect
from sqlalchemy import select, update

from app.base.db import reading, writing
from app.models import Passkey, SecondStep, User
from app.people.passkeys import Site as Place, verified_answer
from tests.web.access import Reader
from tests.web.browsers import open_context
from tests.web.late_parts import holding
from tests.web.site import PASSWORD, Site, a_site, register
from tests.web.test_browser import chromium  # noqa: F401 - a fixture

pytestmark = pytest.mark.browser

LOGINS = "/account/logins"
#: A phone or a laptop that asks for a finger, and gets it at once.
AUTHENTICATOR: dict[str, Any] = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture
def named(empty_site: Site) -> Iterator[Site]:
    """A server with a name: passkeys are bound to one."""
    url = empty_site.url.replace("127.0.0.1", "localhost")
    settings = empty_site.settings.model_copy(update={"base_url": url})
    with a_site(empty_site.app, url, empty_site.engine, settings) as found:
        register(found)
        yield found


@contextmanager
def browser_of(chromium: Browser) -> Iterator[tuple[Page, CDPSession]]:  # noqa: F811
    """A page of a browser whose machine has an authenticator."""
    context = open_context(chromium)
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    session.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
    yield page, session
    context.close()


def password(site: Site, page: Page, username: str = "ada") -> None:
    page.goto(f"{site.url}/login?next=/submissions")
    page.fill("#username", username)
    page.fill("#password", PASSWORD)
    with page.expect_navigation():
        page.click("main button[type=submit]")


def add(site: Site, page: Page, name: str) -> None:
    page.goto(site.url + LOGINS)
    page.fill("#second-proof", PASSWORD)
    with page.expect_navigation():
        page.click("text=Add a passkey")
    page.fill("#name", name)
    page.click("text=Add the passkey")


def keys(site: Site) -> list[Passkey]:
    with reading(site.engine) as session:
        return list(session.scalars(select(Passkey).order_by(Passkey.id)))


def test_a_passkey_is_the_second_factor(named: Site, chromium: Browser) -> None:  # noqa: F811
    with browser_of(chromium) as (page, _):
        password(named, page)
        add(named, page, "My laptop")
        page.wait_for_selector("h1:has-text('Recovery codes')")
        assert len(page.inner_text("#codes").split()) == 10
        page.goto(named.url + LOGINS)
        assert "Passkey My laptop, since" in page.inner_text("main")
        [key] = keys(named)
        reader = Reader(page, named.url)
        assert reader.complaints(reader.go(LOGINS)) == []
        page.context.clear_cookies()
        password(named, page)
        assert page.url == f"{named.url}/login/second"
        assert reader.complaints(None) == []
        with holding(page, frozenset({"script"})) as release:
            page.goto(page.url, wait_until="commit")
            expect(page.get_by_role("button", name="Use a passkey")).to_be_disabled()  # it would send no answer
            release()
        page.click("text=Use a passkey")
        page.wait_for_url("**/submissions")
        [used] = keys(named)
        assert used.sign_count > key.sign_count
        assert used.last_used_at == named.now
        page.goto(named.url + LOGINS)
        assert "password, second factor" in page.inner_text("main")
        add(named, page, "The same again")  # the authenticator knows that it holds one already
        page.wait_for_selector("[role=status]:not([hidden])")
        assert len(keys(named)) == 1


def test_another_persons_passkey_opens_nothing(named: Site, chromium: Browser) -> None:  # noqa: F811
    """The browser is made to offer it: the server compares whose it is."""
    register(named, "eve")
    with browser_of(chromium) as (mine, _), browser_of(chromium) as (page, _):
        password(named, mine)
        add(named, mine, "Ada's")
        mine.wait_for_selector("#codes")
        password(named, page, "eve")
        add(named, page, "Eve's")
        page.wait_for_selector("#codes")
        page.context.clear_cookies()
        password(named, page)  # somebody who knows ada's password
        page.wait_for_selector("form[data-passkey]")
        [_, of_eve] = keys(named)
        offered = """(id) => {
          const form = document.querySelector("form[data-passkey]"), options = JSON.parse(form.dataset.options);
          options.allowCredentials = [{ id, type: "public-key" }];
          form.dataset.options = JSON.stringify(options);
        }"""
        page.evaluate(offered, of_eve.credential)
        page.click("text=Use a passkey")
        page.wait_for_selector("text=This passkey could not be used")
        page.goto(f"{named.url}/account")
        assert "/login" in page.url


def answers(site: Site, page: Page) -> tuple[str, str]:
    """A true answer of the browser for the step under way, and its challenge."""
    told = """async () => {
      const options = JSON.parse(document.querySelector("form[data-passkey]").dataset.options);
      const credential = await navigator.credentials.get(
        { publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
      return JSON.stringify(credential.toJSON());
    }"""
    answer: str = page.evaluate(told)
    with reading(site.engine) as session:
        return answer, session.scalars(select(SecondStep.challenge)).one()


def test_an_answer_is_for_one_challenge_one_site_and_counts_up(named: Site, chromium: Browser) -> None:  # noqa: F811
    with browser_of(chromium) as (page, _):
        password(named, page)
        add(named, page, "")
        page.wait_for_selector("#codes")
        [key] = keys(named)
        page.context.clear_cookies()
        password(named, page)
        answer, challenge = answers(named, page)
        known, here = {key.credential: (key.public_key, key.sign_count)}, Place(named.url)
        found = verified_answer(answer, challenge, known, here)
        assert found is not None
        assert found.sign_count > key.sign_count
        assert verified_answer(answer, "AAAA", known, here) is None
        assert verified_answer(answer, challenge, known, Place("https://evil.example")) is None
        cloned = {key.credential: (key.public_key, found.sign_count)}
        assert verified_answer(answer, challenge, cloned, here) is None, "seen before: a copy of the key"
        document = json.loads(answer)
        document["response"]["signature"] = document["response"]["signature"][:-8] + "AAAAAAAA"
        for false in (json.dumps(document), "{}", "[]", "null", "", '{"id": []}', "x" * 100):
            assert verified_answer(false, challenge, known, here) is None, false


def test_a_server_without_a_name_offers_none(empty_site: Site, chromium: Browser) -> None:  # noqa: F811
    register(empty_site)
    with browser_of(chromium) as (page, _):
        password(empty_site, page)
        page.goto(empty_site.url + LOGINS)
        assert "Set up an app" in page.inner_text("main")
        assert "Add a passkey" not in page.inner_text("main")


def test_who_is_blocked_or_ended_between_the_steps_does_not_get_in(named: Site, chromium: Browser) -> None:  # noqa: F811
    """An account that can log in no more (without a hash, not even a placeholder) does not by a second step."""
    with browser_of(chromium) as (page, _):
        password(named, page)
        add(named, page, "Mine")
        page.wait_for_selector("#codes")
        page.context.clear_cookies()
        password(named, page)
        with writing(named.engine) as session:
            session.execute(update(User).values(password_hash=None))
        page.click("text=Use a passkey")
        page.wait_for_selector("text=ended already")
