"""An upload counts from the moment when it was here, however long it then waits for its turn."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import update

from app.base.db import writing
from app.models import Phase
from app.web.http import arrival
from app.web.http.arrival import Arrivals
from app.web.http.rate_limits import InFlightUploads, Try
from app.web.http.turns import Turns
from app.web.submissions import receiving
from tests.web.site import CONTENT, SUBMIT, Person, Site
from tests.world import NOW

END = NOW + timedelta(seconds=1)
LATER = NOW + timedelta(seconds=5)


@pytest.fixture
def soon_over(site: Site) -> None:
    """The phase ends in a second."""
    with writing(site.engine) as session:
        session.execute(update(Phase).values(ends_at=END))


@pytest.fixture
def busy(site: Site, soon_over: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Delay everything that arrives by five seconds."""
    refuse_early: Callable[..., object] = receiving._refuse_early

    def late(*arguments: Any) -> object:
        site.set_clock(LATER)
        return refuse_early(*arguments)

    monkeypatch.setattr(receiving, "_refuse_early", late)


def test_a_small_upload_that_waits_its_turn_counts_from_its_arrival(site: Site, ada: Person, busy: None) -> None:
    answer = ada.submit(CONTENT)
    assert answer.status_code == 202, answer.text
    assert answer.json()["submitted_at"] == "2026-01-10T12:00:00Z"


def test_one_that_arrives_at_the_end_is_late(site: Site, ada: Person, busy: None) -> None:
    site.set_clock(END)
    answer = ada.submit(CONTENT)
    assert (answer.status_code, answer.json()["error"]["details"]["now"]) == (409, END.isoformat())


def test_a_large_upload_counts_when_it_was_read(site: Site, ada: Person, busy: None) -> None:
    answer = ada.submit(CONTENT + b" " * arrival.SMALL_BYTES)
    assert (answer.status_code, answer.json()["error"]["details"]["now"]) == (409, LATER.isoformat())


@pytest.mark.parametrize("content", [CONTENT, CONTENT + b" " * arrival.SMALL_BYTES], ids=["small", "large"])
def test_a_second_try_behind_the_end_waits_for_the_first_that_came_in_time(
    site: Site, ada: Person, soon_over: None, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    """The first one is still on its way to be stored: a refusal of the second would not be true."""
    accept, earlier_answered = receiving._accept, InFlightUploads.earlier_answered
    first_is_here, second_is_here, second_waits = threading.Event(), threading.Event(), threading.Event()

    def held(*arguments: Any) -> object:
        first_is_here.set()
        assert second_waits.wait(30)
        return accept(*arguments)

    async def noted(tries: InFlightUploads, one: Try) -> None:
        waiting = asyncio.create_task(earlier_answered(tries, one))
        await asyncio.sleep(0)
        if second_is_here.is_set() and not waiting.done():
            second_waits.set()
        await waiting

    monkeypatch.setattr(receiving, "_accept", held)
    monkeypatch.setattr(InFlightUploads, "earlier_answered", noted)
    key = {"Idempotency-Key": "one"}
    with ThreadPoolExecutor(2) as senders:
        first = senders.submit(ada.submit, content, headers=key)
        assert first_is_here.wait(30)
        site.set_clock(LATER)
        second_is_here.set()
        second = senders.submit(ada.submit, content, headers=key)
        second.add_done_callback(lambda _: second_waits.set())  # or it did not wait, and was refused
    answers = [first.result(), second.result()]
    assert [answer.status_code for answer in answers] == [202, 202], answers[1].text
    assert answers[0].json()["id"] == answers[1].json()["id"]
    assert site.submissions() == 1
    assert site.app.state.server.tries._whole == {}, "nothing is remembered of what was answered"


def test_a_second_try_is_late_if_the_first_was(site: Site, ada: Person, soon_over: None) -> None:
    site.set_clock(LATER)
    key = {"Idempotency-Key": "one"}
    answers = [ada.submit(CONTENT, headers=key), ada.submit(CONTENT, headers=key)]
    assert [answer.status_code for answer in answers] == [409, 409]
    assert site.submissions() == 0


@pytest.mark.parametrize("other", [{"key": b"two"}, {"who": b"Bearer evg_b"}], ids=["another key", "another person"])
def test_only_tries_of_the_same_upload_wait_for_each_other(other: dict[str, bytes]) -> None:
    tries = InFlightUploads()
    with tries.request(_head()) as first, tries.request(_head(**other)) as second, tries.request(_head()) as third:
        for one in (first, second, third):
            tries.note_whole(one)
        assert asyncio.run(_waits(tries, first)) is False
        assert asyncio.run(_waits(tries, second)) is False
        assert asyncio.run(_waits(tries, third)) is True


def _head(key: bytes = b"one", who: bytes = b"Bearer evg_a") -> dict[str, Any]:
    return {"type": "http", "headers": [(b"idempotency-key", key), (b"authorization", who)], "query_string": b""}


async def _waits(tries: InFlightUploads, one: Try) -> bool:
    waiting = asyncio.create_task(tries.earlier_answered(one))
    await asyncio.sleep(0)
    waits = not waiting.done()
    waiting.cancel()
    return waits


def test_what_is_held_of_small_uploads_is_bounded(site: Site, ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check an upload when too much is in memory already: it is read later, where large files are, and
    accepted, too.
    """
    monkeypatch.setattr(arrival, "HELD_BYTES", 0)
    noted = []
    monkeypatch.setattr(arrival, "_read_early", lambda receive: noted.append(receive))
    assert ada.submit(CONTENT).status_code == 202
    assert noted == []


@pytest.mark.parametrize("pause", [False, True], ids=["at once", "in pieces"])
def test_who_sends_slowly_is_read_all_the_same(
    site: Site, ada: Person, monkeypatch: pytest.MonkeyPatch, pause: bool
) -> None:
    """The first piece was taken early, the rest where large files are read."""
    monkeypatch.setattr(arrival, "SMALL_SECONDS", 0.05)
    body = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n' + CONTENT + b"\r\n--x--\r\n"
    head = (
        f"POST {SUBMIT} HTTP/1.1\r\nHost: x\r\nAuthorization: {ada.client.headers['Authorization']}\r\n"
        f"Content-Type: multipart/form-data; boundary=x\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    host, port = site.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        for piece in (head.encode() + body[:40], body[40:90], body[90:]):
            connection.sendall(piece)
            time.sleep(0.2 if pause else 0.0)
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
    assert answer.startswith(b"HTTP/1.1 202"), answer
    assert site.submissions() == 1


@pytest.mark.parametrize(
    ("unread", "heard"),
    [(b"all of it", ["http.request", "http.disconnect"]), (b"all of", ["http.disconnect", "http.disconnect"])],
    ids=["whole", "not whole"],
)
def test_an_upload_that_was_whole_is_taken_in_though_its_sender_gave_up(unread: bytes, heard: list[str]) -> None:
    """Check one that nobody had read by then; a second attempt after the deadline must find it."""
    got: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        got.extend([await receive(), await receive()])

    async def gone() -> Any:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        raise AssertionError(message)

    server = SimpleNamespace(tries=InFlightUploads(), clock=lambda: NOW)
    scope = {
        **_head(),
        "method": "POST",
        "path": SUBMIT,
        "headers": [(b"content-length", b"9")],
        "state": {"unread_body": bytearray(unread)},
        "app": SimpleNamespace(state=SimpleNamespace(server=server)),
    }
    asyncio.run(Arrivals(app)(scope, gone, send))
    assert [message["type"] for message in got] == heard
    assert got[0].get("body", b"") == (unread if heard[0] == "http.request" else b"")


def test_in_a_rush_nobody_looks_for_a_place_in_line(site: Site, ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check the response: the position needs all waiting runs to be read, and is found by requesting the submission."""
    monkeypatch.setattr(Turns, "waiting", 3)
    document = ada.submitted()
    assert document["queue_position"] is None
    assert ada.client.get(document["links"]["self"]).json()["queue_position"] == 1
