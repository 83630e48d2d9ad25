"""Teams on their page, by API and by command line: founded, invited to, joined, handed over, left."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

import httpx
import pytest

from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.models import Team
from evergold.cli import run
from tests import world
from tests.rich_world import own
from tests.web.site import BOARD, BROWSER, Person, Site, csrf_of, log_in, run_of, without_log
from tests.world import COMPETITION, DAY, NOW

PAGE = f"/competitions/{COMPETITION}/team"
API_TEAM = f"/api/v1{PAGE}"

pytestmark = pytest.mark.usefixtures("cheap_passwords")


@pytest.fixture
def browser(site: Site) -> Iterator[httpx.Client]:
    with log_in(site) as client:
        yield client


def send(browser: httpx.Client, deed: str, page: str = PAGE, **fields: str) -> httpx.Response:
    text = browser.get(page).text
    return browser.post(f"{PAGE}/{deed}", data={**fields, "csrf_token": csrf_of(text)})


def link_on(page: str) -> str:
    found = re.search(r"http\S+/team/join\?link=[\w-]+", html.unescape(page))
    assert found, page
    return found[0]


def path_of(link: str) -> str:
    return PAGE + "/join" + link.partition("/team/join")[2]


# ------------------------------------------------------------------------------------------------------------- pages


def test_from_a_name_to_a_team_of_two_and_back(site: Site, browser: httpx.Client) -> None:
    assert "You have no team" in browser.get(PAGE).text
    assert "<bdi>Idiomatics</bdi>" in send(browser, "name", name="Idiomatics").text
    made = send(browser, "invitation")
    link = link_on(made.text)
    assert made.headers["Cache-Control"] == "no-store"
    assert link not in html.unescape(browser.get(PAGE).text), "it is shown once"
    with log_in(site, "bob") as bob:
        page = bob.get(path_of(link))
        assert "Join <bdi>Idiomatics</bdi>" in page.text
        secret = link.partition("link=")[2]
        joined = bob.post(f"{PAGE}/join", data={"link": secret, "csrf_token": csrf_of(page.text)})
        assert "2 members" in joined.text
        assert "The captain invites" in joined.text
        assert "You are a member already" in bob.get(path_of(link)).text
        assert send(bob, "remove", username="ada").status_code == 403
        assert "captain" in send(browser, "captain", username="bob").text
        assert "Make a" in bob.get(PAGE).text
        assert "You have no team" in send(browser, "leave").text
        assert "1 member" in bob.get(PAGE).text


def test_a_name_that_is_taken_is_told_beside_what_was_typed(site: Site, browser: httpx.Client) -> None:
    world.add_team(site.engine, world.add_user(site.engine, "cat"), name="Taken")
    refused = send(browser, "name", name="taken")
    assert refused.status_code == 409
    assert 'value="taken"' in refused.text
    assert "please choose another" in refused.text
    missing = send(browser, "name", name=" ")
    assert missing.status_code == 422
    with reading(site.engine) as session:
        assert [team.name for team in session.scalars(own(Team))] == ["Taken"]


def test_who_is_removed_or_finds_a_link_ended(site: Site, browser: httpx.Client) -> None:
    send(browser, "name", name="Idiomatics")
    link = link_on(send(browser, "invitation").text)
    with log_in(site, "bob") as bob:
        page = bob.get(path_of(link))
        assert send(browser, "invitation/revoke").status_code == 200
        assert bob.get(path_of(link)).status_code == 404
        form = {"link": link.partition("link=")[2], "csrf_token": csrf_of(page.text)}
        assert bob.post(f"{PAGE}/join", data=form).status_code == 404
        assert send(browser, "invitation/revoke").status_code == 404
        link = link_on(send(browser, "invitation").text)
        bob.post(f"{PAGE}/join", data={**form, "link": link.partition("link=")[2]})
        assert "1 member" in send(browser, "remove", username="bob").text
        assert bob.get(path_of(link)).status_code == 404


def test_a_full_team_says_so(site: Site, browser: httpx.Client) -> None:
    send(browser, "name", name="Idiomatics")
    link = link_on(send(browser, "invitation").text)
    with writing(site.engine) as session:
        find_competition(session, COMPETITION).teams = {"members_max": 1}
    assert "Make a" not in browser.get(PAGE).text
    with log_in(site, "bob") as bob:
        page = bob.get(path_of(link))
        form = {"link": link.partition("link=")[2], "csrf_token": csrf_of(page.text)}
        full = bob.post(f"{PAGE}/join", data=form)
        assert full.status_code == 409
        assert "the most allowed" in full.text


def test_a_name_can_be_changed_until_it_is_fixed(site: Site, browser: httpx.Client, ada: Person) -> None:
    ada.submitted()
    with log_in(site, "bob"):
        pass
    person, page = ada.client, site.browser(ada.user)
    assert "You can change it until" in page.get(PAGE).text
    assert person.put(f"{API_TEAM}/name", json={"name": "In time"}).json()["name"] == "In time"
    site.set_clock(NOW + DAY)
    late = person.put(f"{API_TEAM}/name", json={"name": "Too late"})
    assert (late.status_code, late.json()["error"]["code"]) == (409, "names_fixed")
    assert person.get(API_TEAM).json()["name_fixed_at"] == "2026-01-11T12:00:00Z"
    assert "The name can no longer be changed since" in site.browser(ada.user).get(PAGE).text


@pytest.fixture
def ada(site: Site) -> Iterator[Person]:
    """Yield another user than the browser's account of the same name in other tests, with a token."""
    person = site.person("adele")
    with person.client:
        yield person


def test_a_new_name_reaches_those_who_are_not_logged_in(site: Site, ada: Person) -> None:
    world.score(site.engine, run_of(site, ada.submitted()), 0.5)
    with site.client(**BROWSER) as anybody:
        page = f"/competitions/{COMPETITION}/phases/evaluation/boards/zero-shot"
        assert "Adele" in anybody.get(page).text
        assert [row["team"] for row in anybody.get(BOARD, headers={"Accept": "*/*"}).json()["rows"]] == ["Adele"]
        ada.client.put(f"{API_TEAM}/name", json={"name": "Idiomatics"})
        assert "Idiomatics" in anybody.get(page).text
        assert "Adele" not in anybody.get(page).text


def test_pages_for_those_who_are_not_logged_in(site: Site) -> None:
    with site.client(**BROWSER) as anybody:
        for path in (PAGE, f"{PAGE}/join?link=x"):
            assert anybody.get(path).status_code == 303
        sent = anybody.post(f"{PAGE}/leave", data={})
        assert sent.headers["Location"] == f"/login?next={PAGE}&done=expired"


# --------------------------------------------------------------------------------------------------------------- API


def test_a_team_by_api(site: Site, ada: Person, eve: Person) -> None:
    assert ada.client.get(API_TEAM).status_code == 404
    made = ada.client.post(API_TEAM, json={"name": "Idiomatics"})
    assert (made.status_code, made.json()["members"][0]["is_captain"]) == (201, True)
    assert ada.client.post(API_TEAM, json={"name": "Again"}).json()["error"]["code"] == "already_in_team"
    invited = ada.client.post(f"{API_TEAM}/invitation")
    assert invited.json()["link"].startswith(f"{site.url}{PAGE}/join?link=")
    joined = eve.client.post(f"{API_TEAM}/members", json={"invitation": invited.json()["link"]}).json()
    assert [(one["username"], one["display_name"]) for one in joined["members"]] == [("adele", "Adele"), ("eve", "Eve")]
    assert joined["invitation_expires_at"] == "2026-01-17T12:00:00Z"
    assert eve.client.delete(f"{API_TEAM}/members/adele").status_code == 403
    assert ada.client.delete(f"{API_TEAM}/members/nobody").status_code == 404
    assert ada.client.delete(f"{API_TEAM}/members/adele").status_code == 422
    assert ada.client.put(f"{API_TEAM}/captain", json={"username": "eve"}).json()["members"][1]["is_captain"]
    assert eve.client.delete(f"{API_TEAM}/members/adele").status_code == 204
    assert eve.client.delete(f"{API_TEAM}/invitation").status_code == 404
    assert eve.client.delete(API_TEAM).status_code == 204
    assert eve.client.delete(API_TEAM).status_code == 404


def test_who_joins_sees_what_the_team_has_submitted(site: Site, ada: Person, eve: Person) -> None:
    submission = ada.submitted()
    assert eve.client.get(submission["links"]["self"]).status_code == 404
    link = ada.client.post(f"{API_TEAM}/invitation").json()["link"]
    eve.client.post(f"{API_TEAM}/members", json={"invitation": link})
    assert eve.client.get(submission["links"]["self"]).status_code == 200
    eve.client.delete(API_TEAM)
    assert eve.client.get(submission["links"]["self"]).status_code == 404


def test_the_quota_goes_along(site: Site, ada: Person) -> None:
    ada.submitted()
    task = f"/api/v1/competitions/{COMPETITION}/phases/{world.PHASE}/tasks/{world.TASK}"
    assert ada.client.get(task).json()["quota"]["used_today"] == 1
    ada.client.delete(API_TEAM)
    assert ada.client.get(task).json()["quota"]["used_today"] == 1
    ada.client.post(API_TEAM, json={"name": "Fresh"})
    assert ada.client.get(task).json()["quota"]["used_today"] == 1


# ------------------------------------------------------------------------------------------------------ command line


def test_a_team_from_the_command_line(
    site: Site, ada: Person, eve: Person, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVERGOLD_SERVER", site.url)

    def evergold(person: Person, *arguments: str) -> tuple[int, str]:
        monkeypatch.setenv("EVERGOLD_TOKEN", person.client.headers["Authorization"].removeprefix("Bearer "))
        code = run(["team", *arguments])
        said = capsys.readouterr()
        return code, without_log(said.out) + said.err

    assert evergold(ada, "show", COMPETITION)[0] == 1
    assert "Idiomatics" in evergold(ada, "create", COMPETITION, "Idiomatics")[1]
    code, link = evergold(ada, "invite", COMPETITION)
    assert code == 0
    assert "eve" in evergold(eve, "join", COMPETITION, link.strip())[1]
    assert "Others" in evergold(ada, "rename", COMPETITION, "Others")[1]
    assert evergold(eve, "rename", COMPETITION, "Mine")[0] == 1
    assert evergold(ada, "transfer", COMPETITION, "eve")[0] == 0
    assert evergold(eve, "invite", COMPETITION, "--revoke")[1].strip() == "The link no longer works."
    assert evergold(eve, "remove", COMPETITION, "adele")[1].strip() == "adele is no longer a member."
    assert evergold(eve, "leave", COMPETITION, "--json")[0] == 0
    assert evergold(eve, "leave", COMPETITION)[0] == 1
