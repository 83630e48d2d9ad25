"""Co-organisers, testers and guests by invitation, guests by a secret link, and a competition that is handed over."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from sqlalchemy import select

from app.base.api_links import API
from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.models import OutgoingMail, Right, Role, RoleInvitation, Stage, User
from app.people import email_confirmations, invitations
from app.people.rights import grant_role, has_role
from tests import world
from tests.web.reading import text_of
from tests.web.site import Site, csrf_of, log_in
from tests.world import COMPETITION, NOW

HERE = f"/competitions/{COMPETITION}"
PEOPLE = f"{HERE}/people"


def send(browser: httpx.Client, path: str, **fields: str | list[str]) -> httpx.Response:
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
        send(olga, f"{PEOPLE}/invite", whom="grace@example.org", role="organiser", rights=["edit", "gold"])
        with reading(site.engine) as session:
            mail = session.scalars(select(OutgoingMail).where(OutgoingMail.recipient == "grace@example.org")).one()
            assert "you may organise it, with the rights edit, gold." in " ".join(mail.body.split())
            assert "/invitations" in mail.body
        assert "invites you to" in grace.get("/invitations").text
        assert 'Invitations <span class="count">1</span>' in grace.get("/").text, "in the menu"
        assert send(grace, "/invitations/1/accept").url.path == HERE
        assert has(site, "grace", Role.ORGANISER)
        assert "/invitations" not in grace.get("/").text
        assert grace.get(f"{HERE}/life").status_code == 200
        assert grace.get(f"{HERE}/submissions").status_code == 403
        assert send(grace, "/invitations/1/accept").status_code == 404, "once"


def test_an_invitation_is_for_the_confirmed_address_alone(site: Site, olga: httpx.Client) -> None:
    """Check that somebody who typed the address at registration may not be its owner."""
    send(olga, f"{PEOPLE}/invite", whom="grace@example.org", role="tester")
    with log_in(site, "grace") as grace, log_in(site, "eve") as eve:
        confirm(site, "eve")
        with writing(site.engine) as session:
            session.scalars(select(User).where(User.username == "grace")).one().email_confirmed_at = None
        for browser in (grace, eve):
            assert "Until" not in browser.get("/invitations").text
        assert "Confirm your address first" in text_of(grace.get("/invitations").text)
        for browser in (grace, eve):
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
        assert "Accept the invitation" in grace.get(f"/join{link}").text
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
        assert "is not an organiser of this competition yet" in text_of(not_yet.text)
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


def letter_to(site: Site, address: str) -> OutgoingMail:
    with reading(site.engine) as session:
        return session.scalars(select(OutgoingMail).where(OutgoingMail.recipient == address)).one()


def test_an_address_without_an_account_is_led_through_registration_to_its_invitation(
    site: Site, olga: httpx.Client
) -> None:
    send(olga, f"{PEOPLE}/invite", whom="new@example.org", role="tester")
    letter = letter_to(site, "new@example.org")
    assert (letter.subject, "invites you to" in letter.body) == ("Invitation: Idioms", True)
    path = letter.body.split("http://127.0.0.1:8321")[1].split()[0]
    with site.client() as newcomer:
        newcomer.follow_redirects = True
        form = newcomer.get(path)
        fields = {
            "username": "newton",
            "email": "new@example.org",
            "password": "a long pass phrase",
            "next": "/invitations",
        }
        arrived = newcomer.post("/register", data={"csrf_token": csrf_of(form.text), **fields})
        assert arrived.url.path == "/invitations"
        assert "Confirm your address first" in text_of(arrived.text)
        secret = make_link(site, "newton").partition("link=")[2]
        confirmed = send(newcomer, "/account/confirm-email", link=secret)
        assert "See 1 invitation" in text_of(confirmed.text)
        assert send(newcomer, "/invitations/1/accept").url.path == HERE


def make_link(site: Site, username: str) -> str:
    with writing(site.engine) as session:
        user = session.scalars(select(User).where(User.username == username)).one()
        return email_confirmations.make_link(session, user, site.settings, NOW)


def test_strangers_get_no_word_of_somebody_whom_nobody_approved(site: Site, olga: httpx.Client) -> None:
    """Check that, where anybody may organise, an invitation is no way to write to the whole world."""
    site.settings.organise = "anybody"
    with writing(site.engine) as session:
        find_competition(session, COMPETITION).title = "Cheap watches"
        session.scalars(select(User).where(User.username == "olga")).one().display_name = "watches.example"
    send(olga, f"{PEOPLE}/invite", whom="new@example.org", role="tester")
    letter = letter_to(site, "new@example.org")
    assert "watches" not in f"{letter.subject}{letter.body}".lower()
    assert "/register?next=%2Finvitations" in letter.body


def test_nobody_writes_to_strangers_without_end(
    site: Site, olga: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(invitations, "STRANGERS_A_DAY", 2)
    with log_in(site, "grace"):
        confirm(site, "grace")
    answers = [send(olga, f"{PEOPLE}/invite", whom=f"new{n}@example.org", role="guest") for n in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert "invitations within a day" in text_of(answers[-1].text)
    assert send(olga, f"{PEOPLE}/invite", whom="grace", role="guest").status_code == 200, "who has an account"


def test_an_inviter_gives_no_more_than_they_have(site: Site, olga: httpx.Client) -> None:
    with log_in(site, "grace") as grace, log_in(site, "eve"):
        user = confirm(site, "grace")
        confirm(site, "eve")
        with writing(site.engine) as session:
            grant_role(session, find_competition(session, COMPETITION), user, Role.ORGANISER, NOW, rights=[Right.EDIT])
        assert 'value="gold"' not in grace.get(PEOPLE).text
        beyond = send(grace, f"{PEOPLE}/invite", whom="eve", role="organiser", rights=["edit", "gold"])
        assert "You can only give rights that you have; you lack: gold." in text_of(beyond.text)
        none = send(grace, f"{PEOPLE}/invite", whom="eve", role="organiser")
        assert "Choose at least one." in text_of(none.text)
        assert send(grace, f"{PEOPLE}/invite", whom="eve", role="organiser", rights=["edit"]).status_code == 200
        assert send(grace, f"{PEOPLE}/rights", whom="grace", rights=["gold"]).status_code == 403, "the owner does"
        assert "grace is an organiser already" in text_of(
            send(olga, f"{PEOPLE}/invite", whom="grace", role="organiser", rights=["edit"]).text
        )
        send(olga, f"{PEOPLE}/rights", whom="grace", rights=["gold", "messages"])
        assert grace.get(f"{HERE}/life").status_code == 403
        assert "Changes" not in grace.get(PEOPLE).text
        assert "eve@example.org" not in text_of(olga.get(PEOPLE).text), "what they can give no more ended"


def test_programs_invite_and_hand_over_too(site: Site) -> None:
    root, grace = site.person("root", is_administrator=True), site.person("grace")
    place = f"{API}/competitions/{COMPETITION}/roles"
    made = root.client.post(f"{place}/invitations", json={"whom": "grace", "role": "organiser"})
    assert (made.status_code, made.json()["address"]) == (201, "grace@example.org")
    assert made.json()["rights"] == ["edit", "submissions", "gold", "messages"], "all that root has"
    assert root.client.get(f"{place}/invitations").json()["invitations"] == [made.json()]
    assert root.client.delete(f"{place}/invitations/{made.json()['id']}").status_code == 204
    assert root.client.get(f"{place}/invitations").json()["invitations"] == []
    assert root.client.post(f"{place}/invitations", json={"whom": "nobody", "role": "guest"}).status_code == 422
    assert root.client.put(f"{place}/owner", json={"owner": "grace"}).status_code == 422
    granted = root.client.put(f"{place}/organiser/grace", params={"right": ["gold"]})
    assert granted.json()["rights"] == ["gold"]
    confirm(site, "grace")
    refused = grace.client.get(f"{API}/competitions/{COMPETITION}/life").json()["error"]
    assert (refused["code"], refused["details"]["needed"]) == ("right_missing", ["edit"])
    changed = root.client.put(f"{place}/organiser/grace/rights", json={"rights": ["messages", "edit"]})
    assert changed.json()["rights"] == ["edit", "messages"]
    assert grace.client.get(f"{API}/competitions/{COMPETITION}/life").status_code == 200
    assert root.client.put(f"{place}/owner", json={"owner": "grace"}).json() == {"owner": "grace"}
    assert len(grace.client.get(place).json()["roles"][0]["rights"]) == 4, "who owns it may all"
    kept = root.client.put(f"{place}/organiser/grace/rights", json={"rights": ["edit"]})
    assert (kept.status_code, kept.json()["error"]["code"]) == (409, "owners_role")
    taken = root.client.delete(f"{place}/organiser/grace")
    assert (taken.status_code, taken.json()["error"]["code"]) == (409, "owners_role")
    assert grace.client.get(f"{place}").status_code == 200


def test_who_organises_with_another_leaves_and_the_last_one_does_not(site: Site, olga: httpx.Client) -> None:
    with log_in(site, "grace") as grace:
        user = confirm(site, "grace")
        with writing(site.engine) as session:
            found = find_competition(session, COMPETITION)
            grant_role(session, found, user, Role.ORGANISER, NOW, rights=[Right.MESSAGES])
        assert "Leave" not in text_of(olga.get(PEOPLE).text), "who owns it hands it over first"
        assert send(grace, f"{PEOPLE}/revoke", whom="olga", role="organiser").status_code == 403
        assert "Leave" in text_of(grace.get(PEOPLE).text)
        assert send(grace, f"{PEOPLE}/revoke", whom="grace", role="organiser").url.path == "/"
        assert not has(site, "grace", Role.ORGANISER)
        assert grace.get(PEOPLE).status_code == 404, "a draft is nothing to her any more"
        with writing(site.engine) as session:  # as a server's own, applied on its command line
            find_competition(session, COMPETITION).owner_id = None
        last = send(olga, f"{PEOPLE}/revoke", whom="olga", role="organiser")
        assert (last.status_code, "You are the last organiser of this competition" in text_of(last.text)) == (409, True)
        assert has(site, "olga", Role.ORGANISER)


def test_an_administrator_who_gives_a_role_up_still_sees_who_organises(site: Site, olga: httpx.Client) -> None:
    root = world.add_user(site.engine, "root", is_administrator=True)
    with writing(site.engine) as session:
        grant_role(session, find_competition(session, COMPETITION), root, Role.ORGANISER, NOW)
    browser = site.browser(root)
    assert send(browser, f"{PEOPLE}/revoke", whom="root", role="organiser").url.path == PEOPLE
    assert not has(site, "root", Role.ORGANISER)


def test_rights_are_those_of_an_organiser_and_an_owner_who_tests_has_none_as_a_tester(
    site: Site, olga: httpx.Client
) -> None:
    gil = world.add_user(site.engine, "gil")
    with writing(site.engine) as session:
        here = find_competition(session, COMPETITION)
        grant_role(session, here, session.get_one(User, here.owner_id), Role.TESTER, NOW)
        grant_role(session, here, gil, Role.ORGANISER, NOW, rights=[Right.GOLD])
    told = {(one["username"], one["role"]): one["rights"] for one in olga.get(f"{API}{HERE}/roles").json()["roles"]}
    assert told == {
        ("gil", "organiser"): ["gold"],
        ("olga", "organiser"): ["edit", "submissions", "gold", "messages"],
        ("olga", "tester"): [],
    }


def test_leaving_by_the_api_asks_for_no_right(site: Site, olga: httpx.Client) -> None:
    with log_in(site, "grace") as grace:
        user = confirm(site, "grace")
        with writing(site.engine) as session:
            found = find_competition(session, COMPETITION)
            grant_role(session, found, user, Role.ORGANISER, NOW, rights=[Right.GOLD])
            grant_role(session, found, user, Role.TESTER, NOW)
        token = {"X-CSRF-Token": csrf_of(grace.get("/account").text)}
        roles = f"{API}{HERE}/roles"
        assert grace.delete(f"{roles}/tester/grace", headers=token).status_code == 403
        assert grace.delete(f"{roles}/organiser/grace", headers=token).status_code == 204
        assert (has(site, "grace", Role.ORGANISER), has(site, "grace", Role.TESTER)) == (False, True)


def test_an_invitation_is_answered_over_the_api(site: Site, olga: httpx.Client) -> None:
    for role in ("organiser", "tester"):
        send(olga, f"{PEOPLE}/invite", whom="grace@example.org", role=role, rights=["gold"])
    with log_in(site, "grace") as grace, log_in(site, "eve") as eve:
        for browser, name in ((grace, "grace"), (eve, "eve")):
            confirm(site, name)
            browser.headers["X-CSRF-Token"] = csrf_of(browser.get("/account").text)
        mine = f"{API}/me/invitations"
        listed = grace.get(mine).json()["invitations"]
        told = ("id", "competition", "title", "role", "rights")
        assert [tuple(one[name] for name in told) for one in listed] == [
            (2, COMPETITION, "Idioms", "tester", []),
            (1, COMPETITION, "Idioms", "organiser", ["gold"]),
        ]
        assert eve.get(mine).json() == {"invitations": []}
        assert eve.post(f"{mine}/1/accept").status_code == 404
        accepted = grace.post(f"{mine}/1/accept")
        assert (accepted.status_code, accepted.json()["competition"]) == (200, COMPETITION)
        assert grace.post(f"{mine}/2/decline").status_code == 204
        assert (has(site, "grace", Role.ORGANISER), has(site, "grace", Role.TESTER)) == (True, False)
        assert grace.get(mine).json() == {"invitations": []}
        assert grace.post(f"{mine}/1/accept").status_code == 404, "once"
