"""Attacks of one visitor on all others: storms of log-ins, of long polls, of half bodies; others are still served. The
promises are in `docs/decisions/026-load.md`; how each is kept is tested with every commit.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from sqlalchemy import Engine, update

from app.base.db import make_engine, writing
from app.models import Phase
from app.people import auth
from tests import world
from tests.processes import START_SECONDS, short_folder, stop
from tests.services import environment_of, evergold, start_web
from tests.web.site import talk

pytestmark = [pytest.mark.soak, pytest.mark.services]
PASSWORD = "a long pass phrase"
LOG_INS, POLLS, HALF_BODIES = 200, 300, 1_100
#: Of health while 200 log-ins wait, as decision 027 promises it for a quiet machine, and what one may take that is
#: busy with much else; before, nobody was answered in 12 s.
P99_SECONDS, BUSY_P99_SECONDS = 0.1, 10.0


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as path:
        yield path


@pytest.fixture
def database(folder: Path, address: str) -> Iterator[Engine]:
    """The server's own, with a competition that is open now."""
    engine = make_engine(f"sqlite:///{folder / 'data' / 'evergold.db'}")
    world.add_competition(engine)
    with writing(engine) as session:
        session.execute(update(Phase).values(ends_at=None))
    yield engine
    engine.dispose()


@pytest.fixture
def address(folder: Path) -> Iterator[str]:
    """A real web process, alone with its database."""
    with ExitStack() as stack:
        (folder / "phases.yaml").write_text("version: 1\ncompetitions: []\n")
        environment = environment_of(
            data_dir=folder / "data", phases_file=folder / "phases.yaml", failed_logins_per_hour_and_address=0
        )
        assert evergold("apply", folder, environment, "apply", "--migrate").process.wait(2 * START_SECONDS) == 0
        web, url = start_web(folder, environment)
        stack.callback(stop, web)
        yield url


def seconds_during(address: str, attack: Callable[[], object]) -> list[float]:
    """Return how long each request to this address took during the attack, shortest first."""
    over, took = threading.Event(), list[float]()

    def look() -> None:
        with httpx.Client(timeout=60) as client:
            while not over.is_set():
                began = time.perf_counter()
                assert client.get(address).status_code == 200
                took.append(time.perf_counter() - began)
                over.wait(0.02)

    with ThreadPoolExecutor(1) as looking:
        looked = looking.submit(look)
        try:
            attack()
        finally:
            over.set()
        looked.result(120)
    return sorted(took)


def status_of(address: str, method: str, path: str, head: str, body: str = "") -> int:
    """Return the status of a request over a bare socket: hundreds of clients would otherwise keep this process busy,
    and distort what it measures.
    """
    request = f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{head}\r\n\r\n{body}"
    return int(talk(address, request.encode(), 300).split()[1])


def report(what: str, took: list[float], answers: Counter[int]) -> None:
    """Print figures for people; the assertion is far from the promised value, because soaks run on busy machines."""
    p99 = took[int(0.99 * (len(took) - 1))]
    times = f"p99 {1000 * p99:.0f} ms, longest {1000 * took[-1]:.0f} ms"
    print(f"\n{what}: {dict(answers)}; looked {len(took)} times, {times}")  # noqa: T201 - the soak's report
    assert p99 <= BUSY_P99_SECONDS, f"promised is {P99_SECONDS} s on a quiet machine"


def test_health_is_told_while_two_hundred_log_ins_wait(address: str) -> None:
    answers: Counter[int] = Counter()

    def log_in(number: int) -> int:
        body = json.dumps({"username": f"nobody{number}", "password": PASSWORD, "name": "x"})
        head = f"Content-Type: application/json\r\nContent-Length: {len(body)}"
        return status_of(address, "POST", "/api/v1/tokens", head, body)

    def attack() -> None:
        with ThreadPoolExecutor(LOG_INS) as crowd:
            answers.update(crowd.map(log_in, range(LOG_INS)))

    took = seconds_during(f"{address}/healthz", attack)
    assert set(answers) == {401, 503}
    assert answers[401] >= 40, "those who had a place were told"
    report(f"{LOG_INS} wrong log-ins at once", took, answers)


def test_half_bodies_shut_no_door(address: str) -> None:
    half = b"POST /api/v1/register HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"
    host, port = address.removeprefix("http://").split(":")
    closed: Counter[int] = Counter()

    def attack() -> None:
        with ExitStack() as stack:
            sent = []
            for _ in range(HALF_BODIES):
                sent.append(stack.enter_context(socket.create_connection((host, int(port)), timeout=120)))
                sent[-1].sendall(half)
            for connection in sent:
                with suppress(ConnectionError):
                    closed[int((connection.recv(4096) or b"HTTP/1.1 000").split()[1])] += 1

    took = seconds_during(f"{address}/healthz", attack)
    assert closed == {408: HALF_BODIES}, "each was told, and let go"
    report(f"{HALF_BODIES} half bodies", took, closed)


@pytest.mark.parametrize(("people", "answered"), [(1, {200: 10, 429: 290}), (30, {200: 300})], ids=["one", "thirty"])
def test_three_hundred_who_wait_for_news_leave_pages_alone(
    address: str, database: Engine, people: int, answered: dict[int, int]
) -> None:
    polls = [poll for number in range(people) for poll in (POLLS // people) * [queued(database, f"person{number}")]]
    answers: Counter[int] = Counter()

    def wait(poll: tuple[str, str]) -> int:
        path, token = poll
        return status_of(address, "GET", f"{path}?wait=20", f"Authorization: Bearer {token}")

    def attack() -> None:
        with ThreadPoolExecutor(POLLS) as crowd:
            answers.update(crowd.map(wait, polls))

    took = seconds_during(f"{address}/api/v1/competitions", attack)
    assert dict(answers) == answered
    report(f"{POLLS} polls of {people}", took, answers)


def queued(database: Engine, username: str) -> tuple[str, str]:
    """The address of a submission that nobody scores, and its owner's token."""
    user = world.add_user(database, username)
    submission = world.submit(database, user, datetime.now(UTC)).submission
    with writing(database) as session:
        _, token = auth.create_token(session, user, "soak", datetime.now(UTC))
    return f"/api/v1/submissions/{submission.id}", token
