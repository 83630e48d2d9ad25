"""Two teams become one on their pages, by API and by command line."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.base.db import writing
from evergold.cli import run
from tests import world
from tests.teams.merged import UNTIL, allow_merging
from tests.web.site import BOARD, Person, Site, csrf_of, log_in, run_of, without_log
from tests.web.teams.test_teams import API_TEAM, PAGE, send
from tests.world import COMPETITION

API = f"{API_TEAM}/merging"

pytestmark = pytest.mark.usefixtures("cheap_passwords")


@pytest.fixture
def ada(site: Site) -> Iterator[Person]:
    person = site.person("adele")
    with person.client:
        yield person


def test_one_asks_and_the_other_accepts_on_their_pages(site: Site) -> None:
    with log_in(site) as ada, log_in(site, "bob") as bob:
        send(ada, "name", name="First")
        send(bob, "name", name="Second")
        assert "Merge with another team" not in ada.get(PAGE).text, "no date, no merging"
        allow_merging(site.engine)
        unknown = send(ada, "merging", team="Secnd")
        assert unknown.status_code == 422
        assert "There is no team of this name that could answer" in unknown.text
        assert 'value="Secnd"' in unknown.text
        assert "<bdi>Second</bdi>" in send(ada, "merging", team="Second").text
        page = bob.get(PAGE).text
        assert "offers to merge your team into <b><bdi>First</bdi></b>" in page
        offer = page.partition("/team/merging/")[2].partition("/")[0]
        assert send(ada, f"merging/{offer}/accept").status_code == 404
        assert "2 members" in send(bob, f"merging/{offer}/accept").text
        assert "First" in bob.get(PAGE).text
        site.set_clock(UNTIL)
        assert "Teams could merge until" in ada.get(PAGE).text
        late = ada.post(f"{PAGE}/merging", data={"team": "Second", "csrf_token": csrf_of(ada.get(PAGE).text)})
        assert (late.status_code, "Teams could merge until" in late.text) == (409, True)


def test_too_many_tries_are_told_where_one_accepts(site: Site, ada: Person, eve: Person) -> None:
    with writing(site.engine) as session:
        world.the_phase_task(session).phase.submissions_total = 1
    allow_merging(site.engine)
    ada.submitted()
    eve.submitted()
    ada.client.post(API, json={"team": "Eve"})
    offer = eve.client.get(API).json()["to_us"][0]["id"]
    refused = eve.client.post(f"{API}/{offer}/acceptance")
    error = refused.json()["error"]
    assert (refused.status_code, error["code"]) == (409, "no_merging")
    assert (error["details"]["used"], error["details"]["limit"]) == (2, 1)


def test_merging_by_api(site: Site, ada: Person, eve: Person) -> None:
    ada.submitted()
    world.score(site.engine, run_of(site, eve.submitted()), 0.5)
    assert ada.client.get(API).json() == {"merge_until": None, "to_us": [], "by_us": []}
    assert ada.client.post(API, json={"team": "Eve"}).json()["error"]["code"] == "no_merging"
    allow_merging(site.engine)
    asked = ada.client.post(API, json={"team": "Eve"})
    offer = asked.json()["by_us"][0]
    assert (asked.status_code, offer["asking"], offer["asked"], offer["asked_by"]) == (201, "Adele", "Eve", "Adele")
    assert eve.client.get(API).json()["to_us"] == [offer]
    assert eve.client.delete(f"{API}/{offer['id']}").status_code == 204
    assert eve.client.post(f"{API}/{offer['id']}/acceptance").status_code == 404
    offer = eve.client.post(API, json={"team": "Adele"}).json()["by_us"][0]
    assert ada.client.post(f"{API}/{offer['id']}/acceptance").status_code == 204
    assert [one["username"] for one in ada.client.get(API_TEAM).json()["members"]] == ["eve", "adele"]
    assert [row["team"] for row in site.client().get(BOARD).json()["rows"]] == ["Eve"]


def test_merging_from_the_command_line(
    site: Site, ada: Person, eve: Person, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVERGOLD_SERVER", site.url)

    def merge(person: Person, *arguments: str) -> tuple[int, str]:
        monkeypatch.setenv("EVERGOLD_TOKEN", person.client.headers["Authorization"].removeprefix("Bearer "))
        code = run(["team", "merge", COMPETITION, *arguments])
        said = capsys.readouterr()
        return code, without_log(said.out) + said.err

    for person, name in ((ada, "First"), (eve, "Second")):
        person.client.post(API_TEAM, json={"name": name})
    assert "Teams cannot merge" in merge(ada)[1]
    allow_merging(site.engine)
    assert "Second" in merge(ada, "--ask", "Second")[1]
    assert "Second" not in merge(ada, "--end", "Second")[1]
    merge(ada, "--ask", "Second")
    assert merge(ada, "--accept", "Second") == (3, "Error: There is no open offer from or to 'Second'.\n")
    assert "First" in merge(eve)[1]
    assert merge(eve, "--accept", "First", "--end", "First")[0] == 64
    code, said = merge(eve, "--accept", "First")
    assert (code, said.splitlines()[0]) == (0, "First")
    assert "adele" in said
