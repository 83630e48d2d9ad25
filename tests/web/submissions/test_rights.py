"""Submissions are for their team, and for organisers with the right to them; to others they are not there."""

from __future__ import annotations

import pytest

from app.models import Right
from tests import world
from tests.web.one_right import Organisers, only
from tests.web.site import Person, Site, run_of
from tests.world import COMPETITION

HERE, API_HERE = "/competitions/{competition}", "/api/v1/competitions/{competition}"
ONE, API_ONE = "/submissions/{submission_id}", "/api/v1/submissions/{submission_id}"
OF_ALL = (
    f"GET {HERE}/submissions",
    f"POST {HERE}/submissions",
    f"GET {HERE}/failed",
    f"POST {HERE}/failed/queue-again",
    f"POST {HERE}/failed/{{run_id}}/queue-again",
    f"GET {API_HERE}/submissions",
    f"PUT {API_HERE}/submissions/marks",
    f"GET {API_HERE}/failed-runs",
    f"POST {API_HERE}/failed-runs/queue-again",
    f"POST {API_HERE}/failed-runs/{{run_id}}/queue-again",
)
OF_ONE = (
    f"GET {ONE}",
    f"GET {ONE}/card",
    f"POST {ONE}/put-back",
    f"GET {API_ONE}",
    f"GET {API_ONE}/card",
    f"GET {API_ONE}/comparison/{{other_id}}",
    f"GET {API_ONE}/file",
    f"GET {API_ONE}/problems.csv",
    f"DELETE {API_ONE}/withdrawal",
)
#: Organisers with the right to submissions see it, and are told so.
OF_ITS_TEAM = (
    f"POST {ONE}/card",
    f"POST {ONE}/choice",
    f"POST {ONE}/withdrawal",
    f"PUT {API_ONE}/card",
    f"PUT {API_ONE}/choice",
    f"DELETE {API_ONE}/choice",
    f"PUT {API_ONE}/withdrawal",
)


def test_what_everybody_sent_is_for_the_right_to_submissions(organisers: Organisers) -> None:
    assert organisers.let_in(OF_ALL) == only(Right.SUBMISSIONS, OF_ALL)


def test_to_score_again_takes_two_rights(organisers: Organisers) -> None:
    again = f"POST {API_HERE}/submissions/rescoring"
    assert organisers.let_in([again]) == {again: []}


def test_a_submission_is_there_for_the_right_to_submissions_alone(
    site: Site, ada: Person, organisers: Organisers
) -> None:
    sent = ada.submitted()
    world.score(site.engine, run_of(site, sent), 0.5)
    routes = (*OF_ONE, *OF_ITS_TEAM)
    assert organisers.let_in(routes, refused=404, submission_id=sent["id"], other_id=sent["id"]) == only(
        Right.SUBMISSIONS, routes
    )


def test_what_its_team_decides_is_refused_to_every_organiser(ada: Person, organisers: Organisers) -> None:
    sent = ada.submitted()["id"]
    found = organisers.let_in(OF_ITS_TEAM, submission_id=sent)
    assert Right.SUBMISSIONS not in {right for rights in found.values() for right in rights}


@pytest.mark.parametrize("deed", ["download", "hidden"])
def test_whoever_lacks_the_right_does_nothing_with_what_was_sent(
    ada: Person, organisers: Organisers, deed: str
) -> None:
    """A form that cannot be done shows its page again, which is refused for itself: this one could be done."""
    form = {"submission": [ada.submitted()["id"]], "deed": deed, "note": "why"}
    others = organisers.without(Right.SUBMISSIONS).clients.values()
    assert {one.send("POST", f"/competitions/{COMPETITION}/submissions", data=form).status_code for one in others} == {
        403
    }
