"""The stage of a submission under way: on its page and over the API; organisers see a little more."""

from __future__ import annotations

import dataclasses
import threading
import time
from typing import Any

import httpx
import pytest
from sqlalchemy import update

from app.base.db import writing
from app.competitions.find import find_competition
from app.models import Right, Role, ScoringRun, SelfCheck, Worker
from app.people.rights import grant_role
from app.runs.workers import announce_worker
from app.web.submissions.waiting import _stamps
from evergold.scoring.tasks import TASKS
from tests import world
from tests.rescoring.rescored import runs_of, start
from tests.web import markup
from tests.web.reading import text_of
from tests.web.site import BROWSER, Person, Site, run_of
from tests.world import COMPETITION, NOW, PHASE, TASK

TYPE = "idiom-detection"


@pytest.fixture
def needs_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TASKS, TYPE, dataclasses.replace(TASKS[TYPE], needs_gpu=True))


def change(person: Person, submission: dict[str, Any], **values: Any) -> None:
    with writing(person.site.engine) as session:
        run_id = run_of(person.site, submission)
        session.execute(update(ScoringRun).where(ScoringRun.id == run_id).values(**values))


def get(person: Person, submission: dict[str, Any], **params: Any) -> dict[str, Any]:
    document: dict[str, Any] = person.client.get(submission["links"]["self"], params=params).json()
    return document


def page(person: Person, path: str, **params: Any) -> str:
    """A page as this person's browser gets it: tokens work there, too."""
    answer = person.client.get(path, params=params, headers=BROWSER)
    assert answer.status_code == 200, answer.text
    return answer.text


def refuse(site: Site, words: str) -> None:
    """Add a worker that is present, and takes nothing that needs torch."""
    worker = Worker(
        name="box:1-ab",
        host="box",
        processes=1,
        queues=["cpu"],
        device="cpu",
        versions={},
        models=[],
        self_check=SelfCheck.REFUSED,
        self_check_words=[words],
        self_checked_at=NOW,
        started_at=NOW,
    )
    with writing(site.engine) as session:
        announce_worker(session, worker, NOW)


# ----------------------------------------------------------------------------------------------------------- waiting


@pytest.mark.usefixtures("needs_torch")
def test_without_a_worker_it_visibly_waits(ada: Person) -> None:
    document = ada.submitted()
    assert (document["status"], document["stage"], document["queue_position"]) == ("queued", "waiting", 1)
    assert document["waiting_for"] == {"queue": "gpu", "since": "2026-01-10T12:00:00Z"}
    assert document["message"].endswith("waiting for a worker with torch since 10 Jan 2026, 12:00 UTC.")
    shown = page(ada, document["links"]["page"])
    markup.check(shown)
    assert "waiting for a worker with torch since 10 Jan 2026, 12:00 UTC" in text_of(shown)
    assert "Nothing is lost" in text_of(shown)


@pytest.mark.usefixtures("needs_torch")
def test_why_it_waits_is_for_organisers(site: Site, ada: Person) -> None:
    refuse(site, "bertscore all is <0.5>, and 0.7 was recorded.")
    document = ada.submitted()
    assert "refused" not in page(ada, document["links"]["page"])
    assert "0.5" not in str(get(ada, document))
    with writing(site.engine) as session:
        here = find_competition(session, COMPETITION)
        grant_role(session, here, ada.user, Role.ORGANISER, NOW, rights=(Right.GOLD,))
    assert "refused" not in page(ada, document["links"]["page"]), "it takes the right to submissions"
    boss = site.person("boss", is_administrator=True)
    with boss.client:
        shown = page(boss, document["links"]["page"])
    markup.check(shown)
    assert "Worker box:1-ab refused its self-check: bertscore all is &lt;0.5&gt;, and 0.7 was recorded." in shown


def test_what_any_worker_can_take_waits_for_its_turn_only(ada: Person) -> None:
    document = ada.submitted()
    assert (document["stage"], document["waiting_for"], document["progress"]) == ("queued", None, None)
    assert "It is next in line." in text_of(page(ada, document["links"]["page"]))


# ---------------------------------------------------------------------------------------------------------- progress


def test_while_it_is_scored_page_and_api_say_how_far_it_is(site: Site, ada: Person) -> None:
    document = ada.submitted()
    world.claim(site.engine, run_of(site, document))
    assert get(ada, document)["stage"] == "checking"
    change(ada, document, checked_at=NOW, items_done=500, items_total=2_000, seconds_left=150)
    found = get(ada, document)
    assert (found["stage"], found["stamp"]) == ("scoring", "running.500")
    assert found["progress"] == {"items_done": 500, "items_total": 2_000, "seconds_left": 150}
    shown = page(ada, document["links"]["page"])
    markup.check(shown)
    assert "Scoring 25 %" in text_of(shown)
    assert "500 of 2,000 items, about 3 min left." in text_of(shown)
    assert '<progress class="share" max="2000" value="500"' in shown
    assert "/live?seen=running.500" in shown


def test_after_the_end_no_progress_is_left(site: Site, ada: Person) -> None:
    document = ada.submitted()
    change(ada, document, checked_at=NOW, items_done=4, items_total=4)
    world.score(site.engine, run_of(site, document), 0.5)
    found = get(ada, document)
    assert (found["stage"], found["stamp"], found["progress"]) == ("scored", "scored", None)
    assert "<progress" not in page(ada, document["links"]["page"])


def test_whoever_has_seen_a_stamp_waits_for_the_next(site: Site, ada: Person) -> None:
    document = ada.submitted()
    world.claim(site.engine, run_of(site, document))
    answers: list[dict[str, Any]] = []
    reader = threading.Thread(target=lambda: answers.append(get(ada, document, wait=30, seen="running")))
    reader.start()
    time.sleep(0.3)
    assert not answers
    change(ada, document, checked_at=NOW, items_done=1, items_total=4)
    reader.join(60)
    assert [answer["stamp"] for answer in answers] == ["running.1"]
    assert get(ada, document, wait=30, seen="running")["stamp"] == "running.1", "that is news at once"


def test_readers_who_cannot_see_are_told_of_stages_and_not_of_every_item(site: Site, ada: Person) -> None:
    document = ada.submitted()
    held = world.sure(world.claim(site.engine, run_of(site, document)))
    change(ada, document, checked_at=NOW, items_done=2, items_total=4)
    live = document["links"]["page"] + "/live"
    assert 'id="announcement"' in page(ada, live, seen="queued")
    assert 'id="announcement"' in page(ada, live, seen="running")
    part = page(ada, live, seen="running.1")
    assert 'id="announcement"' not in part
    assert "Scoring 50 %" in text_of(part)
    assert world.finish(site.engine, held, world.scores_of(world.ZERO_SHOT, 0.5))
    assert 'id="announcement"' in page(ada, live, seen="running.2"), "another stage"


def test_whoever_waits_is_told_of_the_run_that_counts(quick_site: Site) -> None:
    """Check that a set's run, which still waits, does not matter."""
    engine = quick_site.engine
    sent = world.submit(engine, world.add_user(engine, "ada"))
    world.score(engine, sent.run_id, 0.5)
    assert set(runs_of(engine, start(engine, f"{PHASE}/{TASK}"))) == {sent.submission.id}
    assert _stamps(engine, [sent.submission.id]) == {sent.submission.id: "scored"}


def test_a_stamp_of_any_kind_is_only_compared(ada: Person) -> None:
    document = ada.submitted()
    assert get(ada, document, wait=30, seen="nonsense'")["stamp"] == "queued"
    refused: httpx.Response = ada.client.get(document["links"]["self"], params={"seen": "x" * 41})
    assert refused.status_code == 422
