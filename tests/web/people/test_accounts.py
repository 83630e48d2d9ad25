"""Registering, logging in and out, on the pages and over the API."""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from collections.abc import Iterator

import httpx
import pytest

from tests.web.limits import limited
from tests.web.site import BROWSER, PASSWORD, Person, Site, csrf_of, log_in, register
from tests.world import DAY

ADA = {"username": "ada", "email": "ada@example.org", "password": PASSWORD, "display_name": "Ada Lovelace"}


#: Well-formed, but somebody else's.
MASKED = urlsafe_b64encode(bytes(32) + b"an unguessable token, not yours!").decode()


@pytest.fixture
def browser(site: Site) -> Iterator[httpx.Client]:
    """Yield the browser of somebody who has never been here."""
    with site.client(**BROWSER) as client:
        yield client


# --------------------------------------------------------------------------------------------------------------- API


def test_an_account_is_made_once(site: Site) -> None:
    with site.client() as anonymous:
        made = anonymous.post("/api/v1/register", json=ADA)
        again = anonymous.post("/api/v1/register", json=ADA | {"email": "other@example.org"})
    assert made.status_code == 201
    assert made.json() == {
        "username": "ada",
        "email": "ada@example.org",
        "email_confirmed": False,
        "display_name": "Ada Lovelace",
        "is_administrator": False,
        "created_at": "2026-01-10T12:00:00Z",
    }
    assert (again.status_code, again.json()["error"]["code"]) == (409, "name_taken")


def test_every_wrong_field_is_told_at_once(site: Site) -> None:
    with site.client() as anonymous:
        response = anonymous.post(
            "/api/v1/register", json={"username": "a b", "email": "nobody", "password": "short-one"}
        )
    assert response.status_code == 422
    assert set(response.json()["error"]["details"]["fields"]) == {"username", "email", "password"}
    assert "short-one" not in response.text


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"username": "ada", "email": "a@b.c"}, "password"),
        (ADA | {"is_administrator": True}, "is_administrator"),
        (ADA | {"password": ["a secret list"]}, "password"),
        (ADA | {"username": 17}, "username"),
        ([], "body"),
    ],
)
def test_a_body_of_another_form_is_refused_without_repeating_it(site: Site, body: object, field: str) -> None:
    with site.client() as anonymous:
        response = anonymous.post("/api/v1/register", json=body)
    assert response.status_code == 422
    assert response.json()["error"]["code"] == "invalid_request"
    assert field in response.json()["error"]["details"]["fields"]
    assert "secret" not in response.text
    assert PASSWORD not in response.text


def test_who_am_i(site: Site, ada: Person) -> None:
    assert ada.client.get("/api/v1/me").json()["username"] == "ada"
    with site.client() as anonymous:
        assert anonymous.get("/api/v1/me").status_code == 401


# ------------------------------------------------------------------------------------------------------------- pages


def test_registering_logs_in_and_leads_on(site: Site, browser: httpx.Client) -> None:
    page = browser.get("/register?next=/competitions/idioms").text
    assert 'name="next" value="/competitions/idioms"' in page
    response = browser.post("/register", data={**ADA, "next": "/competitions/idioms", "csrf_token": csrf_of(page)})
    assert (response.status_code, response.headers["Location"]) == (303, "/competitions/idioms")
    cookie = next(c for c in response.headers.get_list("Set-Cookie") if c.startswith("evergold_session="))
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Path=/" in cookie
    assert "Max-Age=1209600" in cookie, "14 days of 86,400 s, as long as the log-in itself"
    assert "Secure" not in cookie
    assert "Ada Lovelace" in browser.get("/account").text


def test_cookies_are_secure_where_the_settings_say_so(site: Site, browser: httpx.Client) -> None:
    site.settings.secure_cookies = True
    page = browser.get("/register")
    assert "Secure" in page.headers["Set-Cookie"]
    token = {"csrf_token": csrf_of(page.text)}
    form_cookie = page.headers["Set-Cookie"].split(";")[0]  # httpx keeps a Secure cookie from http, as a browser does
    response = browser.post("/register", data={**ADA, **token}, headers={"Cookie": form_cookie})
    cookies = [cookie for cookie in response.headers.get_list("Set-Cookie") if "Max-Age=0" not in cookie]
    assert cookies
    assert all("Secure" in cookie for cookie in cookies)


def test_what_was_typed_stays_and_what_was_wrong_is_marked(browser: httpx.Client) -> None:
    form = {**ADA, "email": "nobody", "csrf_token": csrf_of(browser.get("/register").text)}
    response = browser.post("/register", data=form)
    assert response.status_code == 422
    assert 'value="ada"' in response.text
    assert 'id="email-error"' in response.text
    assert PASSWORD not in response.text


def test_a_taken_name_is_said_on_the_page(site: Site, browser: httpx.Client) -> None:
    register(site)
    for other, field in (({"email": "new@example.org"}, "username"), ({"username": "somebody"}, "email")):
        token = csrf_of(browser.get("/register").text)
        response = browser.post("/register", data={**ADA, **other, "csrf_token": token})
        assert response.status_code == 409
        assert f'id="{field}-error"' in response.text
    assert "This address already has an account." in response.text


@pytest.mark.parametrize("name", ["ada", "ADA ", "ada@example.org"])
def test_logging_in_and_out(site: Site, browser: httpx.Client, name: str) -> None:
    register(site)
    form = {"username": name, "password": PASSWORD, "csrf_token": csrf_of(browser.get("/login").text)}
    assert browser.post("/login", data=form).status_code == 303
    account = browser.get("/account").text
    secret = browser.cookies["evergold_session"]
    assert browser.post("/logout", data={"csrf_token": csrf_of(account)}).headers["Location"] == "/"
    assert "evergold_session" not in browser.cookies
    browser.cookies.set("evergold_session", secret)  # a stolen copy is worth nothing any more
    assert browser.get("/account").status_code == 303
    again = browser.post("/logout", data={})
    assert (again.status_code, again.headers["Location"]) == (303, "/"), "who is logged out already is"


def test_a_wrong_password_and_an_unknown_name_look_the_same(site: Site, browser: httpx.Client) -> None:
    register(site)
    token = csrf_of(browser.get("/login").text)
    answers = [
        browser.post("/login", data={"username": name, "password": "wrong password", "csrf_token": token})
        for name in ("ada", "nobody")
    ]
    assert [answer.status_code for answer in answers] == [401, 401]
    said = [answer.text.split('role="alert"')[1].split("</div>")[0] for answer in answers]
    assert said[0] == said[1]
    assert "evergold_session" not in browser.cookies


def test_a_log_in_ends_by_itself(site: Site) -> None:
    with log_in(site) as browser:
        site.set_clock(site.now + 15 * DAY)
        browser.follow_redirects = False
        assert browser.get("/account").headers["Location"] == "/login?next=/account"


@pytest.mark.parametrize(
    "elsewhere",
    [
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "/\tx",
        "",
    ],
)
def test_nobody_is_led_elsewhere(site: Site, browser: httpx.Client, elsewhere: str) -> None:
    register(site)
    form = {"username": "ada", "password": PASSWORD, "next": elsewhere}
    response = browser.post("/login", data={**form, "csrf_token": csrf_of(browser.get("/login").text)})
    assert response.headers["Location"] == "/"
    assert browser.get("/login", params={"next": elsewhere}).headers["Location"] == "/"  # logged in already


def test_guessing_passwords_is_slowed_down(site: Site, browser: httpx.Client) -> None:
    register(site)
    limited(site, failed_logins_per_10_minutes=3)
    wrong = {"username": "ada", "password": "wrong password", "name": "x"}
    for _ in range(3):
        assert browser.post("/api/v1/tokens", json=wrong).status_code == 401
    right = {"username": "ada", "password": PASSWORD, "name": "x"}
    refused = browser.post("/api/v1/tokens", json=right)
    assert refused.status_code == 429
    assert 0 < int(refused.headers["Retry-After"]) <= 600
    form = {**right, "next": "/competitions", "csrf_token": csrf_of(browser.get("/login").text)}
    page = browser.post("/login", data=form)
    assert page.status_code == 429
    assert 0 < int(page.headers["Retry-After"]) <= 600
    assert "Too many wrong passwords" in page.text
    assert re.search(r'name="username"[^>]*value="ada"', page.text)
    assert 'name="next" value="/competitions"' in page.text


# -------------------------------------------------------------------------------------------------------------- CSRF


@pytest.mark.parametrize("path", ["/login", "/register"])
@pytest.mark.parametrize("token", ["", "x", "ä", "AAAA", MASKED])
def test_an_anonymous_form_needs_its_token(browser: httpx.Client, path: str, token: str) -> None:
    browser.get(path)
    response = browser.post(path, data={**ADA, "csrf_token": token})
    assert response.status_code == 403
    assert "evergold_session" not in browser.cookies


def test_a_token_without_its_cookie_is_worthless(site: Site, browser: httpx.Client) -> None:
    token = csrf_of(browser.get("/register").text)
    with site.client(**BROWSER) as stranger:
        assert stranger.post("/register", data={**ADA, "csrf_token": token}).status_code == 403


@pytest.mark.parametrize("path", ["/logout", "/account/tokens", "/account/tokens/1/revoke"])
def test_forms_of_the_logged_in_need_their_token(site: Site, path: str) -> None:
    with log_in(site) as browser, log_in(site, "eve") as eve:
        theirs = csrf_of(eve.get("/account").text)
        for token in ("", theirs):
            assert browser.post(path, data={"name": "x", "csrf_token": token}).status_code == 403
        assert "Log out" in browser.get("/account").text


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}],
)
def test_a_form_from_another_site_is_refused_even_with_a_token(site: Site, headers: dict[str, str]) -> None:
    with log_in(site) as browser:
        form = {"csrf_token": csrf_of(browser.get("/account").text)}
        assert browser.post("/logout", data=form, headers=headers).status_code == 403
        ours = {"Origin": site.url, "Sec-Fetch-Site": "same-origin"}
        assert browser.post("/logout", data=form, headers=ours).status_code == 200


def test_tokens_on_pages_look_different_each_time(site: Site) -> None:
    with log_in(site) as browser:
        first, second = csrf_of(browser.get("/account").text), csrf_of(browser.get("/account").text)
        assert first != second
        browser.follow_redirects = False
        assert browser.post("/logout", data={"csrf_token": first}).status_code == 303
