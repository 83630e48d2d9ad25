"""Every page of a competition has the competition's head and tabs, and no other head, in a place with everything."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import select

from app.base.db import reading
from app.boards.pictures.of_team import team_pictures
from app.boards.team_rows import team_rows
from app.competitions.find import find_competition
from app.competitions.visibility import Viewer
from app.models import User
from tests.leaks.place import Place
from tests.web.markup import read
from tests.web.routes import Address, addresses
from tests.world import COMPETITION, NOW, PHASE


def pages_of(guarded: Place) -> list[Address]:
    """Return the pages of the competition, and of its submissions."""
    heads = ("/competitions/{competition}", "/submissions/{submission_id}", "/validations/{validation_id}")
    asked = [one for one in addresses(guarded.site.app) if one.method == "GET" and one.template.startswith(heads)]
    return [one for one in asked if not one.template.endswith((".svg", "/live"))]


@pytest.mark.parametrize("role", ["participant", "annotator", "organiser"])
def test_all_pages_of_a_competition_have_one_head(guarded: Place, role: str) -> None:
    wrong, seen = [], 0
    with guarded.client(role) as visitor:
        for address in pages_of(guarded):
            answer = visitor.send("GET", guarded.fill(address))
            if answer.status_code != 200:
                continue
            seen += 1
            page = read(answer.text)
            heads = [head.get("class", "") for head in page.all("header")]
            if heads[:2] != ["site-header", "workspace"] or "page-head" in heads or len(page.all("h1")) != 1:
                wrong.append((str(address), heads))
            if all(link.get("href") != "/competitions/idioms/data" for link in page.all("a")):
                wrong.append((str(address), ["tabs"]))
    assert wrong == []
    assert seen >= {"participant": 15, "annotator": 12, "organiser": 30}[role]


def test_a_team_is_drawn_from_what_its_reader_sees(guarded: Place) -> None:
    """The evaluation is hidden; the practice, which is open, is drawn for everybody."""
    shown = {}
    for role in ("anonymous", "participant", "organiser"):
        with guarded.client(role) as visitor:
            page = visitor.send("GET", "/competitions/idioms/teams/Alpha").text
        boards = set(re.findall(r'phases/(\w+)/boards/[^/"]*"', page.partition('id="rows"')[2]))
        shown[role] = (boards, re.findall(r'By language<span class="subtitle">, [^<]*, (\w+)', page))
    assert shown["anonymous"] == shown["participant"] == ({"practice"}, ["Practice"])
    assert shown["organiser"] == ({"practice", "evaluation", "post"}, ["Practice"]), "the last of the phases"
    with reading(guarded.site.engine) as session:
        competition = find_competition(session, COMPETITION)
        olga = session.scalars(select(User).where(User.username == "olga")).one()
        rows = [one for one in team_rows(session, competition, "Alpha", Viewer(olga, NOW)) if one.phase.name == PHASE]
        titles = [[one.title for one in team_pictures(session, rows, Viewer(who, NOW))] for who in (olga, None)]
    assert titles == [["zero-shot, Evaluation"], []], "asked for with hidden rows, it still looks for itself"
