"""An upload counts from the moment when it was here, however long it then waits for its turn."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

from app.base.db import writing
from app.models import Phase
from app.web.http import arrival
from app.web.submissions import receiving
from tests.web.site import CONTENT, SUBMIT, Person, Site
from tests.world import NOW

END = NOW + timedelta(seconds=1)
LATER = NOW + timedelta(seconds=5)


@pytest.fixture
def busy(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The phase ends in a second; whatever arrives waits for five until somebody has time for it."""
    with writing(site.engine) as session:
        session.execute(update(Phase).values(ends_at=END))
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
