"""Limits of requests: for whom a request counts, and the response to one too many: 429, and when to come back."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from sqlalchemy import Engine

from app.base.config import get_settings
from app.web.http.rate_limits import _say_ignored
from app.web.main import create_app
from tests.services import Valkey
from tests.web.limits import limited
from tests.web.site import BROWSER, PASSWORD, SUBMIT, Person, Site, a_site, csrf_of, register, serving
from tests.world import PHASE, TASK

pytestmark = pytest.mark.usefixtures("cheap_passwords")
WRONG = {"username": "ada", "password": "wrong password", "name": "x"}


def account(number: int) -> dict[str, str]:
    return {"username": f"user{number}", "email": f"user{number}@example.org", "password": PASSWORD}


@pytest.fixture
def visitor(site: Site) -> Iterator[httpx.Client]:
    with site.client() as client:
        yield client


def failed_logins(visitor: httpx.Client, count: int, username: str = "ada", **headers: str) -> list[int]:
    body = {**WRONG, "username": username}
    return [visitor.post("/api/v1/tokens", json=body, headers=headers).status_code for _ in range(count)]


# ---------------------------------------------------------------------------------------------------------- registering


def test_accounts_from_one_address_are_bounded(site: Site, visitor: httpx.Client) -> None:
    limited(site, registrations_per_hour=2)
    assert [visitor.post("/api/v1/register", json=account(n)).status_code for n in (1, 2)] == [201, 201]
    refused = visitor.post("/api/v1/register", json=account(3))
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "limit_reached")
    assert 3000 < int(refused.headers["Retry-After"]) <= 3600
    with site.client(**BROWSER) as browser:
        form = {**account(3), "csrf_token": csrf_of(browser.get("/register").text)}
        page = browser.post("/register", data=form)
    assert page.status_code == 429
    assert "Too many accounts were created from your network" in page.text
    assert 'value="user3"' in page.text, "what was typed stays"
    assert int(page.headers["Retry-After"]) > 0


def test_a_form_with_mistakes_does_not_count_but_looking_for_names_does(site: Site, visitor: httpx.Client) -> None:
    limited(site, registrations_per_hour=2)
    bad = {**account(1), "password": "short"}
    assert [visitor.post("/api/v1/register", json=bad).status_code for _ in range(5)] == 5 * [422]
    assert [visitor.post("/api/v1/register", json=account(1)).status_code for _ in range(3)] == [201, 409, 429]


# ----------------------------------------------------------------------------------------------------------- logging in


def test_right_passwords_do_not_count_as_guesses(site: Site, visitor: httpx.Client) -> None:
    register(site)
    limited(site, failed_logins_per_10_minutes=2)
    right = {**WRONG, "password": PASSWORD}
    assert [visitor.post("/api/v1/tokens", json=right).status_code for _ in range(5)] == 5 * [201]


@pytest.mark.parametrize(
    ("setting", "names", "answers"),
    [
        ("failed_logins_per_10_minutes", ("ada", "ada", "ada", "bob"), [401, 401, 429, 401]),
        ("failed_logins_per_hour_and_account", ("ada", "ADA ", "ada", "bob"), [401, 401, 429, 401]),
        ("failed_logins_per_hour_and_address", ("ada", "bob", "cat", "dan"), [401, 401, 429, 429]),
    ],
)
def test_guesses_are_counted_by_account_and_by_address(
    site: Site, visitor: httpx.Client, setting: str, names: tuple[str, ...], answers: list[int]
) -> None:
    limited(site, **{setting: 2})
    assert [failed_logins(visitor, 1, name)[0] for name in names] == answers


def test_right_passwords_have_a_bound_of_their_own(site: Site, visitor: httpx.Client) -> None:
    register(site)
    limited(site, logins_per_hour_and_account=2)
    assert failed_logins(visitor, 3) == 3 * [401], "nobody else uses up what the owner has"
    right = {**WRONG, "password": PASSWORD}
    answers = [visitor.post("/api/v1/tokens", json=right) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [201, 201, 429]
    assert 3000 < int(answers[-1].headers["Retry-After"]) <= 3600


def test_every_password_counts_for_the_address_it_comes_from(site: Site, visitor: httpx.Client) -> None:
    limited(site, passwords_per_hour_and_address=3)
    assert visitor.post("/api/v1/register", json=account(1)).status_code == 201
    right = {**account(1), "name": "x"}
    del right["email"]
    assert visitor.post("/api/v1/tokens", json=right).status_code == 201
    assert failed_logins(visitor, 2) == [401, 429]
    assert visitor.post("/api/v1/tokens", json=right).status_code == 429, "the right one, too"


def test_tokens_and_log_ins_go_on_while_guesses_are_refused(site: Site, ada: Person, visitor: httpx.Client) -> None:
    limited(site, failed_logins_per_hour_and_account=1)
    assert failed_logins(visitor, 2) == [401, 429]
    assert ada.client.get("/api/v1/me").status_code == 200


# ------------------------------------------------------------------------------------------------------ X-Forwarded-For


def test_a_forged_header_evades_nothing(site: Site, visitor: httpx.Client) -> None:
    limited(site, failed_logins_per_10_minutes=2)
    answers = [failed_logins(visitor, 1, **{"X-Forwarded-For": f"198.51.100.{n}"})[0] for n in range(3)]
    assert answers == [401, 401, 429]


def test_an_unknown_proxy_is_told_of_once(site: Site, visitor: httpx.Client, capfd: pytest.CaptureFixture[str]) -> None:
    _say_ignored.cache_clear()
    failed_logins(visitor, 3, **{"X-Forwarded-For": "198.51.100.7"})
    assert capfd.readouterr().out.count("EVERGOLD_TRUSTED_PROXIES") == 1


@pytest.fixture
def behind_proxy(sqlite_engine: Engine) -> Iterator[Site]:
    """A server that knows its reverse proxy, which sits on this machine."""
    address = sqlite_engine.url.render_as_string(hide_password=False)
    settings = get_settings().model_copy(update={"database_url": address, "trusted_proxies": "127.0.0.1,192.0.2.0/24"})
    app = create_app(settings)
    app.state.server.engine.dispose()
    with serving(app) as url, a_site(app, url, sqlite_engine, settings) as found:
        yield found


def test_behind_a_proxy_each_client_counts_for_itself(behind_proxy: Site) -> None:
    limited(behind_proxy, failed_logins_per_10_minutes=2)
    with behind_proxy.client() as client:
        first = failed_logins(client, 3, **{"X-Forwarded-For": "198.51.100.7"})
        second = failed_logins(client, 1, **{"X-Forwarded-For": "198.51.100.8"})
    assert (first, second) == ([401, 401, 429], [401])


@pytest.mark.parametrize(
    "chain",
    [
        "203.0.113.{n}, 198.51.100.7",  # what the client claims stands before what our proxy saw
        "203.0.113.{n}, 198.51.100.7, 192.0.2.1",  # two proxies of ours
        "203.0.113.{n},198.51.100.7:443",
    ],
)
def test_what_a_client_claims_to_its_proxy_evades_nothing(behind_proxy: Site, chain: str) -> None:
    limited(behind_proxy, failed_logins_per_10_minutes=2)
    with behind_proxy.client() as client:
        answers = [failed_logins(client, 1, **{"X-Forwarded-For": chain.format(n=n)})[0] for n in range(3)]
    assert answers == [401, 401, 429]


# -------------------------------------------------------------------------------------------------------------- uploads


def test_a_team_that_floods_is_asked_to_wait_before_its_file_is_read(site: Site, ada: Person, eve: Person) -> None:
    ada.submitted()  # until the first one there is no team to count for
    limited(site, uploads_per_minute=2)
    assert [ada.submit().status_code for _ in range(2)] == [202, 202]
    stored = site.stored()
    refused = ada.submit(b"another file\n")
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "limit_reached")
    assert 0 < int(refused.headers["Retry-After"]) <= 60
    assert site.stored() == stored
    assert eve.submit().status_code == 202, "another team is not concerned"


def test_the_upload_form_says_it_too(site: Site, ada: Person) -> None:
    with site.client(**BROWSER) as browser:
        register(site, "bob")
        form = {"username": "bob", "password": PASSWORD, "csrf_token": csrf_of(browser.get("/login").text)}
        browser.post("/login", data=form)
        path = f"/competitions/idioms/phases/{PHASE}/tasks/{TASK}/submit"
        limited(site, uploads_per_minute=1)
        for number, expected in enumerate((303, 303, 429)):  # the first one makes the team
            page, content = browser.get(path).text, b"ID\n" + b"\n" * number  # the same file would be asked about
            sent = browser.post(path, data={"csrf_token": csrf_of(page)}, files={"file": ("x.csv", content)})
            assert sent.status_code == expected
    assert int(sent.headers["Retry-After"]) > 0
    assert "is sending too many files at once" in sent.text


def test_a_deadline_with_the_limits_as_they_are_hits_nobody(site: Site, ada: Person) -> None:
    """A script that sends what a day allows, and each file again because the network is slow."""
    for number in range(10):
        for _ in range(2):
            sent = ada.submit(f"file {number}\n".encode(), headers={"Idempotency-Key": f"key-{number}"})
            assert sent.status_code == 202


# ---------------------------------------------------------------------------------------------------------------- Redis


def test_two_web_processes_count_together_and_outlive_their_redis(site: Site, ada: Person, valkey: Valkey) -> None:
    ada.submitted()
    limited(site, broker_url=valkey.address, uploads_per_minute=2)
    assert ada.submit().status_code == 202
    limited(site, broker_url=valkey.address, uploads_per_minute=2)  # as another process would begin
    assert [ada.submit().status_code for _ in range(2)] == [202, 429]
    valkey.stop()
    assert ada.submit(path=SUBMIT).status_code == 202, "an outage locks nobody out"
