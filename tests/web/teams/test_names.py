"""A name that only looks different from a team's is nobody else's: neither by the team form, nor by a display name."""

from __future__ import annotations

import httpx
import pytest
from sqlalchemy import select

from app.base.db import reading
from app.models import Team, TeamMember, User
from tests.web.site import CONTENT, PASSWORD, SUBMIT, Site

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


def log_in(client: httpx.Client, username: str, display_name: str) -> None:
    """Register over HTTP, and send the token from now on."""
    account = {"username": username, "email": f"{username}@example.org", "password": PASSWORD}
    assert client.post("/api/v1/register", json={**account, "display_name": display_name}).status_code == 201
    made = client.post("/api/v1/tokens", json={"username": username, "password": PASSWORD, "name": "x"}).json()
    client.headers["Authorization"] = f"Bearer {made['secret']}"
