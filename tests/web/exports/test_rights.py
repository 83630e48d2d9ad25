"""Exports for organisers: by the one right for it, and nothing of another competition, not even by its id."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from app.base.api_links import API
from app.base.db import reading
from app.competitions.find import find_competition
from app.models import Phase, PhaseTask, Right, Submission
from tests.rich_world import EARLIER_TEAM, NEIGHBOURS
from tests.web.exports.test_organiser_exports import opened
from tests.web.one_right import Organisers, only
from tests.web.site import Person, Site
from tests.world import COMPETITION

HERE = f"{API}/competitions/{COMPETITION}"
PAGES, TAKEN_HOME = "/competitions/{competition}", "/api/v1/competitions/{competition}"
#: Who has to do with a competition is a matter of those who may edit it.
ROUTES = {
    Right.EDIT: (f"GET {TAKEN_HOME}/registrations.csv",),
    Right.SUBMISSIONS: (
        f"GET {PAGES}/downloads",
        f"GET {PAGES}/exports",
        f"GET {TAKEN_HOME}/downloads",
        f"GET {TAKEN_HOME}/downloads.csv",
        f"GET {TAKEN_HOME}/participants",
        f"GET {TAKEN_HOME}/participants.csv",
        f"GET {TAKEN_HOME}/predictions.zip",
    ),
}


@pytest.mark.parametrize("right", ROUTES)
def test_each_is_for_one_right_here_and_for_nobody_next_door(organisers: Organisers, right: Right) -> None:
    assert organisers.let_in(ROUTES[right]) == only(right, ROUTES[right])


def test_another_competitions_predictions_are_not_had_by_id(site: Site, organisers: Organisers) -> None:
    with reading(site.engine) as session:
        neighbours = find_competition(session, NEIGHBOURS)
        theirs = (
            select(Submission.id)
            .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
            .join(Phase, Phase.id == PhaseTask.phase_id)
            .where(Phase.competition_id == neighbours.id)
        )
        ids = [str(one) for one in session.scalars(theirs)]
    client = organisers.clients[Right.SUBMISSIONS]
    for submission_id in ids:
        answer = client.send("GET", f"{HERE}/predictions.zip", params={"submission": submission_id})
        assert answer.status_code == 404


def test_a_zip_holds_nothing_of_the_namesakes_next_door(ada: Person, organisers: Organisers) -> None:
    sent = ada.submitted()["id"]
    answer = organisers.clients[Right.SUBMISSIONS].send("GET", f"{HERE}/predictions.zip")
    files = [name for name in opened(answer).namelist() if name.startswith("Ada/")]
    assert files
    assert all(name.startswith(f"Ada/{sent}/") for name in files)
    assert not [name for name in opened(answer).namelist() if not name.startswith(("Ada/", "manifest", EARLIER_TEAM))]
