"""Organisers rescore by the API and on pages; teams learn of it when it is published, and not before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from app.base.api_links import API
from app.base.db import writing
from app.competitions.find import find_competition, find_phase_task
from app.gold.versions import publish_gold
from app.models import Role, RunStatus
from app.people.rights import find_user, grant_role
from tests import rich_rows, world
from tests.competitions.embargo import enter, hide
from tests.rescoring.rescored import NOTE, name_gold, score_set
from tests.rich_world import FIRST_SET
from tests.sealed import make_key, seal_gold
from tests.web.site import BOARD, Person, Site, csrf_of, log_in, run_of
from tests.world import COMPETITION, NOW, PHASE, TASK

SETS = f"{API}/competitions/{COMPETITION}/rescorings"
PAGE = f"/competitions/{COMPETITION}/rescoring"
BOARD_PAGE = f"/competitions/{COMPETITION}/phases/{PHASE}/boards/zero-shot"


def appoint(site: Site, person: Any) -> None:
    with writing(site.engine) as session:
        grant_role(session, find_competition(session, COMPETITION), person, Role.ORGANISER, NOW)


@pytest.fixture
def olga(site: Site) -> Iterator[Person]:
    person = site.person("olga")
    appoint(site, person.user)
    with person.client:
        yield person


@pytest.fixture
def desk(site: Site, cheap_passwords: None) -> Iterator[httpx.Client]:
    """An organiser's browser."""
    with log_in(site, "otto") as browser:
        with writing(site.engine) as session:
            grant_role(session, find_competition(session, COMPETITION), find_user(session, "otto"), Role.ORGANISER, NOW)
        yield browser


@pytest.fixture
def entered(site: Site, ada: Person) -> dict[str, Any]:
    """Ada 0.9 and Bob 0.5."""
    return {
        "ada": enter(site.engine, ada.user, 0.9),
        "bob": enter(site.engine, world.add_user(site.engine, "bob"), 0.5),
    }


def started(olga: Person, **more: Any) -> int:
    answer = olga.client.post(SETS, json={"note": NOTE, "tasks": [f"{PHASE}/{TASK}"], **more})
    assert answer.status_code == 201, answer.text
    return int(answer.json()["number"])


# ----------------------------------------------------------------------------------------------------------------- API


def test_the_whole_story_by_the_api(site: Site, ada: Person, olga: Person, entered: dict[str, Any]) -> None:
    number = started(olga, tasks=[f"{PHASE}/{TASK}"])
    document = olga.client.get(f"{SETS}/{number}").json()
    assert (document["state"], document["progress"]["waiting"]) == ("open", 2)
    early = olga.client.post(f"{SETS}/{number}/publish")
    assert (early.status_code, early.json()["error"]["code"]) == (409, "rescoring_not_ready")
    score_set(site.engine, number, {entered["ada"]: 0.4, entered["bob"]: 0.5})
    (board, _) = olga.client.get(f"{SETS}/{number}/diff").json()["boards"]
    assert [(m["team"], m["rank_before"], m["rank_after"], m["places"]) for m in board["moves"]] == [
        ("Ada", 1, 2, -1),
        ("Bob", 2, 1, 1),
    ]
    before = ada.client.get(BOARD)
    assert [row["team"] for row in before.json()["rows"]] == ["Ada", "Bob"]
    published = olga.client.post(f"{SETS}/{number}/publish", params={"tell_teams": True})
    assert (published.status_code, published.json()["state"], published.json()["progress"]) == (200, "published", None)
    after = ada.client.get(BOARD)
    assert [row["team"] for row in after.json()["rows"]] == ["Bob", "Ada"]
    assert after.headers["etag"] != before.headers["etag"]
    assert olga.client.get(f"{SETS}/{number}/diff").json()["boards"][0] == board
    again = olga.client.post(f"{SETS}/{number}/publish")
    assert (again.status_code, again.json()["error"]["details"]) == (409, {"state": "published"})
    (told,) = ada.client.get(f"{API}/submissions/{entered['ada']}").json()["rescored"]
    assert (told["note"], told["before"], told["after"]) == (NOTE, "scored", "scored")
    assert [(score["metric"], score["value"]) for score in told["scores_before"]] == [
        ("macro_f1", 0.9),
        ("accuracy", 0.45),
    ]


def test_what_is_wrong_is_told_at_once(olga: Person, entered: dict[str, Any]) -> None:
    wrong = olga.client.post(SETS, json={"note": " ", "tasks": ["nowhere"]})
    assert wrong.status_code == 422
    assert wrong.json()["error"]["details"]["fields"].keys() == {"note", "tasks"}
    assert olga.client.post(SETS, json={"note": NOTE, "gold_version": 3}).status_code == 422
    assert olga.client.post(SETS, json={"tasks": []}).status_code == 422
    assert olga.client.get(SETS).json()["rescorings"] == []
    number = started(olga)
    second = olga.client.post(SETS, json={"note": NOTE})
    assert (second.status_code, second.json()["error"]["code"]) == (409, "rescoring_open")
    assert olga.client.post(f"{SETS}/{number}/drop").json()["state"] == "dropped"
    assert olga.client.post(f"{SETS}/{number}/drop").status_code == 409


@pytest.mark.parametrize("number", ["0", "99", str(2**31), "x"])
def test_sets_that_are_not_there(olga: Person, number: str) -> None:
    for path in (f"{SETS}/{number}", f"{SETS}/{number}/diff"):
        assert olga.client.get(path).status_code in (404, 422)
    for deed in ("publish", "drop"):
        assert olga.client.post(f"{SETS}/{number}/{deed}").status_code in (404, 422)


def test_a_set_of_another_competition_is_not_here(site: Site, olga: Person, entered: dict[str, Any]) -> None:
    number = started(olga)
    world.add_competition(site.engine, name="others")
    root = site.person("root", is_administrator=True)
    with root.client:
        assert root.client.get(f"{API}/competitions/others/rescorings/{number}").status_code == 404
        assert root.client.post(f"{API}/competitions/others/rescorings/{number}/publish").status_code == 404


def test_a_team_is_told_no_scores_that_the_phase_hides(
    site: Site, ada: Person, olga: Person, entered: dict[str, Any]
) -> None:
    number = started(olga)
    score_set(site.engine, number, {entered["ada"]: 0.4, entered["bob"]: 0.5})
    hide(site.engine, own_scores="never")
    olga.client.post(f"{SETS}/{number}/publish")
    (told,) = ada.client.get(f"{API}/submissions/{entered['ada']}").json()["rescored"]
    assert (told["note"], told["scores_before"]) == (NOTE, [])


def test_all_that_failed_is_scored_again(site: Site, ada: Person, olga: Person) -> None:
    failed = [run_of(site, ada.submitted(content=f"ID,{n}\n".encode())) for n in range(2)]
    for run_id in failed:
        world.fail(site.engine, run_id)
    address = f"{API}/competitions/{COMPETITION}/failed-runs/queue-again"
    assert olga.client.post(address, params={"phase": "nowhere"}).status_code == 404
    assert olga.client.post(address, params={"task": "nothing"}).status_code == 404
    answer = olga.client.post(address, params={"phase": PHASE, "task": TASK})
    assert (answer.status_code, sorted(answer.json()["runs"])) == (202, failed)
    assert {world.the_run(site.engine, run_id).status for run_id in failed} == {RunStatus.QUEUED}
    assert olga.client.post(address).json() == {"runs": []}


# --------------------------------------------------------------------------------------------------------------- pages


def test_the_whole_story_on_pages(site: Site, desk: httpx.Client, entered: dict[str, Any]) -> None:
    page = desk.get(PAGE)
    assert "No rescoring sets yet." in page.text
    form = {"tasks": f"{PHASE}/{TASK}", "note": NOTE, "csrf_token": csrf_of(page.text)}
    made = desk.post(PAGE, data=form)
    assert made.url.path == f"{PAGE}/{FIRST_SET}"
    assert "2 submissions not rescored yet" in made.text
    score_set(site.engine, FIRST_SET, {entered["ada"]: 0.4, entered["bob"]: 0.5})
    ready = desk.get(f"{PAGE}/{FIRST_SET}").text
    assert "the largest move first; 0 rows unchanged" in ready
    assert "falls 1 place" in ready
    assert "rises 1 place" in ready
    done = desk.post(f"{PAGE}/{FIRST_SET}/publish", data={"csrf_token": csrf_of(ready)})
    assert "Who moved" in done.text
    assert "Published" in desk.get(PAGE).text
    again = desk.post(f"{PAGE}/{FIRST_SET}/drop", data={"csrf_token": csrf_of(desk.get(PAGE).text)})
    assert (again.status_code, "published already" in again.text) == (409, True)


def test_a_set_is_against_the_version_that_was_typed(
    site: Site, desk: httpx.Client, olga: Person, entered: dict[str, Any]
) -> None:
    for in_use in (True, False):
        rich_rows.add_gold(site.engine, COMPETITION, PHASE, TASK, NOW, in_use=in_use)
    form = {"note": NOTE, "tasks": f"{PHASE}/{TASK}", "csrf_token": csrf_of(desk.get(PAGE).text)}
    assert desk.post(PAGE, data={**form, "gold_version": " 2 "}).url.path == f"{PAGE}/{FIRST_SET}"
    (task,) = olga.client.get(f"{SETS}/{FIRST_SET}").json()["tasks"]
    assert task["gold_version"] == 2


@pytest.mark.parametrize("version", ["two", "٢", "0", "1" * 10])
def test_a_form_that_is_wrong_keeps_what_was_typed(desk: httpx.Client, entered: dict[str, Any], version: str) -> None:
    token = csrf_of(desk.get(PAGE).text)
    wrong = desk.post(PAGE, data={"note": "A reason", "gold_version": version, "csrf_token": token})
    assert wrong.status_code == 422
    assert "is not a version." in wrong.text
    assert 'value="A reason"' in wrong.text
    assert desk.post(PAGE, data={"note": NOTE}).status_code == 403, "a form without its token"


def test_a_dropped_set_has_a_page(desk: httpx.Client, entered: dict[str, Any]) -> None:
    token = csrf_of(desk.get(PAGE).text)
    desk.post(PAGE, data={"note": NOTE, "csrf_token": token})
    assert "Dropped" in desk.post(f"{PAGE}/{FIRST_SET}/drop", data={"csrf_token": token}).text


def test_failed_runs_have_a_page_with_buttons(site: Site, ada: Person, desk: httpx.Client) -> None:
    address = f"/competitions/{COMPETITION}/failed"
    assert "None. Everything sent here was scored" in desk.get(address).text
    runs = [run_of(site, ada.submitted(content=f"ID,{n}\n".encode())) for n in range(3)]
    for run_id in runs:
        world.fail(site.engine, run_id)
    page = desk.get(address).text
    assert page.count("Broken") == 3
    token = csrf_of(page)
    desk.post(f"{address}/{runs[0]}/queue-again", data={"csrf_token": token})
    assert [world.the_run(site.engine, run_id).status for run_id in runs] == ["queued", "failed", "failed"]
    assert desk.post(f"{address}/{runs[0]}/queue-again", data={"csrf_token": token}).status_code == 404
    assert "None. Everything" in desk.post(f"{address}/queue-again", data={"csrf_token": token}).text
    assert {world.the_run(site.engine, run_id).status for run_id in runs} == {RunStatus.QUEUED}


def test_a_team_sees_on_its_page_that_it_was_rescored(site: Site, olga: Person, cheap_passwords: None) -> None:
    with log_in(site, "cleo") as cleo:
        with writing(site.engine) as session:
            user = find_user(session, "cleo")
        submission = enter(site.engine, user, 0.9)
        number = started(olga)
        score_set(site.engine, number, {submission: 0.4})
        assert NOTE not in cleo.get(f"/submissions/{submission}").text
        olga.client.post(f"{SETS}/{number}/publish")
        page = cleo.get(f"/submissions/{submission}").text
    assert NOTE in page
    assert "0.9 before, then 0.4" in page


def test_a_board_says_what_its_rows_were_scored_with(site: Site, entered: dict[str, Any]) -> None:
    with site.client() as anybody:
        page = anybody.get(BOARD_PAGE).text
        assert "Scored by version 1 of the task type <code>idiom-detection</code>." in page
        assert "earlier version of the gold" not in page
        with writing(site.engine) as session:
            find_phase_task(session, COMPETITION, PHASE, TASK).board_version += 1
        name_gold(site.engine, "other.csv")
        page = anybody.get(BOARD_PAGE).text
        assert "2 rows of 2 were scored against an earlier version of the gold" in page
        document = anybody.get(BOARD).json()
    assert (document["outdated_rows"], document["task_versions"]) == (2, [1])
    assert [row["is_outdated"] for row in document["rows"]] == [True, True]


def test_publishing_gold_alone_says_so_on_the_board(site: Site, ada: Person) -> None:
    make_key(site.engine)
    seal_gold(site.engine, b"gold")
    enter(site.engine, ada.user, 0.9)
    seal_gold(site.engine, b"better gold")
    with site.client() as anybody:
        assert "against version 1 of the gold" in anybody.get(BOARD_PAGE).text
        with writing(site.engine) as session:
            publish_gold(session, world.the_phase_task(session), 2, user=None, now=NOW)
        assert "1 row of 1 was scored against an earlier version" in anybody.get(BOARD_PAGE).text
