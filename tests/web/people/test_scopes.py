"""Uses of a token: a table of scope by operation, made for every existing route."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import timedelta

import httpx
import pytest
from sqlalchemy import select, update

from app.base.db import reading, writing
from app.models import ApiToken, TokenScope
from app.people import auth
from tests.web.routes import Address, addresses, application
from tests.web.site import PASSWORD, SUBMIT, Person, Site, csrf_of, log_in, register
from tests.world import DAY, NOW, SECOND

READ, SUBMIT_SCOPE, ORGANISE = TokenScope.READ, TokenScope.SUBMIT, TokenScope.ORGANISE
#: What those who take part change. Everything else that changes something is for organisers.
PARTICIPATING = {
    "create_submission",
    "create_validation",
    "choose_submission",
    "withdraw_choice",
    "register_for_competition",
    "create_team",
    "leave_team",
    "rename_team",
    "transfer_team",
    "join_team",
    "remove_team_member",
    "invite_to_team",
    "revoke_invitation",
    "ask_to_merge",
    "accept_merge",
    "end_merge_offer",
} | {
    "ask_question",
    "choose_mail",
    "set_publication_consent",
    "report_text",
    "edit_card",
    "withdraw_submission",
    "put_submission_back",
}
OF_ORGANISERS = {"organising", "administration"}
#: What only organisers and administrators see, besides what is tagged so.
ORGANISERS_VIEW = {"read_audit_log"}
#: What only a token for everything reads: all that is stored about somebody.
ABOUT_ONESELF = {"read_archive", "download_archive", "read_deletion"}
#: Tagged so, and yet read by others, too: annotators.
READ_BY_OTHERS = {"get_judging_round"}
#: The token itself is looked at: see the tests below.
LOOK_THEMSELVES = {"create_token", "revoke_token"}
APP = application()
API = [address for address in addresses(APP) if address.operation]
DESCRIBED = {op["operationId"]: op for path in APP.openapi()["paths"].values() for op in path.values()}


def needed(address: Address) -> TokenScope | None:
    described = DESCRIBED[address.operation]
    if not described.get("security") or address.operation in LOOK_THEMSELVES:  # nobody asks who asks
        return None
    if address.operation in PARTICIPATING:
        return SUBMIT_SCOPE
    is_for_organisers = address.operation in ORGANISERS_VIEW | ABOUT_ONESELF or (
        not OF_ORGANISERS.isdisjoint(described["tags"]) and address.operation not in READ_BY_OTHERS
    )
    return READ if address.method == "GET" and not is_for_organisers else ORGANISE


def with_token(site: Site, person: Person, *scopes: TokenScope, days: int = 30) -> httpx.Client:
    with writing(site.engine) as session:
        _, secret = auth.create_token(session, person.user, "other", site.now, scopes=scopes, days=days)
    return site.client(Authorization=f"Bearer {secret}")


def lacks_scope(response: httpx.Response) -> bool:
    return response.status_code == 403 and response.json()["error"]["code"] == "scope_missing"


def test_each_scope_opens_what_is_meant_by_it_and_nothing_else(quick_site: Site) -> None:
    """Report all deviations at once; the addresses name nothing that exists, so that no request changes anything."""
    ada, wrong = quick_site.person("ada"), list[str]()
    with ExitStack() as clients:
        narrow = {scope: clients.enter_context(with_token(quick_site, ada, scope)) for scope in TokenScope}
        for address in API:
            asked = {scope: client.request(address.method, address.path()) for scope, client in narrow.items()}
            refused = {scope for scope, answer in asked.items() if lacks_scope(answer)}
            wanted = needed(address)
            if refused != (set() if wanted is None else set(TokenScope) - {wanted}):
                wrong.append(f"{address.operation}: {sorted(refused)} are refused")
            if lacks_scope(ada.client.request(address.method, address.path())):
                wrong.append(f"{address.operation}: a token with all scopes may do all")
    assert wrong == []


def test_the_refusal_says_what_is_missing(site: Site, ada: Person) -> None:
    with with_token(site, ada, READ) as client:
        error = client.post(SUBMIT, files={"file": ("x.csv", b"x")}).json()["error"]
    assert error["details"] == {"needed": ["submit"], "scopes": ["read"]}
    assert "`submit`" in error["message"]
    assert site.submissions() == 0


def test_a_token_without_read_still_submits(site: Site, ada: Person) -> None:
    with with_token(site, ada, SUBMIT_SCOPE) as client:
        accepted = client.post(SUBMIT, files={"file": ("predictions.csv", b"ID\n")})
        assert accepted.status_code == 202
        assert lacks_scope(client.get(accepted.headers["Location"]))


def test_pages_are_read_with_a_token_but_their_forms_are_not_for_tokens(site: Site, ada: Person) -> None:
    """Check it, since otherwise a token for reading could make one for everything on the account page."""
    assert ada.client.get("/account").status_code == 200
    with with_token(site, ada, SUBMIT_SCOPE) as client:
        assert lacks_scope(client.get("/account"))
    client = ada.client
    form_cookie = client.get("/login", headers={"Authorization": ""})
    assert form_cookie.status_code == 401
    with site.client() as anonymous:
        page = anonymous.get("/register")
    form = {"name": "more", "scopes": "organise", "csrf_token": csrf_of(page.text)}
    cookie = page.headers["Set-Cookie"].split(";")[0]
    refused = client.post("/account/tokens", data=form, headers={"Cookie": cookie})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "forbidden")
    with reading(site.engine) as session:
        assert session.scalars(select(ApiToken.name)).all() == ["test", "other"]


# ------------------------------------------------------------------------------------------- tokens that make tokens


def test_a_token_makes_tokens_that_may_do_no_more(site: Site, ada: Person) -> None:
    with with_token(site, ada, READ, SUBMIT_SCOPE) as client:
        same = client.post("/api/v1/tokens", json={"name": "same"}).json()
        less = client.post("/api/v1/tokens", json={"name": "less", "scopes": ["read"]}).json()
        more = client.post("/api/v1/tokens", json={"name": "more", "scopes": ["read", "organise"]})
    assert (same["scopes"], less["scopes"]) == (["read", "submit"], ["read"])
    assert (more.status_code, more.json()["error"]["code"]) == (403, "forbidden")


def test_nor_live_longer(site: Site, ada: Person) -> None:
    with with_token(site, ada, READ, days=10) as client:
        short = client.post("/api/v1/tokens", json={"name": "short", "expires_in_days": 3}).json()
        long = client.post("/api/v1/tokens", json={"name": "long", "expires_in_days": 300}).json()
    assert (short["expires_at"], long["expires_at"]) == ("2026-01-13T12:00:00Z", "2026-01-20T12:00:00Z")


def test_a_password_makes_any_token_whatever_token_comes_with_it(site: Site) -> None:
    register(site)
    body = {"name": "x", "username": "ada", "password": PASSWORD}
    with site.client() as client:
        weak = client.post("/api/v1/tokens", json={**body, "scopes": ["read"]}).json()
        strong = client.post("/api/v1/tokens", json=body, headers={"Authorization": f"Bearer {weak['secret']}"}).json()
    assert (weak["scopes"], strong["scopes"]) == (["read"], ["read", "submit", "create", "organise"])


def test_a_token_revokes_itself_and_what_is_no_stronger(site: Site, ada: Person) -> None:
    tokens = {token["name"]: token["id"] for token in ada.client.get("/api/v1/tokens").json()["tokens"]}
    with with_token(site, ada, READ) as weak:
        other = weak.post("/api/v1/tokens", json={"name": "equal"}).json()["id"]
        itself = weak.get("/api/v1/tokens").json()["tokens"][1]["id"]
        assert weak.delete(f"/api/v1/tokens/{tokens['test']}").status_code == 403
        assert weak.delete(f"/api/v1/tokens/{other}").status_code == 204
        assert weak.delete(f"/api/v1/tokens/{itself}").status_code == 204
        assert weak.get("/api/v1/me").status_code == 401


# -------------------------------------------------------------------------------------------------------------- expiry


def test_a_token_ends_by_itself_after_a_year_unless_said_otherwise(site: Site, ada: Person) -> None:
    [token] = ada.client.get("/api/v1/tokens").json()["tokens"]
    assert token["expires_at"] == "2027-01-10T12:00:00Z"
    site.set_clock(NOW + timedelta(days=365) - SECOND)
    assert ada.client.get("/api/v1/me").status_code == 200
    site.set_clock(NOW + timedelta(days=365))
    refused = ada.client.get("/api/v1/me")
    assert refused.status_code == 401
    assert "expired" in refused.json()["error"]["message"]


@pytest.mark.parametrize("days", [0, -1, 1831, "soon"])
def test_nobody_gets_a_token_for_ever(ada: Person, days: object) -> None:
    refused = ada.client.post("/api/v1/tokens", json={"name": "x", "expires_in_days": days})
    assert refused.status_code == 422
    assert "expires_in_days" in refused.json()["error"]["details"]["fields"]


def test_a_token_from_before_there_was_an_expiry_goes_on(site: Site, ada: Person) -> None:
    with writing(site.engine) as session:
        session.execute(update(ApiToken).values(expires_at=None))
    site.set_clock(NOW + 4000 * DAY)
    assert ada.client.get("/api/v1/tokens").json()["tokens"][0]["expires_at"] is None


def test_the_account_page_offers_scopes_and_an_end_and_shows_both(site: Site) -> None:
    with log_in(site) as browser:
        page = browser.get("/account").text
        assert 'value="read" checked' in page
        assert 'value="submit" checked' in page
        assert 'value="organise">' in page
        form = {"name": "ci", "scopes": ["submit"], "days": "30", "csrf_token": csrf_of(page)}
        shown = browser.post("/account/tokens", data=form).text
        assert ">submit</td>" in shown
        assert "9 Feb 2026" in shown
        site.set_clock(NOW + 30 * DAY)
        with log_in(site, "eve"), writing(site.engine) as session:
            session.execute(update(ApiToken).values(expires_at=NOW))
        site.set_clock(NOW)
        assert "expired" in browser.get("/account").text


def test_what_is_wrong_with_a_token_s_form_is_marked_and_what_was_typed_stays(site: Site) -> None:
    with log_in(site) as browser:
        form = {"name": "ci", "days": "9999", "csrf_token": csrf_of(browser.get("/account").text)}
        page = browser.post("/account/tokens", data=form)
    assert page.status_code == 422
    for sign in ('id="scopes-error"', 'id="days-error"', 'value="ci"', 'value="9999"'):
        assert sign in page.text
