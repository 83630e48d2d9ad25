"""Organisers with one right: who takes part in organising is a matter of those who may edit the competition."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from app.base.api_links import API
from app.base.config import get_settings
from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.models import Right, Role, User
from app.people.act import Act
from app.people.invitations import invite, open_invitations
from app.people.rights import grant_role, has_role
from tests import world
from tests.beside import one_right_each
from tests.web.reading import text_of
from tests.web.site import Site, csrf_of
from tests.world import COMPETITION, NOW

PEOPLE = f"/competitions/{COMPETITION}/people"
ROLES = f"{API}/competitions/{COMPETITION}/roles"
OTHERS = [right for right in Right if right is not Right.EDIT]


@pytest.fixture
def organisers(site: Site) -> dict[Right, User]:
    """Return organisers with one right each; grace is invited to test it, eve tests it."""
    found = one_right_each(site.engine)
    world.add_user(site.engine, "grace")
    eve = world.add_user(site.engine, "eve")
    with writing(site.engine) as session:
        here = find_competition(session, COMPETITION)
        grant_role(session, here, eve, Role.TESTER, NOW)
        invite(Act(session, found[Right.EDIT], NOW, get_settings()), here, "grace", Role.TESTER)
    return found


def asked(site: Site) -> list[str | None]:
    """The addresses that are invited, None for the link."""
    with reading(site.engine) as session:
        found = open_invitations(session, find_competition(session, COMPETITION), NOW)
        return sorted((one.address or None for one in found), key=lambda address: address or "")


def number(site: Site) -> int:
    """The id of the invitation to grace."""
    with reading(site.engine) as session:
        found = open_invitations(session, find_competition(session, COMPETITION), NOW)
        return next(one.id for one in found if one.address == "grace@example.org")


def is_tester(site: Site, username: str) -> bool:
    with reading(site.engine) as session:
        user = session.query(User).filter_by(username=username).one()
        return has_role(session, user, find_competition(session, COMPETITION), Role.TESTER)


def sent(site: Site, user: User) -> Iterator[httpx.Response]:
    """Yield the response to each form of the page, in turn."""
    browser = site.browser(user)
    token = {"csrf_token": csrf_of(browser.get("/account").text)}
    yield browser.post(f"{PEOPLE}/invitations/{number(site)}/take-back", data=token)
    yield browser.post(f"{PEOPLE}/invite", data={**token, "whom": "new@example.org", "role": "guest"})
    yield browser.post(f"{PEOPLE}/link", data=token)
    yield browser.post(f"{PEOPLE}/link/end", data=token)
    yield browser.post(f"{PEOPLE}/revoke", data={**token, "whom": "eve", "role": "tester"})


def asked_by_program(site: Site, user: User) -> Iterator[httpx.Response]:
    client = site.with_token(user)
    yield client.get(f"{ROLES}/invitations")
    yield client.delete(f"{ROLES}/invitations/{number(site)}")
    yield client.post(f"{ROLES}/invitations", json={"whom": "new@example.org", "role": "guest"})
    yield client.put(f"{ROLES}/tester/grace")
    yield client.delete(f"{ROLES}/tester/eve")


def test_with_the_right_to_edit_alone_one_manages_people_on_the_page(site: Site, organisers: dict[Right, User]) -> None:
    editor = organisers[Right.EDIT]
    assert "grace@example.org" in text_of(site.browser(editor).get(PEOPLE).text)
    answers = list(sent(site, editor))
    assert [(answer.status_code, answer.url.path) for answer in answers] == [
        *[(200, PEOPLE)] * 2,
        (200, f"{PEOPLE}/link"),
        *[(200, PEOPLE)] * 2,
    ]
    assert asked(site) == ["new@example.org"], "one was taken back, one invited, and the link has ended"
    assert not is_tester(site, "eve")


def test_with_the_right_to_edit_alone_a_program_manages_people(site: Site, organisers: dict[Right, User]) -> None:
    answers = list(asked_by_program(site, organisers[Right.EDIT]))
    assert [answer.status_code for answer in answers] == [200, 204, 201, 200, 204]
    assert [one["address"] for one in answers[0].json()["invitations"]] == ["grace@example.org"]
    assert (answers[3].json()["username"], answers[3].json()["role"]) == ("grace", "tester")
    assert asked(site) == ["new@example.org"]
    assert (is_tester(site, "grace"), is_tester(site, "eve")) == (True, False)


@pytest.mark.parametrize("right", OTHERS)
def test_without_that_right_one_sees_who_organises_and_changes_nothing(
    site: Site, organisers: dict[Right, User], right: Right
) -> None:
    user = organisers[right]
    page = site.browser(user).get(PEOPLE)
    assert "has-edit" in text_of(page.text)
    assert "grace@example.org" not in text_of(page.text)
    assert [answer.status_code for answer in sent(site, user)] == [403] * 5
    assert [answer.status_code for answer in asked_by_program(site, user)] == [403] * 5
    assert asked(site) == ["grace@example.org"]
    assert is_tester(site, "eve")
    assert site.with_token(user).get(ROLES).status_code == 200
