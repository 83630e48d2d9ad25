"""What organisers take home: by the one right for it, and nothing of another competition, not even by its id."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from app.base.api_links import API
from app.base.db import reading
from app.competitions.find import find_competition
from app.models import Phase, PhaseTask, Right, Submission
from tests.beside import one_right_each
from tests.rich_world import EARLIER_TEAM, NEIGHBOURS
from tests.web.exports.test_organiser_exports import opened
from tests.web.messages.test_rights import with_token
from tests.web.site import Person, Site
from tests.world import COMPETITION

HERE, BESIDE = (f"{API}/competitions/{name}" for name in (COMPETITION, NEIGHBOURS))
TAKEN_HOME = ("predictions.zip", "participants", "participants.csv", "registrations.csv", "downloads")
#: Who has to do with a competition is a matter of those who may edit it.
EDITORS = ("registrations.csv",)


@pytest.fixture
def organisers(site: Site) -> dict[Right, Person]:
    return {right: with_token(site, user) for right, user in one_right_each(site.engine).items()}


@pytest.mark.parametrize("name", TAKEN_HOME)
def test_each_is_for_one_right_here_and_for_none_next_door(organisers: dict[Right, Person], name: str) -> None:
    statuses = {right: person.client.get(f"{HERE}/{name}").status_code for right, person in organisers.items()}
    allowed = [right for right, status in statuses.items() if status == 200]
    assert allowed == [Right.EDIT if name in EDITORS else Right.SUBMISSIONS]
    assert {status for status in statuses.values() if status != 200} == {403}
    assert {person.client.get(f"{BESIDE}/{name}").status_code for person in organisers.values()} == {403}


def test_another_competitions_predictions_are_not_had_by_id(site: Site, organisers: dict[Right, Person]) -> None:
    with reading(site.engine) as session:
        neighbours = find_competition(session, NEIGHBOURS)
        theirs = (
            select(Submission.id)
            .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
            .join(Phase, Phase.id == PhaseTask.phase_id)
            .where(Phase.competition_id == neighbours.id)
        )
        ids = [str(one) for one in session.scalars(theirs)]
    client = organisers[Right.SUBMISSIONS].client
    for submission_id in ids:
        answer = client.get(f"{HERE}/predictions.zip", params={"submission": submission_id})
        assert answer.status_code == 404


def test_a_zip_holds_nothing_of_the_namesakes_next_door(ada: Person, organisers: dict[Right, Person]) -> None:
    sent = ada.submitted()["id"]
    answer = organisers[Right.SUBMISSIONS].client.get(f"{HERE}/predictions.zip")
    files = [name for name in opened(answer).namelist() if name.startswith("Ada/")]
    assert files
    assert all(name.startswith(f"Ada/{sent}/") for name in files)
    assert not [name for name in opened(answer).namelist() if not name.startswith(("Ada/", "manifest", EARLIER_TEAM))]
