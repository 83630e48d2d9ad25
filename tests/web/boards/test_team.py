"""A team over the API: the rows and cards that the boards show, and 404 where they show none."""

from __future__ import annotations

import json
import re

from sqlalchemy import update

from app.base.db import writing
from app.models import User
from tests import world
from tests.competitions.embargo import hide
from tests.web.site import BOARD, Person, Site, run_of

TEAMS = "/api/v1/competitions/idioms/teams"


def test_a_team_is_told_with_its_rows_and_the_systems_behind_them(site: Site, ada: Person, eve: Person) -> None:
    world.score(site.engine, run_of(site, ada.submitted(method="XLM-R", system="Crow")), 0.5)
    with site.client() as anybody:
        found, board = anybody.get(f"{TEAMS}/Ada").json(), anybody.get(BOARD).json()
        [row] = [one for one in found["rows"] if one["board"] == "zero-shot"]
        assert (row["phase"], row["task"], row["ranked"], row["official"], row["renamed_to"]) == (
            ("evaluation", "detection", 1, None, "")
        )
        assert (row["row"], row["columns"], row["rank_by"]) == (board["rows"][0], board["columns"], board["rank_by"])
        assert [(one["name"], one["card"]["method"]) for one in found["systems"]] == [("Crow", "XLM-R")]
        assert {one["board"] for one in found["systems"][0]["boards"]} == {one["board"] for one in found["rows"]}
        assert anybody.get(found["page"], headers={"Accept": "text/html"}).status_code == 200
        assert anybody.get(f"{TEAMS}/Eve").status_code == 404, "nothing of hers is on a board"
    mine = ada.client.get(f"{TEAMS}/Ada").json()
    assert (mine["is_mine"], found["is_mine"]) == (True, False)
    assert eve.submitted(b"no prediction\n")
    assert eve.client.get(f"{TEAMS}/Eve").json()["rows"] == [], "her team knows that it is there"
    assert "No rows yet" in eve.client.get("/competitions/idioms/teams/Eve", headers={"Accept": "text/html"}).text


def test_members_show_their_orcid_id_or_do_not(site: Site, ada: Person, eve: Person) -> None:
    """Check the team's page, where links to it are previewed, the API, cards of submissions, and the pages of rows
    where boards show names.
    """
    sent = ada.submitted(system="Crow")
    world.score(site.engine, run_of(site, sent), 0.5)
    world.score(site.engine, run_of(site, eve.submitted(system="Owl")), 0.4)
    path, orcid = "/competitions/idioms/teams", "0000-0002-1825-0097"
    with site.client(Accept="text/html") as anybody:
        assert "ORCID" not in anybody.get(f"{path}/Ada").text
        with writing(site.engine) as session:
            session.execute(update(User).where(User.username == "ada").values(orcid=orcid))
        assert f'href="https://orcid.org/{orcid}"' in anybody.get(f"{path}/Ada").text
        assert "ORCID" not in anybody.get(f"{path}/Eve").text
        board = anybody.get("/competitions/idioms/phases/evaluation/boards/zero-shot").text
        rows = [anybody.get(one).text for one in re.findall(r'href="([^"]*/zero-shot/rows/[^"#?]*)"', board)]
        assert [text.count(f'href="https://orcid.org/{orcid}"') for text in rows] == [1, 0]
        page = anybody.get(f"{path}/Ada").text
        assert f'content="Systems and places of Ada · ORCID {orcid}"' in page
        [told] = re.findall(r'<script type="application/ld\+json">(.*?)</script>', page)
        assert json.loads(told)["member"] == [{"@type": "Person", "@id": f"https://orcid.org/{orcid}"}]
        assert "ld+json" not in anybody.get(f"{path}/Eve").text
        assert [anybody.get(f"{TEAMS}/{name}").json()["orcids"] for name in ("Ada", "Eve")] == [[orcid], []]
        members = ada.client.get("/api/v1/competitions/idioms/team").json()["members"]
        assert [one["orcid"] for one in members] == [orcid]
        root = site.person("root", is_administrator=True)
        for user, place in ((ada.user, "/competitions/idioms/team"), (root.user, f"/submissions/{sent['id']}/card")):
            with site.browser(user) as browser:
                assert f'href="https://orcid.org/{orcid}"' in browser.get(place).text, place
        hide(site.engine, names_from="close")
        assert "ORCID" not in anybody.get(re.findall(r'href="([^"]*/zero-shot/rows/[^"#?]*)"', board)[0]).text
