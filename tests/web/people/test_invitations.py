"""Co-organisers, testers and guests by invitation, guests by a secret link, and a competition that is handed over."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from sqlalchemy import select

from app.base.db import reading, writing
from app.base.links import API
from app.competitions.find import find_competition
from app.models import OutgoingMail, Role, RoleInvitation, Stage, User
from app.people.roles import grant_role, has_role
from tests.web.reading import text_of
from tests.web.site import Site, csrf_of, log_in
from tests.world import COMPETITION, NOW

HERE = f"/competitions/{COMPETITION}"
PEOPLE = f"{HERE}/people"


def send(browser: httpx.Client, path: str, **fields: str) -> httpx.Response:
    return browser.post(path, data={"csrf_token": csrf_of(browser.get("/account").text), **fields})


def confirm(site: Site, username: str) -> User:
    with writing(site.engine) as session:
        user = session.scalars(select(User).where(User.username == username)).one()
        user.email_confirmed_at = NOW
    return user


def has(site: Site, username: str, role: Role) -> bool:
    with reading(site.engine) as session:
        user = session.scalars(select(User).where(User.username == username)).one()
        return has_role(session, user, find_competition(session, COMPETITION), role)


@pytest.fixture
def olga(site: Site, cheap_passwords: None) -> Iterator[httpx.Client]:
    """She owns it, and nobody else sees it yet."""
    with log_in(site, "olga") as browser:
        user = confirm(site, "olga")
        with writing(site.engine) as session:
            found = find_competition(session, COMPETITION)
            found.owner_id, found.stage = user.id, Stage.DRAFT
            grant_role(session, found, user, Role.ORGANISER, NOW)
        yield browser


def test_who_is_invited_by_mail_accepts_and_organises(site: Site, olga: httpx.Client) -> None:
    with log_in(site, "grace") as grace:
        confirm(site, "grace")
        assert grace.get(HERE).status_code == 404
        send(olga, f"{PEOPLE}/invite", whom="grace@example.org", role="organiser")
        with reading(site.engine) as session:
            mail = session.scalars(select(OutgoingMail).where(OutgoingMail.recipient == "grace@example.org")).one()
            assert "you may organise it" in mail.body
            assert "/invitations" in mail.body
        assert "invites you to" in grace.get("/invitations").text
        assert send(grace, "/invitations/1/accept").url.path == HERE
        assert has(site, "grace", Role.ORGANISER)
        assert send(grace, "/invitations/1/accept").status_code == 404, "once"


def test_an_invitation_is_for_the_confirmed_address_alone(site: Site, olga: httpx.Client) -> None:
    """Who typed the address at registration need not be its owner."""
    send(olga, f"{PEOPLE}/invite", whom="grace@example.org", role="tester")
    with reading(site.engine) as session:
        assert session.scalars(select(OutgoingMail).where(OutgoingMail.recipient == "grace@example.org")).all() == []
    with log_in(site, "grace") as grace, log_in(site, "eve") as eve:
        confirm(site, "eve")
        with writing(site.engine) as session:
            session.scalars(select(User).where(User.username == "grace")).one().email_confirmed_at = None
        for browser in (grace, eve):
            assert "Until" not in browser.get("/invitations").text
            assert send(browser, "/invitations/1/accept").status_code == 404
        confirm(site, "grace")
        assert send(grace, "/invitations/1/decline").status_code == 200
        assert not has(site, "grace", Role.TESTER)


def test_what_is_taken_back_or_too_old_is_accepted_by_nobody(site: Site, olga: httpx.Client) -> None:
    with log_in(site, "grace") as grace:
        confirm(site, "grace")
        send(olga, f"{PEOPLE}/invite", whom="grace", role="tester")
        send(olga, f"{PEOPLE}/invitations/1/take-back")
        assert send(grace, "/invitations/1/accept").status_code == 404
        send(olga, f"{PEOPLE}/invite", whom="grace", role="tester")
        send(olga, f"{PEOPLE}/invite", whom="grace", role="tester")
        assert send(grace, "/invitations/2/accept").status_code == 404, "asked again: the earlier one ended"
        with writing(site.engine) as session:
            session.get_one(RoleInvitation, 3).expires_at = NOW
        assert send(grace, "/invitations/3/accept").status_code == 404, "its last moment is over"


def test_a_secret_link_makes_guests_until_it_ends(site: Site, olga: httpx.Client) -> None:
    with writing(site.engine) as session:
        find_competition(session, COMPETITION).stage = Stage.PRIVATE
    link = send(olga, f"{PEOPLE}/link").text.split("<code>")[1].split("</code>")[0].partition("/join")[2]
    assert link not in olga.get(PEOPLE).text, "shown once"
    with log_in(site, "grace") as grace, log_in(site, "eve") as eve:
        assert grace.get(HERE).status_code == 404
        assert "Go in" in grace.get(f"/join{link}").text
        secret = link.partition("link=")[2]
        assert send(grace, "/join", link=secret).url.path == HERE
        assert has(site, "grace", Role.GUEST)
        send(olga, f"{PEOPLE}/link/end")
        assert eve.get(f"/join{link}").status_code == 404
        assert send(eve, "/join", link=secret).status_code == 404
        assert send(eve, "/join", link="").status_code == 404
        assert grace.get(HERE).status_code == 200, "who has come stays"


def test_it_is_handed_over_to_an_organiser_with_room_for_it(site: Site, olga: httpx.Client) -> None:
    with log_in(site, "grace") as grace:
        user = confirm(site, "grace")
        not_yet = send(olga, f"{PEOPLE}/owner", owner="grace")
        assert "is no organiser of it yet" in text_of(not_yet.text)
        with writing(site.engine) as session:
            grant_role(session, find_competition(session, COMPETITION), user, Role.ORGANISER, NOW)
        assert send(grace, f"{PEOPLE}/owner", owner="grace").status_code == 403, "not theirs to give"
        site.settings.competitions_per_organiser = 0
        assert send(olga, f"{PEOPLE}/owner", owner="grace").status_code == 409
        site.settings.competitions_per_organiser = 1
        assert "Owned by grace" in text_of(send(olga, f"{PEOPLE}/owner", owner="grace").text)
        kept = send(olga, f"{PEOPLE}/revoke", whom="grace", role="organiser")
        assert "hand it over first" in text_of(kept.text)
        send(grace, f"{PEOPLE}/revoke", whom="olga", role="organiser")
        assert not has(site, "olga", Role.ORGANISER)
        assert olga.get(HERE).status_code == 404


def test_programs_invite_and_hand_over_too(site: Site) -> None:
    root, grace = site.person("root", is_administrator=True), site.person("grace")
    place = f"{API}/competitions/{COMPETITION}/roles"
    made = root.client.post(f"{place}/invitations", json={"whom": "grace", "role": "organiser"})
    assert (made.status_code, made.json()["address"]) == (201, "grace@example.org")
    assert root.client.post(f"{place}/invitations", json={"whom": "nobody", "role": "guest"}).status_code == 404
    assert root.client.put(f"{place}/owner", json={"owner": "grace"}).status_code == 422
    root.client.put(f"{place}/organiser/grace")
    assert root.client.put(f"{place}/owner", json={"owner": "grace"}).json() == {"owner": "grace"}
    taken = root.client.delete(f"{place}/organiser/grace")
    assert (taken.status_code, taken.json()["error"]["code"]) == (409, "owners_role")
    assert grace.client.get(f"{place}").status_code == 200
