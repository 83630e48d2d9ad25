"""Every error has one shape for programs and a friendly page for browsers; our own faults reveal only their id."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from sqlalchemy.exc import OperationalError

from app.web.competitions import api as competitions, pages
from tests.web.site import BROWSER, SUBMIT, Site, csrf_of, log_in


def check_shape(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    assert response.status_code == status
    assert response.headers["Content-Type"] == "application/json"
    document: dict[str, Any] = response.json()
    assert set(document) == {"error"}
    assert set(document["error"]) == {"code", "message", "details"}
    assert document["error"]["code"] == code
    assert document["error"]["message"].endswith(".")
    return document


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/api/v1/nothing", 404, "not_found"),
        ("GET", "/api/v1/competitions/none", 404, "not_found"),
        ("DELETE", "/api/v1/competitions", 405, "method_not_allowed"),
        ("PUT", SUBMIT, 405, "method_not_allowed"),
        ("GET", "/api/v1/me", 401, "not_authenticated"),
        ("GET", "/static/none.css", 404, "not_found"),
        ("GET", "/static/../main.py", 404, "not_found"),
        ("GET", "/static/%2e%2e/main.py", 404, "not_found"),
        ("GET", "/none", 404, "not_found"),
        ("POST", "/", 405, "method_not_allowed"),
    ],
)
def test_programs_always_get_the_same_shape(site: Site, method: str, path: str, status: int, code: str) -> None:
    with site.client() as client:
        check_shape(client.request(method, path), status, code)


def test_a_405_says_what_is_allowed(site: Site) -> None:
    with site.client() as client:
        assert client.delete("/api/v1/competitions").headers["Allow"] == "GET"


def test_json_that_is_none_is_refused(site: Site) -> None:
    with site.client() as client:
        json = {"Content-Type": "application/json"}
        cut = check_shape(client.post("/api/v1/register", content=b"{", headers=json), 422, "invalid_request")
        assert cut["error"]["details"]["fields"] == {"body": "Is not valid JSON."}
        check_shape(client.post("/api/v1/register", content=b"\xf6\x1c\xa5", headers=json), 422, "invalid_request")
        check_shape(client.post("/api/v1/register", content=b"x=1"), 422, "invalid_request")


@pytest.mark.parametrize("path", ["/nothing", "/competitions/none", "/submissions/17"])
def test_browsers_get_a_page(site: Site, path: str) -> None:
    with log_in(site) as browser:
        response = browser.get(path)
    assert response.status_code in (404, 422)
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "<h1>" in response.text
    assert "Log out" in response.text


def test_the_api_speaks_json_even_to_browsers(site: Site) -> None:
    with site.client(**BROWSER) as browser:
        check_shape(browser.get("/api/v1/nothing"), 404, "not_found")


# --------------------------------------------------------------------------------------------------------- our faults


def broken(error: Exception) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> Any:
        secret = "hunter2"  # noqa: F841 - a value that a careless traceback would show
        raise error

    return fail


def test_a_fault_of_ours_tells_nothing(
    site: Site, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(competitions, "listed_competitions", broken(RuntimeError("the password is hunter3")))
    with site.client() as client:
        response = client.get("/api/v1/competitions/none")  # another route still works
        assert response.status_code == 404
        response = httpx.get(f"{site.url}/api/v1/competitions", headers={"X-Request-ID": "trace-0123"}, timeout=60)
    document = check_shape(response, 500, "internal_error")
    assert "hunter" not in response.text
    assert "RuntimeError" not in response.text
    assert document["error"]["details"] == {"request_id": "trace-0123"}
    assert response.headers["X-Request-ID"] == "trace-0123"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    logged = capfd.readouterr().out
    assert "trace-0123" in logged
    assert "the password is hunter3" in logged  # organisers get to see the whole story …
    assert "hunter2" not in logged  # … but never the values of variables
    assert logged.count("internal_error") == 1


def test_a_fault_on_a_page_is_a_page(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "listed_competitions", broken(KeyError("hunter2")))
    response = httpx.get(site.url, headers=BROWSER, timeout=60)
    assert response.status_code == 500
    assert "on our side" in response.text
    assert "hunter2" not in response.text
    assert response.headers["X-Request-ID"] in response.text


@pytest.mark.parametrize("given", ["short", "x" * 100, "evil\tid-with-a-tab"])
def test_a_strange_request_id_is_replaced(site: Site, given: str) -> None:
    response = httpx.get(f"{site.url}/healthz", headers={"X-Request-ID": given}, timeout=60)
    assert response.headers["X-Request-ID"] != given
    assert len(response.headers["X-Request-ID"]) == 16


@pytest.mark.parametrize(
    ("said", "status", "code"),
    [
        ("database is locked", 503, "database_unavailable"),
        ("unable to open database file", 503, "database_unavailable"),
        ("database or disk is full", 507, "storage_full"),
    ],
)
def test_a_database_in_trouble_is_not_our_fault(
    site: Site, monkeypatch: pytest.MonkeyPatch, said: str, status: int, code: str
) -> None:
    trouble = OperationalError("SELECT secret", {}, sqlite3.OperationalError(said))
    monkeypatch.setattr(competitions, "listed_competitions", broken(trouble))
    response = httpx.get(f"{site.url}/api/v1/competitions", timeout=60)
    check_shape(response, status, code)
    assert "secret" not in response.text
    assert response.headers.get("Retry-After") == ("5" if status == 503 else None)


@pytest.mark.parametrize("path", ["/login", "/account/tokens"])
def test_forms_that_are_too_large_get_a_page(site: Site, path: str) -> None:
    with log_in(site) as browser:
        form = {"name": "x" * 200_000, "csrf_token": csrf_of(browser.get("/account").text)}
        response = browser.post(path, data=form)
    assert response.status_code == 413
    assert "too large" in response.text
