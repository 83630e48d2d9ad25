"""Passwords that wait to be checked, however many, hold no thread: the server continues, and nobody waits
without end.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import cast

import httpx
import pytest
from argon2 import PasswordHasher

from app.models import ApiToken
from app.people import auth
from app.web.http.turns import Turns
from app.web.people import passwords
from tests.processes import wait_until
from tests.web.limits import limited
from tests.web.site import BROWSER, PASSWORD, Person, Site, csrf_of, log_in, register

#: The threads in which routes run that are not asynchronous: anyio's default.
POOL_THREADS = 40


class GatedHasher:
    """Argon2 that waits until the gate opens; `most` hashed at a time."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.inside = self.most = 0
        self._cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
        self._lock = threading.Lock()

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self._lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        assert self.gate.wait(120), "nobody opened the gate"
        try:
            yield
        finally:
            with self._lock:
                self.inside -= 1

    def hash(self, password: str) -> str:
        with self._counted():
            return self._cheap.hash(password)

    def verify(self, stored: str, password: str) -> bool:
        with self._counted():
            return self._cheap.verify(stored, password)


@pytest.fixture
def hasher(monkeypatch: pytest.MonkeyPatch) -> Iterator[GatedHasher]:
    gated = GatedHasher()
    monkeypatch.setattr(auth, "_hasher", lambda: gated)
    auth._decoy_hash.cache_clear()
    yield gated
    gated.gate.set()


@pytest.fixture
def crowd() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(max_workers=128) as executor:
        yield executor


@pytest.fixture
def turns(site: Site) -> Turns:
    return cast(Turns, site.app.state.password_turns)


def make_token(site: Site, number: int) -> httpx.Response:
    with site.client() as client:
        return client.post(
            "/api/v1/tokens", json={"username": "ada", "password": PASSWORD, "name": f"t{number}"}, timeout=120
        )


def test_health_is_told_while_every_thread_and_every_turn_is_taken(
    site: Site, eve: Person, hasher: GatedHasher, crowd: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(site)
    inside, leave, find_token = threading.Semaphore(0), threading.Event(), auth.find_token

    def stuck(*asked: object, **more: object) -> ApiToken | None:
        inside.release()
        assert leave.wait(120)
        return find_token(*asked, **more)  # type: ignore[arg-type]

    hasher.gate.clear()
    try:
        log_in_stuck = crowd.submit(make_token, site, 0)
        wait_until(lambda: hasher.inside == 1, "a password is being checked")
        monkeypatch.setattr(auth, "find_token", stuck)
        readers = [crowd.submit(eve.client.get, "/api/v1/me", timeout=120) for _ in range(POOL_THREADS)]
        for _ in range(POOL_THREADS - 1):  # one has the password
            assert inside.acquire(timeout=60)
        with site.client() as client:
            assert client.get("/healthz", timeout=20).status_code == 200
    finally:
        leave.set()
        hasher.gate.set()
    assert {reader.result().status_code for reader in readers} == {200}
    assert log_in_stuck.result().status_code == 201


def test_log_ins_that_wait_hold_no_thread_and_those_beyond_are_told_to_come_back(
    site: Site, turns: Turns, hasher: GatedHasher, crowd: ThreadPoolExecutor
) -> None:
    register(site)
    limited(site, logins_per_hour_and_account=0)
    many = POOL_THREADS + 40
    hasher.gate.clear()
    waiting = [crowd.submit(make_token, site, number) for number in range(many)]
    kept = 1 + passwords.WAITING_PER_ADDRESS
    wait_until(lambda: sum(one.done() for one in waiting) == many - kept, "those beyond have their answer")
    with site.client(**BROWSER) as browser:
        assert browser.get("/login", timeout=20).status_code == 200, "pages need a thread, and get one"
    assert (hasher.inside, turns.waiting) == (1, passwords.WAITING_PER_ADDRESS)
    hasher.gate.set()
    answers = [one.result() for one in waiting]
    assert sorted(answer.status_code for answer in answers) == kept * [201] + (many - kept) * [503]
    refused = next(answer for answer in answers if answer.status_code == 503)
    assert refused.json()["error"]["code"] == "too_busy"
    assert int(refused.headers["Retry-After"]) > 0
    assert hasher.most == 1


def test_every_way_to_hash_a_password_waits_for_its_turn(
    site: Site, turns: Turns, hasher: GatedHasher, crowd: ThreadPoolExecutor
) -> None:
    with site.client() as program, site.client(**BROWSER) as visitor, log_in(site, "bob") as bob:
        register(site)
        visitor.post("/password/forgot", data={"username": "ada", "csrf_token": csrf_of(visitor.get("/login").text)})
        visiting, own = csrf_of(visitor.get("/login").text), csrf_of(bob.get("/account").text)
        mine, new = {"csrf_token": own}, "staple of another kind"
        ways: list[Callable[[], httpx.Response]] = [
            lambda: program.post("/api/v1/register", json=_account("cat")),
            lambda: program.post("/api/v1/tokens", json={"username": "ada", "password": PASSWORD, "name": "x"}),
            lambda: visitor.post("/register", data={**_account("dan"), "csrf_token": visiting}),
            lambda: visitor.post("/login", data={"username": "ada", "password": PASSWORD, "csrf_token": visiting}),
            lambda: visitor.post("/password/new", data={"link": "none", "password": new, "csrf_token": visiting}),
            lambda: bob.post("/account/email", data={**mine, "email": "b@example.org", "email_password": PASSWORD}),
            lambda: bob.post("/account/password", data={**mine, "current_password": PASSWORD, "password": new}),
        ]
        hasher.most = 0
        hasher.gate.clear()
        sent: list[Future[httpx.Response]] = []
        for count, way in enumerate(ways):
            sent.append(crowd.submit(way))
            wait_until(lambda count=count: hasher.inside + turns.waiting == 1 + count, f"way {count} waits")  # type: ignore[misc]
        assert hasher.inside == 1
        hasher.gate.set()
        assert [answer.result().status_code < 500 for answer in sent] == len(ways) * [True]
    assert hasher.most == 1


def _account(name: str) -> dict[str, str]:
    return {"username": name, "email": f"{name}@example.org", "password": PASSWORD}
