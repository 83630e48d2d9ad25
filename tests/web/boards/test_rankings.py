"""A ranking across tasks taken home: as CSV, and on the command line."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import select

from app.base.db import writing
from app.competitions.find import find_competition
from app.models import Role, User
from app.people.rights import grant_role
from evergold.cli import run
from tests import world
from tests.competitions.embargo import hide
from tests.web.reading import rows_of, text_of
from tests.web.site import CONTENT, Person, Site, csv_text, log_in, run_of
from tests.world import COMPETITION, NOW

RANKING = "/api/v1/competitions/idioms/phases/evaluation/rankings/overall"
PLACE = "idioms/evaluation/overall"
CSV = (
    "rank,team,mean,zero-shot rank,zero-shot score,zero-shot counted,one-shot rank,one-shot score,one-shot counted\r\n"
    "1,Ada,1.3333333333333333,2,0.5,2.0,1,0.25,1.0\r\n"
    "2,Eve,1.6666666666666667,1,0.75,1.0,,,2.0\r\n"
)


@pytest.fixture
def ranked(site: Site, ada: Person, eve: Person) -> Site:
    """Ada is second and first, Eve is first and missing; the second board counts twice."""
    for person, values in ((ada, (0.5, 0.25)), (eve, (0.75, None))):
        world.score(site.engine, run_of(site, person.submitted(CONTENT)), *values)
    with writing(site.engine) as session:
        boards = [{"board": "zero-shot"}, {"board": "one-shot", "weight": 2.0}]
        declared = {"name": "overall", "title": "Overall", "missing": "worst", "boards": boards}
        find_competition(session, COMPETITION).rankings = [declared]
    return site


def test_a_ranking_as_csv(ranked: Site) -> None:
    client = ranked.client()
    for answer in (client.get(f"{RANKING}?format=csv"), client.get(RANKING, headers={"Accept": "text/csv"})):
        assert csv_text(answer) == CSV
        assert answer.headers["Content-Disposition"] == 'attachment; filename="idioms-evaluation-overall.csv"'
        assert answer.headers["Cache-Control"] == "public, no-cache"
    assert [row["team"] for row in client.get(RANKING).json()["rows"]] == ["Ada", "Eve"]
    assert f"{RANKING}?format=csv" in client.get(RANKING.removeprefix("/api/v1")).text


@pytest.mark.parametrize("eyes", ["participant", "public"])
def test_with_the_eyes_of_others_organisers_see_a_hidden_ranking_as_these_do(
    ranked: Site, cheap_passwords: None, eyes: str
) -> None:
    hide(ranked.engine, board="hidden")
    root = ranked.person("root", is_administrator=True).client
    assert [row["team"] for row in root.get(RANKING).json()["rows"]] == ["Ada", "Eve"]
    borrowed = root.get(RANKING, params={"as": eyes}).json()
    assert (borrowed["rows"], borrowed["hidden"]) == ([], ["zero-shot", "one-shot"])
    answer = root.get(RANKING, params={"as": eyes, "format": "csv"})
    assert csv_text(answer) == CSV.splitlines(keepends=True)[0]
    with log_in(ranked, "olga") as olga:
        with writing(ranked.engine) as session:
            user = session.scalars(select(User).where(User.username == "olga")).one()
            grant_role(session, find_competition(session, COMPETITION), user, Role.ORGANISER, NOW)
        page = RANKING.removeprefix("/api/v1")
        assert [row.split()[1:3] for row in rows_of(olga.get(page).text)] == [["1", "Ada"], ["2", "Eve"]]
        shown = olga.get(page, params={"as": eyes}).text
        assert ("Not shown yet: zero-shot, one-shot." in text_of(shown), "<tbody>" in shown) == (True, False)


def test_a_ranking_on_the_command_line(ranked: Site, capsys: pytest.CaptureFixture[str]) -> None:
    said = {}
    for way in ([], ["--csv"], ["--json"]):
        capsys.readouterr()
        assert run(["ranking", PLACE, "--server", ranked.url, *way]) == 0
        said[" ".join(way)] = capsys.readouterr().out
    assert said["--csv"].splitlines()[-3:] == CSV.splitlines(), "the server's log comes before"
    assert json.loads(said["--json"][said["--json"].index("{\n") :])["rows"][0]["mean"] == pytest.approx(4 / 3)
    assert [line.split() for line in said[""].splitlines() if "Ada" in line or "Eve" in line] == [
        ["1", "Ada", "1.3333", "2", "1"],
        ["2", "Eve", "1.6667", "1", "(2)"],
    ]
