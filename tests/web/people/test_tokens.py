"""API tokens: shown once, stored as a hash, used, revoked."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import select

from app.base.db import reading
from app.models import ApiToken
from tests.web.site import PASSWORD, Person, Site, csrf_of, log_in, register
from tests.world import HOUR, NOW


def last_used(site: Site) -> list[object]:
    with reading(site.engine) as session:
        return list(session.scalars(select(ApiToken.last_used_at).order_by(ApiToken.id)))


def test_a_token_is_made_with_the_password_and_shown_once(site: Site) -> None:
    register(site)
    with site.client() as client:
        made = client.post("/api/v1/tokens", json={"name": "laptop", "username": "ada", "password": PASSWORD})
        assert made.status_code == 201
        assert made.headers["Cache-Control"] == "no-store"
        document = made.json()
        assert document["secret"].startswith("evg_")
        assert document["username"] == "ada"
        client.headers["Authorization"] = f"Bearer {document['secret']}"
        listed = client.get("/api/v1/tokens")
    assert [token["name"] for token in listed.json()["tokens"]] == ["laptop"]
    assert document["secret"] not in listed.text
    assert document["secret"].startswith(listed.json()["tokens"][0]["prefix"])
    assert document["secret"].encode() not in site.engine.url.database.encode()  # type: ignore[union-attr]
    with reading(site.engine) as session:
        assert document["secret"] not in str([vars(token) for token in session.scalars(select(ApiToken))])


def test_a_token_says_when_it_was_made_and_used_and_when_it_ends(site: Site, ada: Person) -> None:
    site.set_clock(NOW + HOUR)
    made = ada.client.post("/api/v1/tokens", json={"name": "second", "expires_in_days": 30}).json()
    listed = {token["name"]: token for token in ada.client.get("/api/v1/tokens").json()["tokens"]}
    moments = [[token[f"{what}_at"] for what in ("created", "expires", "last_used")] for token in listed.values()]
    assert moments == [
        ["2026-01-10T13:00:00Z", "2026-02-09T13:00:00Z", None],
        ["2026-01-10T12:00:00Z", listed["test"]["expires_at"], "2026-01-10T13:00:00Z"],
    ]
    assert made.items() >= listed["second"].items()


def test_who_has_a_token_and_sends_a_password_gets_a_token_of_whose_it_is(site: Site, ada: Person) -> None:
    register(site, "bob")
    for sent, owner in (({}, "ada"), ({"username": "bob", "password": PASSWORD}, "bob")):
        made = ada.client.post("/api/v1/tokens", json={"name": "x", **sent})
        assert (made.status_code, made.json()["username"]) == (201, owner)
    for half in ({"username": "bob"}, {"password": PASSWORD}):
        assert ada.client.post("/api/v1/tokens", json={"name": "x", **half}).status_code == 422
    with site.client() as anybody:
        assert anybody.post("/api/v1/tokens", json={"name": "x"}).status_code == 422


def test_a_token_can_make_another(ada: Person) -> None:
    assert ada.client.post("/api/v1/tokens", json={"name": "second"}).status_code == 201


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"name": "x"}, {"username", "password"}),
        ({"name": "x", "username": "ada"}, {"password"}),
        ({"name": "", "username": "ada", "password": PASSWORD}, {"name"}),
        ({"name": "x" * 101, "username": "ada", "password": PASSWORD}, {"name"}),
    ],
)
def test_what_is_missing_is_told(site: Site, body: dict[str, str], fields: set[str]) -> None:
    register(site)
    with site.client() as client:
        response = client.post("/api/v1/tokens", json=body)
    assert response.status_code == 422
    assert set(response.json()["error"]["details"]["fields"]) == fields


def test_a_revoked_token_is_worthless_at_once(ada: Person) -> None:
    [token] = ada.client.get("/api/v1/tokens").json()["tokens"]
    assert ada.client.delete(f"/api/v1/tokens/{token['id']}").status_code == 204
    assert ada.client.get("/api/v1/me").status_code == 401


def test_somebody_elses_token_does_not_exist(ada: Person, eve: Person) -> None:
    [token] = ada.client.get("/api/v1/tokens").json()["tokens"]
    assert eve.client.delete(f"/api/v1/tokens/{token['id']}").status_code == 404
    assert ada.client.get("/api/v1/me").status_code == 200


@pytest.mark.parametrize("header", ["Bearer evg_wrong", "Bearer", "Basic YWRhOmFkYQ==", "evg_x", "Bearer evg_\xff"])
def test_a_header_that_is_no_token_is_an_error_everywhere(site: Site, header: str) -> None:
    with site.client() as client:
        for path in ("/api/v1/me", "/api/v1/submissions"):
            response = client.get(path, headers={b"Authorization": header.encode("latin-1")})
            assert response.status_code == 401
            assert response.headers["WWW-Authenticate"] == "Bearer"


def test_the_last_use_is_kept_to_the_minute(site: Site, ada: Person) -> None:
    ada.client.get("/api/v1/me")
    first = last_used(site)
    site.set_clock(site.now + timedelta(seconds=59))
    ada.client.get("/api/v1/me")
    assert last_used(site) == first == [site.now - timedelta(seconds=59)]
    site.set_clock(site.now + timedelta(seconds=1))
    ada.client.get("/api/v1/me")
    assert last_used(site) == [site.now]


def test_writing_with_a_cookie_needs_the_header(site: Site) -> None:
    with log_in(site) as browser:
        token = csrf_of(browser.get("/account").text)
        assert browser.get("/api/v1/me").json()["username"] == "ada"  # reading does not
        assert browser.post("/api/v1/tokens", json={"name": "x"}).status_code == 403
        assert browser.delete("/api/v1/tokens/1", headers={"X-CSRF-Token": "wrong"}).status_code == 403
        made = browser.post("/api/v1/tokens", json={"name": "x"}, headers={"X-CSRF-Token": token})
        assert made.status_code == 201


def test_the_account_page_shows_a_new_token_once(site: Site) -> None:
    with log_in(site) as browser:
        form = {"name": "cluster", "scopes": "read", "csrf_token": csrf_of(browser.get("/account").text)}
        page = browser.post("/account/tokens", data=form)
        secret = page.text.split('id="secret">')[1].split("<")[0]
        assert page.headers["Cache-Control"] == "no-store"
        assert secret not in browser.get("/account").text
        assert "cluster" in browser.get("/account").text
        with site.client(Authorization=f"Bearer {secret}") as script:
            assert script.get("/api/v1/me").json()["username"] == "ada"
            token_id = script.get("/api/v1/tokens").json()["tokens"][0]["id"]
            browser.post(f"/account/tokens/{token_id}/revoke", data={"csrf_token": form["csrf_token"]})
            assert script.get("/api/v1/me").status_code == 401
        assert "You have none yet" in browser.get("/account").text


def test_a_token_without_a_name_is_refused_on_the_page(site: Site) -> None:
    with log_in(site) as browser:
        page = browser.post("/account/tokens", data={"csrf_token": csrf_of(browser.get("/account").text)})
        assert page.status_code == 422
        assert 'id="name-error"' in page.text
