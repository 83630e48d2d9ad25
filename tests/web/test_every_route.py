"""What holds for every route there is, also for those of tomorrow: guarded answers, and no forged request."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from nacl.public import PrivateKey
from sqlalchemy import update

from app.base.config import Settings
from app.base.db import writing
from app.gold.sealing import key_id_of
from app.models import User, WorkerKey
from app.web.http import csrf
from app.web.main import create_app
from tests.web.routes import Address, addresses
from tests.web.site import BROWSER, Site, csrf_of, log_in
from tests.world import NOW

pytestmark = pytest.mark.usefixtures("cheap_passwords")

ALL = addresses(create_app(Settings()))
WRITES = [address for address in ALL if address.method not in ("GET", "HEAD", "OPTIONS")]
#: Asks no cookie, so there is nothing to forge; and forms cannot send JSON.
WITHOUT_COOKIE = {"POST /api/v1/register"}


@pytest.fixture
def administrator(site: Site) -> Iterator[httpx.Client]:
    """A browser in which somebody is logged in who may do everything: nothing is refused for another reason."""
    with log_in(site, "grace") as browser:
        with writing(site.engine) as session:
            session.execute(update(User).where(User.username == "grace").values(is_administrator=True))
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


@pytest.mark.parametrize("address", WRITES, ids=str)
def test_nothing_changes_without_the_token_of_the_log_in(
    site: Site, administrator: httpx.Client, address: Address
) -> None:
    if str(address) in WITHOUT_COOKIE:
        assert not is_refused(sent(administrator, address, None))
        return
    with log_in(site, "eve") as eve:
        theirs = csrf_of(eve.get("/account").text)
    for token in (None, "", "AAAA", theirs):
        refused = sent(administrator, address, token)
        assert is_refused(refused), (token, refused.status_code, refused.text)
    assert administrator.get("/account").status_code == 200, "still logged in"


@pytest.mark.parametrize("address", WRITES, ids=str)
def test_nothing_changes_for_another_site_even_with_the_token(administrator: httpx.Client, address: Address) -> None:
    if str(address) in WITHOUT_COOKIE:
        return
    ours = csrf_of(administrator.get("/account", headers=BROWSER).text)
    assert is_refused(sent(administrator, address, ours, Origin="https://evil.example"))
    assert is_refused(sent(administrator, address, ours, **{"Sec-Fetch-Site": "cross-site"}))


@pytest.mark.parametrize("address", ALL, ids=str)
def test_every_answer_is_guarded(site: Site, address: Address) -> None:
    """Whatever the status: found, not found, not allowed, a mistake, an error."""
    for accept in ("text/html", "application/json"):
        with site.client(Accept=accept) as visitor:
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


def check_guarded(response: httpx.Response) -> None:
    headers = response.headers
    policy = {part.split(" ", 1)[0]: part.split(" ", 1)[1] for part in headers["Content-Security-Policy"].split("; ")}
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == "'self'", "no inline script or style"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["form-action"] == "'self'"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "camera=()" in headers["Permissions-Policy"]
    assert headers["X-Request-ID"]
    for cookie in headers.get_list("Set-Cookie"):
        assert "HttpOnly" in cookie or "Max-Age=0" in cookie
        assert "samesite=" in cookie.lower()
