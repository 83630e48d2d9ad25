"""Many wait for news: one look at the database for all of them, a few places for each person, and nobody forgotten."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from uuid import UUID

import httpx
import pytest
from sqlalchemy import Engine, update
from sqlalchemy.exc import OperationalError

from app.base.db import writing
from app.models import RunStatus, ScoringRun, Validation
from app.web.http.waiting import PER_PERSON, Look
from app.web.submissions import waiting as looking
from tests.processes import wait_until
from tests.web.site import SUBMIT, Person, Site

#: The threads in which routes run that are not asynchronous: anyio's default.
POOL_THREADS = 40


class GatedLook:
    """`look` with a gate before it: records its arguments, and how many looked at a time."""

    def __init__(self, look: Look) -> None:
        self.gate = threading.Event()
        self.asked: list[int] = []
        self.inside = self.most = 0
        self._look = look

    def __call__(self, engine: Engine, wanted: Sequence[UUID]) -> dict[UUID, str]:
        self.asked.append(len(wanted))
        self.inside += 1
        self.most = max(self.most, self.inside)
        assert self.gate.wait(120), "nobody opened the gate"
        self.inside -= 1
        return dict(self._look(engine, wanted))


@pytest.fixture
def crowd() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(max_workers=64) as executor:
        yield executor


@pytest.fixture
def look(monkeypatch: pytest.MonkeyPatch) -> Iterator[GatedLook]:
    gated = GatedLook(looking._stamps)
    monkeypatch.setattr(looking, "_stamps", gated)
    yield gated
    gated.gate.set()


@pytest.fixture
def people(site: Site) -> Iterator[list[Person]]:
    with ExitStack() as stack:
        found = [site.person(name) for name in ("ada", "bob", "cat", "dan", "fay")]
        for person in found:
            stack.enter_context(person.client)
        yield found


def waiting(crowd: ThreadPoolExecutor, person: Person, address: str, count: int) -> list[Future[httpx.Response]]:
    return [crowd.submit(person.client.get, address, params={"wait": 60}, timeout=120) for _ in range(count)]


def end_all(site: Site) -> None:
    with writing(site.engine) as session:
        session.execute(update(ScoringRun).values(status=RunStatus.FAILED))


def test_one_look_asks_for_all_who_wait(
    site: Site, people: list[Person], look: GatedLook, crowd: ThreadPoolExecutor
) -> None:
    addresses = [(person, person.submitted()["links"]["self"]) for person in people]
    sent: list[Future[httpx.Response]] = []
    for person, address in addresses:
        sent += waiting(crowd, person, address, PER_PERSON)
    server = site.app.state.server
    wait_until(lambda: server.waiting.count == len(sent) and look.inside == 1, "all wait, and one looks for them")
    before = len(look.asked)
    assert len(sent) > POOL_THREADS
    assert people[0].client.get("/api/v1/competitions", timeout=60).status_code == 200, "those who wait hold no thread"
    end_all(site)
    look.gate.set()
    answers = [answer.result() for answer in sent]
    assert {answer.json()["status"] for answer in answers} == {"failed"}
    assert len(look.asked) <= before + 1, "those who waited meanwhile were looked for together"
    assert max(look.asked) <= len(addresses), "once for each submission, however many wait for it"
    assert look.most == 1
    assert server.waiting.count == 0


def test_a_person_has_a_few_places_and_others_have_theirs(
    site: Site, people: list[Person], look: GatedLook, crowd: ThreadPoolExecutor
) -> None:
    ada, bob, *_ = people
    mine, theirs = ada.submitted()["links"]["self"], bob.submitted()["links"]["self"]
    sent = waiting(crowd, ada, mine, PER_PERSON)
    wait_until(lambda: site.app.state.server.waiting.count == PER_PERSON, "all places are taken")
    refused = ada.client.get(mine, params={"wait": 60})
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "limit_reached")
    assert int(refused.headers["Retry-After"]) > 0
    assert ada.client.get(mine).status_code == 200, "who does not wait is answered"
    sent += waiting(crowd, bob, theirs, 1)
    wait_until(lambda: site.app.state.server.waiting.count == PER_PERSON + 1, "another person has a place")
    end_all(site)
    look.gate.set()
    assert {answer.result().status_code for answer in sent} == {200}
    assert ada.client.get(mine, params={"wait": 60}).status_code == 200, "the places are free again"


def test_who_waits_in_vain_is_answered_when_the_time_is_over(site: Site, ada: Person) -> None:
    answer = ada.client.get(ada.submitted()["links"]["self"], params={"wait": 0.05})
    assert (answer.status_code, answer.json()["status"]) == (200, "queued")
    assert site.app.state.server.waiting.count == 0


def test_nobody_waits_longer_than_the_server_lets_them(site: Site, ada: Person) -> None:
    site.settings.long_poll_limit_seconds = 0.05
    assert ada.client.get(ada.submitted()["links"]["self"], params={"wait": 3600}).status_code == 200


def test_checks_that_are_waited_for_take_places_too(
    site: Site, ada: Person, crowd: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    gated = GatedLook(looking._statuses)
    monkeypatch.setattr(looking, "_statuses", gated)
    check = ada.submit(path=SUBMIT.replace("/submissions", "/validations")).json()["links"]["self"]
    sent = waiting(crowd, ada, check, PER_PERSON)
    try:
        wait_until(lambda: site.app.state.server.waiting.count == PER_PERSON, "all places are taken")
        assert ada.client.get(check, params={"wait": 60}).status_code == 429
        assert gated.most == 1
    finally:
        with writing(site.engine) as session:
            session.execute(update(Validation).values(status="failed"))
        gated.gate.set()
    assert {answer.result().json()["status"] for answer in sent} == {"failed"}


def test_who_waits_is_told_when_the_database_goes_away(
    site: Site, ada: Person, crowd: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(engine: Engine, wanted: Sequence[UUID]) -> dict[UUID, str]:
        raise OperationalError("select", {}, Exception("gone"))

    monkeypatch.setattr(looking, "_stamps", away)
    answer = ada.client.get(ada.submitted()["links"]["self"], params={"wait": 60}, timeout=60)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "database_unavailable")
    monkeypatch.undo()
    assert ada.client.get("/healthz").status_code == 200


def test_who_hangs_up_gives_the_place_back(site: Site, look: GatedLook, ada: Person) -> None:
    address = ada.submitted()["links"]["self"]
    look.gate.set()
    with pytest.raises(httpx.ReadTimeout):
        ada.client.get(address, params={"wait": 60}, timeout=httpx.Timeout(30, read=0.5))
    waiting = site.app.state.server.waiting
    wait_until(lambda: waiting.count == 0, "the place is free")
    wait_until(lambda: all(watch.watching.done() for watch in waiting._watches.values()), "nobody looks any more")
