"""Organisers see, through the API, whose submissions failed on our side, and have them scored after all."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from app.base.api_links import API
from app.base.db import writing
from app.competitions.find import find_competition, find_phase_task
from app.models import Right, Role, RunStatus, User
from app.people.rights import grant_role
from app.submissions.accept import Sender, accept_submission
from tests import world
from tests.beside import add_other_task, one_right_each, submit_other
from tests.competitions.embargo import add_phase
from tests.web.site import Person, Site, csrf_of, run_of
from tests.world import COMPETITION, DAY, NOW, PHASE, TASK

FAILED = f"{API}/competitions/{COMPETITION}/failed-runs"


@pytest.fixture
def olga(site: Site) -> Iterator[Person]:
    """The organiser of the competition."""
    person = site.person("olga")
    with writing(site.engine) as session:
        grant_role(session, find_competition(session, COMPETITION), person.user, Role.ORGANISER, NOW)
    with person.client:
        yield person


@pytest.fixture
def failed_run(site: Site, ada: Person) -> int:
    run_id = run_of(site, ada.submitted())
    world.fail(site.engine, run_id)
    return run_id


def test_organisers_see_what_failed_and_why(olga: Person, failed_run: int) -> None:
    answer = olga.client.get(FAILED)
    assert answer.status_code == 200
    (run,) = answer.json()["runs"]
    assert (run["run_id"], run["team"], run["failure"], run["attempts"]) == (failed_run, "Ada", "Broken", 1)
    assert olga.client.get(FAILED, params={"limit": 0}).status_code == 422


def test_without_failures_the_list_is_empty(olga: Person, ada: Person) -> None:
    ada.submitted()
    assert olga.client.get(FAILED).json() == {"competition": COMPETITION, "runs": []}


def test_organisers_have_it_scored_after_all(site: Site, olga: Person, failed_run: int) -> None:
    answer = olga.client.post(f"{FAILED}/{failed_run}/queue-again")
    assert (answer.status_code, answer.json()) == (202, {"run_id": failed_run})
    assert world.the_run(site.engine, failed_run).status == RunStatus.QUEUED
    assert olga.client.get(FAILED).json()["runs"] == []
    again = olga.client.post(f"{FAILED}/{failed_run}/queue-again")
    assert (again.status_code, again.json()["error"]["code"]) == (404, "not_found")


def test_on_the_page_and_by_programs_they_need_the_right_to_submissions_and_no_other(
    site: Site, failed_run: int
) -> None:
    page = f"/competitions/{COMPETITION}/failed"
    for right, user in one_right_each(site.engine).items():
        browser, client = site.browser(user), site.with_token(user)
        token = {"csrf_token": csrf_of(browser.get("/account").text)}
        answers = []
        for address in (f"{page}/queue-again", f"{page}/{failed_run}/queue-again"):
            answers.append(browser.post(address, data=token).status_code)
            assert world.the_run(site.engine, failed_run).status == (
                RunStatus.QUEUED if right is Right.SUBMISSIONS else RunStatus.FAILED
            ), "what has another right changes nothing"
            fail_again(site, failed_run)
        answers.append(client.post(f"{FAILED}/{failed_run}/queue-again").status_code)
        fail_again(site, failed_run)
        answers += [client.post(f"{FAILED}/queue-again", json={}).status_code, browser.get(page).status_code]
        fail_again(site, failed_run)
        answers.append(client.get(FAILED).status_code)
        assert answers == ([200, 200, 202, 202, 200, 200] if right is Right.SUBMISSIONS else [403] * 6), right


def fail_again(site: Site, run_id: int) -> None:
    if world.the_run(site.engine, run_id).status == RunStatus.QUEUED:
        world.fail(site.engine, run_id)


@pytest.mark.parametrize("run_id", ["4711", "0", str(2**63), "x"])
def test_what_is_no_failed_run_is_said_to_be_none(olga: Person, failed_run: int, run_id: str) -> None:
    assert olga.client.post(f"{FAILED}/{run_id}/queue-again").status_code in (404, 422)


def test_others_may_neither_look_nor_ask(site: Site, ada: Person, olga: Person, failed_run: int) -> None:
    world.add_competition(site.engine, name="proverbs")
    with site.client() as nobody:
        assert nobody.get(FAILED).status_code == 401
        assert nobody.post(f"{FAILED}/{failed_run}/queue-again").status_code == 401
    for person in (ada,):
        assert person.client.get(FAILED).status_code == 403
        assert person.client.post(f"{FAILED}/{failed_run}/queue-again").status_code == 403
    elsewhere = f"{API}/competitions/proverbs/failed-runs"
    assert olga.client.get(elsewhere).status_code == 403
    root = site.person("root", is_administrator=True)
    with root.client:
        assert root.client.get(FAILED).status_code == 200
        assert root.client.post(f"{elsewhere}/{failed_run}/queue-again").status_code == 404, "not of that competition"
    assert world.the_run(site.engine, failed_run).status == RunStatus.FAILED


def test_those_of_a_task_of_a_phase_are_scored_after_all_and_no_others(quick_site: Site) -> None:
    """Check programs and the page; on the page also those that are ticked, of which another competition's
    stays failed.
    """
    engine = quick_site.engine
    add_other_task(engine)
    add_phase(engine, "practice", starts_at=NOW - DAY)
    world.add_competition(engine, name="proverbs")
    ada, root = quick_site.person("ada"), quick_site.person("root", is_administrator=True)
    runs = {
        "mine": world.submit(engine, ada.user).run_id,
        "other": submit_other(engine, ada.user).run_id,
        "practice": submit_to(engine, ada.user, "practice"),
        "proverbs": world.submit(engine, ada.user, competition="proverbs").run_id,
    }

    def fail_all() -> None:
        for run_id in runs.values():
            world.fail(engine, run_id)

    def queued() -> set[str]:
        found = {name for name, one in runs.items() if world.the_run(engine, one).status == RunStatus.QUEUED}
        for name in found:
            world.fail(engine, runs[name])
        return found

    fail_all()
    asked: list[tuple[dict[str, object], set[str]]] = [
        ({}, {"mine", "other", "practice"}),
        ({"phase": PHASE}, {"mine", "other"}),
        ({"task": TASK}, {"mine", "practice"}),
        ({"phase": PHASE, "task": TASK}, {"mine"}),
    ]
    page = f"/competitions/{COMPETITION}/failed"
    with quick_site.browser(root.user) as browser:
        token = {"csrf_token": csrf_of(browser.get(page).text)}
        for names, expected in asked:
            told = root.client.post(f"{FAILED}/queue-again", params=names).json()["runs"]  # type: ignore[arg-type]
            assert (set(told), queued()) == ({runs[name] for name in expected}, expected), names
            browser.post(f"{page}/queue-again", data={**token, **names})
            assert queued() == expected, names
        ticked = {"chosen": "yes", "run": [str(runs["other"]), str(runs["proverbs"])]}
        browser.post(f"{page}/queue-again", data={**token, **ticked})
        assert queued() == {"other"}
        browser.post(f"{page}/{runs['practice']}/queue-again", data=token)
        assert queued() == {"practice"}
        browser.post(f"{page}/{runs['proverbs']}/queue-again", data=token)
        assert queued() == set()


def submit_to(engine: Engine, user: User, phase: str) -> int:
    with writing(engine) as session:
        asked = find_phase_task(session, COMPETITION, phase, TASK)
        return accept_submission(session, asked, world.upload_of(phase), Sender(user, NOW)).run_id
