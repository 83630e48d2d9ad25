"""Organisers with one right: who takes part is decided by those who may edit the competition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from app.base.api_links import API
from app.base.db import writing
from app.competitions.find import find_competition
from app.models import Right, User
from tests.beside import one_right_each
from tests.web.one_right import only, organisers_of
from tests.web.site import Person, Site, csrf_of
from tests.world import COMPETITION

PAGE = f"/competitions/{COMPETITION}/registration"
LIST = f"/competitions/{COMPETITION}/registrations"
API_LIST = f"{API}{LIST}"
OTHERS = [right for right in Right if right is not Right.EDIT]


@pytest.fixture
def organisers(site: Site, ada: Person, eve: Person) -> dict[Right, User]:
    """Return organisers with one right each; ada and eve wait to be approved."""
    with writing(site.engine) as session:
        find_competition(session, COMPETITION).registration = {"mode": "approval"}
    for person in (ada, eve):
        assert person.client.put(f"{API}{PAGE}", json={}).status_code == 200
    return one_right_each(site.engine)


def states(person: Person) -> Any:
    return person.client.get(f"{API}{PAGE}").json()["status"]


def decided_by_program(client: httpx.Client) -> Iterator[httpx.Response]:
    yield client.get(API_LIST)
    yield client.put(API_LIST, json={"usernames": ["ada"], "status": "approved"})
    yield client.put(f"{API_LIST}/eve", json={"status": "refused"})


def decided_on_the_page(browser: httpx.Client) -> Iterator[httpx.Response]:
    token = {"csrf_token": csrf_of(browser.get("/account").text)}
    yield browser.get(LIST)
    yield browser.post(LIST, data={**token, "decision": "approve", "user": ["ada"]})
    yield browser.post(f"{LIST}/eve", data={**token, "decision": "refuse"})


def test_with_the_right_to_edit_alone_one_decides_on_the_page(
    site: Site, organisers: dict[Right, User], ada: Person, eve: Person
) -> None:
    browser = site.browser(organisers[Right.EDIT])
    assert f'href="{LIST}"' in browser.get(PAGE).text
    answers = list(decided_on_the_page(browser))
    assert [answer.status_code for answer in answers] == [200] * 3
    assert "Approve all 2" in answers[0].text
    assert [answers[0].text.count(f"{name}@example.org") for name in ("ada", "eve")] == [1, 1], "among those who wait"
    assert (states(ada), states(eve)) == ("approved", "refused")
    after = browser.get(LIST).text
    assert "Approve all" not in after, "nobody waits any more"
    assert [after.count(f"{name}@example.org") for name in ("ada", "eve")] == [1, 1]


def test_with_the_right_to_edit_alone_a_program_decides(
    site: Site, organisers: dict[Right, User], ada: Person, eve: Person
) -> None:
    answers = list(decided_by_program(site.with_token(organisers[Right.EDIT])))
    assert [answer.status_code for answer in answers] == [200] * 3
    waiting = [one for one in answers[0].json()["registrations"] if one["status"] == "pending"]
    assert [(one["username"], one["display_name"], one["email"]) for one in waiting] == [
        ("ada", "Ada", "ada@example.org"),
        ("eve", "Eve", "eve@example.org"),
    ]
    assert [one["username"] for one in answers[1].json()["registrations"]] == ["ada"]
    assert (answers[2].json()["username"], answers[2].json()["status"]) == ("eve", "refused")
    assert (states(ada), states(eve)) == ("approved", "refused")


@pytest.mark.parametrize("right", OTHERS)
def test_without_that_right_nobody_sees_or_decides_who_waits(
    site: Site, organisers: dict[Right, User], ada: Person, eve: Person, right: Right
) -> None:
    browser = site.browser(organisers[right])
    assert f'href="{LIST}"' not in browser.get(PAGE).text
    answers = [*decided_on_the_page(browser), *decided_by_program(site.with_token(organisers[right]))]
    assert [answer.status_code for answer in answers] == [403] * 6
    assert (states(ada), states(eve)) == ("pending", "pending")


def test_codes_to_join_by_are_made_and_ended_with_the_right_to_edit_alone(site: Site) -> None:
    code = "/competitions/{competition}/joining-code"
    routes = (f"POST {code}", f"POST {code}/end", f"POST {API}{code}", f"DELETE {API}{code}")
    assert organisers_of(site).let_in(routes) == only(Right.EDIT, routes)
