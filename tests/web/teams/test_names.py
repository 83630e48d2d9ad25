"""A name that only looks different from a team's is nobody else's: neither by the team form, nor by a display name."""

from __future__ import annotations

import httpx
import pytest
from sqlalchemy import select, update

from app.base.db import reading, writing
from app.models import Team, TeamKind, TeamMember, User
from tests import world
from tests.competitions.embargo import declare, enter, freeze, hide
from tests.web.site import BROWSER, CONTENT, PASSWORD, SUBMIT, Person, Site, run_of
from tests.world import COMPETITION, HOUR, NOW

LOOK_ALIKES = ["alpha reading GROUP", "\N{CYRILLIC CAPITAL LETTER A}lpha Reading Group", "A1pha Reading Gr0up"]
TEAM = "/api/v1/competitions/idioms/team"
pytestmark = pytest.mark.usefixtures("cheap_passwords")


def team_of(site: Site, username: str) -> str:
    with reading(site.engine) as session:
        return session.scalars(select(Team.name).join(TeamMember).join(User).where(User.username == username)).one()


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_a_display_name_that_looks_like_a_team_s_does_not_become_one(site: Site, name: str) -> None:
    with site.client() as client:
        log_in(client, "ada", "Ada")
        assert client.post(TEAM, json={"name": "Alpha Reading Group"}).status_code == 201
    with site.client() as client:
        log_in(client, "eve", name)
        assert client.post(SUBMIT, files={"file": ("x.csv", CONTENT)}).status_code == 202
        refused = client.put(f"{TEAM}/name", json={"name": name})
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "name_taken")
    assert team_of(site, "eve") == f"{name} (eve)"


@pytest.mark.parametrize("name", ["نیم\u200cفاصله", "क्\u200dष", "👩\u200d💻 coders", "שלום C++\u200f"])
def test_name_may_hold_what_its_script_needs_and_is_found_by_it(site: Site, name: str) -> None:
    with site.client() as client:
        log_in(client, "ada", name)
        assert client.post(TEAM, json={"name": name}).status_code == 201
        assert client.put(f"{TEAM}/name", json={"name": name}).status_code == 200
        sent = client.post(SUBMIT, files={"file": (f"{name}.csv", CONTENT)}, data={"system": name})
        assert (sent.status_code, sent.json()["filename"]) == (202, f"{name}.csv")
    assert team_of(site, "ada") == name
    with site.client() as client:
        log_in(client, "eve", "Eve")
        bare = "".join(one for one in name if one not in "\u200c\u200d\u200f")
        assert client.post(TEAM, json={"name": bare}).json()["error"]["code"] == "name_taken"


@pytest.mark.parametrize("name", ["a\u200bb", "a\u202eb", "a\u00adb", "\u3164", "Ada\u200f"])
def test_other_characters_that_nobody_sees_are_refused_in_names_of_teams_and_systems(site: Site, name: str) -> None:
    with site.client() as client:
        log_in(client, "ada", "Ada")
        assert client.post(TEAM, json={"name": name}).status_code == 422
        assert client.post(SUBMIT, files={"file": ("x.csv", CONTENT)}, data={"system": name}).status_code == 422


def test_a_former_name_shows_nothing_of_the_team_that_has_it_by_now(site: Site, ada: Person, eve: Person) -> None:
    """Official results have the former name; an ORCID iD, and the link to report a name, are of those who have it."""
    world.score(site.engine, run_of(site, ada.submitted()), 0.5)
    world.reject(site.engine, run_of(site, eve.submitted(b"no prediction\n")))
    declare(site.engine, ends_at=NOW)
    assert freeze(site.engine, NOW + HOUR) == 2
    site.set_clock(NOW + HOUR)
    with writing(site.engine) as session:
        for person, name in ((ada, "Adele"), (eve, "Ada")):
            theirs = select(TeamMember.team_id).where(TeamMember.user_id == person.user.id)
            session.execute(update(Team).where(Team.id.in_(theirs)).values(name=name))
        session.execute(update(User).where(User.username == "eve").values(orcid="0000-0002-1825-0097"))
        world.the_phase_task(session).board_version += 1
    page = site.browser(ada.user).get("/competitions/idioms/teams/Ada").text
    assert "The official results show the team under this name." in page
    assert "ORCID" not in page
    assert "Report the name" not in page


def log_in(client: httpx.Client, username: str, display_name: str) -> None:
    """Register over HTTP, and send the token from now on."""
    account = {"username": username, "email": f"{username}@example.org", "password": PASSWORD}
    assert client.post("/api/v1/register", json={**account, "display_name": display_name}).status_code == 201
    made = client.post("/api/v1/tokens", json={"username": username, "password": PASSWORD, "name": "x"}).json()
    client.headers["Authorization"] = f"Bearer {made['secret']}"


def test_only_a_name_that_a_team_gave_itself_can_be_reported(site: Site, ada: Person, eve: Person) -> None:
    """Check the name of a baseline, and one that replaces a hidden name."""
    enter(site.engine, ada.user, 0.5)
    world.add_team(site.engine, world.add_user(site.engine, "ben"), name="Floor", kind=TeamKind.BASELINE)
    with reading(site.engine) as session:
        ben = session.scalars(select(User).where(User.username == "ben")).one()
    enter(site.engine, ben, 0.4, minute=1)

    def offered(name: str) -> bool:
        answer = eve.client.get(f"/competitions/{COMPETITION}/teams/{name}", headers=BROWSER)
        assert answer.status_code == 200, name
        return "report-text?kind=team" in answer.text

    assert [offered(name) for name in ("Ada", "Floor")] == [True, False]
    hide(site.engine, names_from="close")
    neutral = eve.client.get(f"/api/v1/competitions/{COMPETITION}/phases/evaluation/boards/zero-shot").json()
    [name] = [row["team"] for row in neutral["rows"] if row["kind"] == "team"]
    assert not offered(name)
