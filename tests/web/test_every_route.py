"""Properties of every route, also of later ones: guarded answers, and no forged request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime

import httpx
import pytest
from nacl.public import PrivateKey
from sqlalchemy import update

from app.base.db import writing
from app.gold.sealing import key_id_of
from app.models import User, WorkerKey
from app.web.http import csrf
from tests import lanes, world
from tests.web.routes import Address, addresses, application
from tests.web.site import BROWSER, Site, csrf_of, log_in
from tests.world import DAY, HOUR, NOW

pytestmark = pytest.mark.usefixtures("cheap_passwords")

ALL = addresses(application())
WRITES = [address for address in ALL if address.method not in ("GET", "HEAD", "OPTIONS")]
#: Ask no cookie, so there is nothing to forge.
WITHOUT_COOKIE = {"POST /api/v1/register", "POST /api/api-token-auth/", "PUT /api/uploads/{secret}/"}


@contextmanager
def log_in_administrator(site: Site) -> Iterator[httpx.Client]:
    with log_in(site, "grace") as browser:
        with writing(site.engine) as session:
            session.execute(update(User).where(User.username == "grace").values(is_administrator=True))
        yield browser


@pytest.fixture
def administrator(site: Site) -> Iterator[httpx.Client]:
    """A browser in which somebody is logged in who may do everything: nothing is refused for another reason."""
    with log_in_administrator(site) as browser:
        with writing(site.engine) as session:
            public = bytes(PrivateKey.generate().public_key)
            session.add(WorkerKey(key_id=key_id_of(public), public_key=public, created_at=NOW, retired_at=None))
        browser.follow_redirects = False
        browser.headers["Accept"] = "application/json"
        yield browser


def sent(browser: httpx.Client, address: Address, token: str | None, **headers: str) -> httpx.Response:
    """The request that a form or a script of our pages would send, with this token or none."""
    if address.is_api:
        more = {} if token is None else {csrf.CSRF_HEADER: token}
        return browser.request(address.method, address.path(), headers={**headers, **more}, json={})
    fields = {} if token is None else {csrf.FORM_FIELD: token}
    files = {"file": ("file.csv", b"ID,Language,Setting,Label\n")}  # forms that want none overlook it
    return browser.request(address.method, address.path(), headers=headers, data=fields, files=files)


def is_refused(response: httpx.Response) -> bool:
    return response.status_code == 403 and response.json()["error"]["code"] == "csrf_token_wrong"


def test_there_are_routes_to_look_at() -> None:
    assert len(ALL) > 40
    assert len(WRITES) > 10


def test_nothing_changes_without_the_token_of_the_log_in(site: Site, administrator: httpx.Client) -> None:
    """Report all deviations at once."""
    with log_in(site, "eve") as eve:
        theirs = csrf_of(eve.get("/account").text)
    wrong = []
    for address in WRITES:
        for token in (None, "", "AAAA", theirs):
            answer = sent(administrator, address, token)
            if is_refused(answer) is (str(address) in WITHOUT_COOKIE):
                wrong.append(f"{address} with {token!r}: {answer.status_code} {answer.text}")
    assert wrong == []
    assert administrator.get("/account").status_code == 200, "still logged in"


def test_nothing_changes_for_another_site_even_with_the_token(administrator: httpx.Client) -> None:
    ours = csrf_of(administrator.get("/account", headers=BROWSER).text)
    for address in WRITES:
        if str(address) not in WITHOUT_COOKIE:
            assert is_refused(sent(administrator, address, ours, Origin="https://evil.example")), address
            assert is_refused(sent(administrator, address, ours, **{"Sec-Fetch-Site": "cross-site"})), address


def test_a_neighbour_under_the_same_domain_is_another_site(administrator: httpx.Client) -> None:
    """Check `same-site`, which is what a browser sends for another server of the university."""
    ours = csrf_of(administrator.get("/account", headers=BROWSER).text)
    some = next(address for address in WRITES if not address.is_api)
    assert is_refused(sent(administrator, some, ours, **{"Sec-Fetch-Site": "same-site"})), some


@pytest.mark.parametrize("accept", ["text/html", "application/json"])
def test_every_answer_is_guarded(site: Site, accept: str) -> None:
    """Check every status: found, not found, not allowed, a mistake, an error."""
    with site.client(Accept=accept) as visitor:
        for address in ALL:
            check_guarded(visitor.request(address.method, address.path()))


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/static/evergold.css"),
        ("GET", "/static/none.css"),
        ("GET", "/nothing"),
        ("DELETE", "/"),
        ("GET", "/openapi.json"),
        ("OPTIONS", "/login"),
        ("HEAD", "/"),
    ],
)
def test_so_is_what_no_route_answers(site: Site, method: str, path: str) -> None:
    with site.client() as visitor:
        check_guarded(visitor.request(method, path))


def check_framed(headers: httpx.Headers, policy: Mapping[str, str]) -> None:
    """Check what other sites may show in a frame: nothing in it runs, can be sent or knows anybody."""
    assert policy["frame-ancestors"] == "*"
    assert "script-src" not in policy
    assert policy["form-action"] == policy["base-uri"] == "'none'"
    assert "X-Frame-Options" not in headers
    assert "Set-Cookie" not in headers
    assert headers["Cache-Control"].startswith("public")


def check_guarded(response: httpx.Response) -> None:
    headers, asked = response.headers, str(response.request.url)
    policy = {part.split(" ", 1)[0]: part.split(" ", 1)[1] for part in headers["Content-Security-Policy"].split("; ")}
    assert policy["default-src"] == "'none'", asked
    if response.request.url.path.startswith("/embed/") and response.status_code == 200:
        check_framed(headers, policy)
        return
    assert policy["script-src"] == policy["style-src"] == "'self'", "no inline script or style"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["form-action"] == "'self'"
    assert headers["X-Content-Type-Options"] == "nosniff", asked
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "camera=()" in headers["Permissions-Policy"]
    assert headers["X-Request-ID"], asked
    for cookie in headers.get_list("Set-Cookie"):
        assert "HttpOnly" in cookie or "Max-Age=0" in cookie
        assert "samesite=" in cookie.lower()


@pytest.mark.parametrize(
    "opens", [NOW + DAY, lanes.in_soak(NOW - HOUR), lanes.in_soak(NOW - 3 * DAY)], ids=["before", "open", "after"]
)
def test_a_competition_into_which_nobody_has_come_is_shown_at_any_time(
    quick_empty_site: Site, administrator_of_nothing: httpx.Client, opens: datetime
) -> None:
    """Check it as its organisers see it: every page before there is anything on it."""
    world.add_competition(quick_empty_site.engine, starts_at=opens, ends_at=opens + DAY)
    answers = {
        str(address): administrator_of_nothing.get(address.path(), headers=BROWSER).status_code
        for address in ALL
        if address.method == "GET"
    }
    assert {address for address, status in answers.items() if status >= 500} == {"GET /readyz"}, "no worker is there"
    assert sum(status == 200 for status in answers.values()) > 80


@pytest.fixture
def administrator_of_nothing(quick_empty_site: Site) -> Iterator[httpx.Client]:
    with log_in_administrator(quick_empty_site) as browser:
        yield browser
