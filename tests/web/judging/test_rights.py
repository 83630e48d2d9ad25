"""Judging is for organisers with the right to submissions; nobody else finds a round before it is published."""

from __future__ import annotations

import pytest

from app.base.db import writing
from app.models import Right, TokenScope
from app.people import auth
from tests import world
from tests.beside import one_right_each
from tests.judging import judged as judging
from tests.web.one_right import Organisers, only
from tests.web.site import Site
from tests.world import COMPETITION, NOW

ROUNDS, API_ROUNDS = (f"{start}/competitions/{{competition}}/judging" for start in ("", "/api/v1"))
TASK, API_TASK = (f"{start}/competitions/{{competition}}/phases/{{phase}}/tasks/{{task}}" for start in ("", "/api/v1"))
A_ROUND, API_ROUND = (f"{rounds}/{{round_name}}" for rounds in (ROUNDS, API_ROUNDS))
ANNOTATOR = f"{API_ROUND}/annotators/{{language}}/{{username}}"
FOR_SUBMISSIONS = (
    f"GET {ROUNDS}",
    f"POST {A_ROUND}/annotators",
    f"POST {A_ROUND}/discard",
    f"POST {A_ROUND}/publish",
    f"POST {A_ROUND}/withdraw",
    f"GET {TASK}/judging",
    f"POST {TASK}/judging",
    f"POST {TASK}/judging/marks",
    f"GET {API_ROUNDS}",
    f"DELETE {API_ROUND}",
    f"GET {API_ROUND}/marks.csv",
    f"PUT {API_ROUND}/publication",
    f"DELETE {API_ROUND}/publication",
    f"PUT {ANNOTATOR}",
    f"DELETE {ANNOTATOR}",
    f"POST {API_TASK}/judging",
    f"POST {API_TASK}/judging/marks",
)
A_ROUND_ITSELF = (f"GET {A_ROUND}", f"GET {API_ROUND}")


@pytest.fixture
def site(empty_site: Site) -> Site:
    """A round that is not published."""
    engine = empty_site.engine
    world.add_competition(engine, per_day=None)
    judging.add_task(engine)
    olga, _ = world.add_user(engine, "olga", is_administrator=True), world.add_user(engine, "anna")
    judging.start(engine, olga, *judging.enter_three(engine).values(), annotators={"anna": "en"})
    return empty_site


def test_each_route_is_for_the_right_to_submissions(organisers: Organisers) -> None:
    assert organisers.let_in(FOR_SUBMISSIONS) == only(Right.SUBMISSIONS, FOR_SUBMISSIONS)


def test_a_round_that_is_not_published_is_there_for_that_right_alone(organisers: Organisers) -> None:
    found = organisers.let_in(A_ROUND_ITSELF, refused=404, round_name="human")
    assert found == only(Right.SUBMISSIONS, A_ROUND_ITSELF)


def test_what_annotators_did_stays_with_that_right_where_everybody_sees_the_round(organisers: Organisers) -> None:
    page = f"/competitions/{COMPETITION}/judging/human"
    publication = f"/api/v1{page}/publication"
    published = organisers.clients[Right.SUBMISSIONS].send("PUT", publication, params={"unfinished": "true"})
    assert published.status_code == 200
    shown = {right: client.send("GET", page).text for right, client in organisers.clients.items()}
    told = {right: client.send("GET", f"/api/v1{page}").json() for right, client in organisers.clients.items()}
    assert [right for right, text in shown.items() if "How many paraphrases each has judged" in text] == [
        Right.SUBMISSIONS
    ]
    assert [right for right, document in told.items() if document["progress"]] == [Right.SUBMISSIONS]


def test_a_token_that_is_not_for_organising_finds_what_others_find(site: Site) -> None:
    user = one_right_each(site.engine)[Right.SUBMISSIONS]
    tokens = {}
    with writing(site.engine) as session:
        for scopes in ((TokenScope.READ,), (TokenScope.READ, TokenScope.ORGANISE)):
            _, tokens[scopes] = auth.create_token(session, user, "ci", NOW, scopes=scopes)
    reads, organises = (site.client(Authorization=f"Bearer {secret}") for secret in tokens.values())
    path = f"/api/v1/competitions/{COMPETITION}/judging/human"
    assert [client.get(path).status_code for client in (reads, organises)] == [404, 200]
    assert organises.put(f"{path}/publication", params={"unfinished": "true"}).status_code == 200
    told = [client.get(path).json() for client in (reads, organises)]
    assert [bool(document["progress"]) for document in told] == [False, True]
    assert [{one["submission"] for one in document["systems"]} == {None} for document in told] == [True, False]


def test_the_list_of_rounds_tells_other_organisers_which_right_it_takes(organisers: Organisers) -> None:
    page = f"/competitions/{COMPETITION}/judging"
    told = {right: client.send("GET", page).text for right, client in organisers.clients.items()}
    assert [right for right, text in told.items() if "without the right" in text] == [
        Right.EDIT,
        Right.GOLD,
        Right.MESSAGES,
    ]
