"""Tries of one upload that reach different web processes: none is refused while another is on its way to be stored."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import httpx
import pytest
from sqlalchemy import Engine, event, text, update

from app.base.db import writing
from app.models import Phase
from app.web.http import arrival, rate_limits
from app.web.http.rate_limits import Elsewhere, InFlightUploads, publish_in_flight
from tests import world
from tests.processes import wait_until
from tests.web.site import CONTENT, Site
from tests.whole import site_of
from tests.world import NOW

pytestmark = pytest.mark.services

UPLOAD = ("Bearer x", "", "one")
END = NOW + timedelta(seconds=1)


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(rate_limits, "TELLING_SECONDS", 0.05)


@pytest.fixture
def two(postgresql_engine: Engine) -> Iterator[tuple[Elsewhere, Elsewhere]]:
    here, there = Elsewhere(postgresql_engine), Elsewhere(postgresql_engine)
    yield here, there
    here.close()
    there.close()


@pytest.fixture
def site(postgresql_engine: Engine) -> Iterator[Site]:
    """A web process of several, with a phase that ends in a second."""
    with site_of(postgresql_engine) as found:
        world.add_competition(found.engine)
        with writing(found.engine) as session:
            session.execute(update(Phase).values(ends_at=END))
        found.set_clock(NOW)
        yield found


def test_what_is_on_its_way_here_is_known_there_until_it_is_answered(two: tuple[Elsewhere, Elsewhere]) -> None:
    here, there = two
    here.tell([UPLOAD, ("Bearer y", "", "two")])
    assert [there.has(UPLOAD), here.has(UPLOAD)] == [True, False], "what is here is no reason to wait for others"
    there.tell([UPLOAD])
    assert here.has(UPLOAD), "both have a try of it"
    here.tell([])
    assert [there.has(UPLOAD), here.has(UPLOAD)] == [False, True]


def test_a_whole_rush_is_told_at_once(two: tuple[Elsewhere, Elsewhere], postgresql_engine: Engine) -> None:
    here, there = two
    uploads = [("Bearer x", "", str(number)) for number in range(50)]
    here.tell(uploads[:1])
    asked: list[str] = []
    event.listen(postgresql_engine, "before_cursor_execute", lambda *told: asked.append(told[2]))
    here.tell(uploads[1:])
    assert len(asked) == 2, asked
    assert [there.has(one) for one in (uploads[0], uploads[1], uploads[-1])] == [False, True, True]


def test_a_process_that_loses_the_database_tells_once_more(
    two: tuple[Elsewhere, Elsewhere], postgresql_engine: Engine
) -> None:
    here, there = two
    here.tell([UPLOAD])
    with postgresql_engine.connect() as other:
        other.execute(text("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted"))
    wait_until(lambda: not there.has(UPLOAD), "the lock is gone with its connection")
    here.tell([])
    here.tell([UPLOAD])
    assert there.has(UPLOAD)


def test_only_what_waits_for_a_while_and_may_still_be_stored_is_told(two: tuple[Elsewhere, Elsewhere]) -> None:
    here, there = two

    async def serve() -> list[bool]:
        tries, told = InFlightUploads(), []
        reporting_progress = asyncio.create_task(publish_in_flight(tries, here))
        scope = {"headers": [(b"idempotency-key", b"one"), (b"authorization", b"Bearer x")], "type": "http"}
        with tries.request(scope) as one:
            tries.note_whole(one)
            told.append(await until(True))
            one.is_refused = True
            told.append(await until(False))
        reporting_progress.cancel()
        return told

    async def until(wanted: bool) -> bool:
        for _ in range(500):
            if await asyncio.to_thread(there.has, UPLOAD) is wanted:
                return True
            await asyncio.sleep(0.02)
        return False

    assert asyncio.run(serve()) == [True, True]


def test_a_second_try_at_another_process_behind_the_end_gets_the_first_one_s_answer(
    site: Site, postgresql_engine: Engine, two: tuple[Elsewhere, Elsewhere], monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, first_process = site.person("ada"), two[0]
    first_process.tell([(ada.client.headers["authorization"], "", "one")])
    site.set_clock(END)
    asked, answers = threading.Event(), list[httpx.Response]()
    has = Elsewhere.has

    def noted(elsewhere: Elsewhere, upload: tuple[str, ...]) -> bool:
        asked.set()
        return has(elsewhere, upload)

    monkeypatch.setattr(Elsewhere, "has", noted)
    second = threading.Thread(target=lambda: answers.append(ada.submit(headers={"Idempotency-Key": "one"})))
    second.start()
    assert asked.wait(30), "it would be refused, and looks first"
    accepted = world.submit(postgresql_engine, ada.user, NOW, content=CONTENT.decode(), key="one")
    first_process.tell([])
    second.join(30)
    assert (answers[0].status_code, answers[0].json()["id"]) == (202, str(accepted.submission.id))


def test_a_second_try_that_overtakes_what_the_first_one_s_process_tells_waits_for_it(
    site: Site, postgresql_engine: Engine, two: tuple[Elsewhere, Elsewhere], monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, first_process = site.person("ada"), two[0]
    site.set_clock(END)
    monkeypatch.setattr(rate_limits, "TELLING_SECONDS", 2.0)
    waits, answered = threading.Event(), Elsewhere.answered

    async def noted(elsewhere: Elsewhere, upload: tuple[str, ...]) -> None:
        waits.set()
        await answered(elsewhere, upload)

    monkeypatch.setattr(Elsewhere, "answered", noted)
    with ThreadPoolExecutor() as senders:
        second = senders.submit(ada.submit, headers={"Idempotency-Key": "one"})
        assert waits.wait(30)
        first_process.tell([(ada.client.headers["authorization"], "", "one")])
        accepted = world.submit(postgresql_engine, ada.user, NOW, content=CONTENT.decode(), key="one")
        first_process.tell([])
    assert (second.result().status_code, second.result().json()["id"]) == (202, str(accepted.submission.id))


def test_who_waits_for_another_process_lets_others_have_the_turn(
    site: Site, two: tuple[Elsewhere, Elsewhere], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that two processes do not block each other when all their turns are taken by second attempts waiting for
    first ones.
    """
    people = [site.person(f"person{number}") for number in range(arrival.AT_ONCE + 1)]
    uploads = [(person.client.headers["authorization"], "", "one") for person in people]
    two[0].tell(uploads)
    site.set_clock(END)
    all_wait, waiting, has = threading.Event(), set[tuple[str, ...]](), Elsewhere.has

    def noted(elsewhere: Elsewhere, upload: tuple[str, ...]) -> bool:
        waiting.add(upload)
        if len(waiting) == len(people):
            all_wait.set()
        return has(elsewhere, upload)

    monkeypatch.setattr(Elsewhere, "has", noted)
    with ThreadPoolExecutor() as senders:
        answers = [senders.submit(person.submit, headers={"Idempotency-Key": "one"}) for person in people]
        have_all = all_wait.wait(30)
        two[0].tell([])
    assert have_all, "more of them wait than have turns"
    assert {answer.result().status_code for answer in answers} == {409}


def test_without_another_try_who_is_late_is_refused_as_ever(site: Site) -> None:
    ada = site.person("ada")
    site.set_clock(END)
    refused = ada.submit(headers={"Idempotency-Key": "one"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "phase_not_open")
    assert site.submissions() == 0
