"""Connections that send half of something, or nothing, are closed, and never so many that others are refused."""

from __future__ import annotations

import re
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from http.client import HTTPConnection
from queue import SimpleQueue

import httpx
import pytest
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse

from app.server import web as connections
from app.server.web import web_config
from app.web.http import arrival
from app.web.http.arrival import TimelyBodies
from tests.processes import short_folder, start, stop, wait_until
from tests.services import environment_of, free_port, set_up
from tests.web.site import read_all

HALF_HEAD = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
POST = b"POST / HTTP/1.1\r\nHost: x\r\n"
HALF_BODY = b"POST /api/v1/register HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"
Address = tuple[str, int]
HELD_SECONDS = 1.0
holding = threading.Event()
unread: SimpleQueue[bytes] = SimpleQueue()


def counting() -> FastAPI:
    """Respond with how much arrived."""
    app = FastAPI()

    @app.post("/")
    async def count(request: Request) -> int:
        return len(await request.body())

    @app.get("/arrival")
    async def arrival(request: Request) -> PlainTextResponse:
        return PlainTextResponse(f"{request.state.whole_at} {time.monotonic()}")

    @app.post("/given-up")
    async def given_up(request: Request) -> None:
        unread.put(bytes(request.state.unread_body))

    @app.get("/hold")
    async def hold() -> None:
        """Block the event loop, so that nothing else is read meanwhile."""
        holding.set()
        time.sleep(HELD_SECONDS)  # noqa: ASYNC251 - that is the point

    app.state.error_page = None
    app.add_middleware(TimelyBodies)
    return app


def hold(address: Address) -> threading.Thread:
    """Keep the server's event loop from reading; returns when it has begun."""
    holding.clear()
    thread = threading.Thread(target=httpx.get, args=("http://{}:{}/hold".format(*address),))
    thread.start()
    assert holding.wait(30)
    return thread


@pytest.fixture
def address() -> Iterator[Address]:
    """Yield the address at which our own way to start uvicorn serves."""
    server = uvicorn.Server(web_config(counting(), "127.0.0.1", 0))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        wait_until(lambda: server.started, "the server started")
        yield server.servers[0].sockets[0].getsockname()
    finally:
        server.should_exit = True
        thread.join(60)


# -------------------------------------------------------------------------------------------------------------- arrival


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says when bytes came")
def test_a_request_was_here_when_its_last_byte_was_however_late_it_is_read(address: Address) -> None:
    """Check the time of arrival while the event loop is busy with others, as in a rush."""
    with closing(HTTPConnection(*address)) as sender:
        sender.request("GET", "/arrival")
        assert sender.getresponse().read()
        held = hold(address)
        sent_at = time.monotonic()
        sender.request("GET", "/arrival")
        was_sent_at = time.monotonic()
        whole_at, read_at = map(float, sender.getresponse().read().split())
        held.join()
    assert read_at - was_sent_at > HELD_SECONDS / 2
    assert sent_at <= whole_at <= was_sent_at + HELD_SECONDS / 4


def test_what_came_whole_is_there_though_its_sender_gave_up_before_it_was_read(address: Address) -> None:
    held = hold(address)
    with socket.create_connection(address) as sender:
        sender.sendall(b"POST /given-up HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nall of it")
    held.join()
    assert unread.get(timeout=30) == b"all of it"


# ---------------------------------------------------------------------------------------------------------------- heads


@pytest.mark.parametrize(
    ("sent", "answers"),
    [
        (b"", []),
        (HALF_HEAD, [b"HTTP/1.1 408 Request Timeout"]),
        (
            POST + b"Content-Length: 1\r\n\r\nx" + HALF_HEAD,
            [b"HTTP/1.1 200 OK", b"HTTP/1.1 408 Request Timeout"],
        ),
    ],
    ids=["nothing", "half a head", "half a second head"],
)
def test_half_a_head_is_not_waited_for(
    address: Address, sent: bytes, answers: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.5)
    with socket.create_connection(address, timeout=60) as connection:
        connection.sendall(sent)
        told = read_all(connection)  # until the server closes
    assert re.findall(rb"HTTP/1.1 [^\r]*", told) == answers


def test_an_endless_head_is_cut_off(address: Address) -> None:
    filler = 50_000 * (b"X-Filler: " + b"x" * 1000 + b"\r\n")
    with socket.create_connection(address, timeout=60) as connection:
        connection.sendall(HALF_HEAD)
        with pytest.raises(ConnectionError):
            connection.sendall(filler)


def test_a_large_body_in_the_wake_of_its_head_is_no_endless_head(address: Address) -> None:
    response = httpx.post(f"http://{address[0]}:{address[1]}/", content=b"x" * 3_000_000, timeout=60)
    assert response.json() == 3_000_000


# --------------------------------------------------------------------------------------------------------------- bodies


@pytest.mark.parametrize(
    "beginning",
    [
        b"Content-Length: 100\r\n\r\n",
        b"Content-Length: 100\r\n\r\nhalf",
        b"Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
    ],
    ids=["none of it", "half", "half, in chunks"],
)
def test_half_a_body_is_not_waited_for(address: Address, beginning: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrival, "GRACE_SECONDS", 0.2)
    with socket.create_connection(address, timeout=60) as connection:
        connection.sendall(POST + beginning)
        answer = read_all(connection)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"upload_stalled" in answer
    assert b"connection: close" in answer.lower()


def test_a_body_that_drips_is_cut_off(address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check a body that is never silent for long, and yet takes longer than so little may."""
    monkeypatch.setattr(arrival, "GRACE_SECONDS", 0.5)
    with socket.create_connection(address, timeout=60) as connection:
        connection.sendall(POST + b"Content-Length: 100000\r\n\r\n")
        with suppress(ConnectionError):
            for _ in range(600):
                connection.sendall(b"x")
                time.sleep(0.05)
        with suppress(ConnectionError):
            connection.settimeout(5)
            assert connection.recv(100).startswith(b"HTTP/1.1 408 ")


def test_a_body_that_flows_earns_time(address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrival, "GRACE_SECONDS", 0.5)
    monkeypatch.setattr(arrival, "SLOWEST_BYTES_PER_SECOND", 10)

    def slowly() -> Iterator[bytes]:
        for _ in range(15):
            yield b"x" * 100  # which earns 10 s, however busy the machine is
            time.sleep(0.1)

    response = httpx.post(f"http://{address[0]}:{address[1]}/", content=slowly(), timeout=60)
    assert response.json() == 1500


# ----------------------------------------------------------------------------------------------------------- open files


@pytest.mark.services
def test_more_half_requests_than_open_files_leave_the_door_open() -> None:
    """Run the real web process, with 256 open files allowed, under 600 connections with half a request each."""
    few_files = (
        "import os, resource, sys; hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1];"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard)); os.execv(sys.argv[1], sys.argv[1:])"
    )
    with short_folder() as folder, ExitStack() as stack:
        (folder / "phases.yaml").write_text("version: 1\ncompetitions: []\n")
        environment = environment_of(data_dir=folder / "data", phases_file=folder / "phases.yaml")
        set_up(environment)
        port = free_port()
        python = [sys.executable, "-P"]
        web = [*python, "-m", "evergold.cli", "web", "--port", str(port)]
        service = start("web", [*python, "-c", few_files, *web], folder, environment)
        stack.callback(stop, service)
        url = f"http://127.0.0.1:{port}"
        wait_until(lambda: answers(url), "it answers", service)
        for number in range(600):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))
            connection.sendall(HALF_BODY if number % 2 else HALF_HEAD)
        assert answers(url)
        competitions = httpx.get(f"{url}/api/v1/competitions", timeout=60)
        assert competitions.status_code == 200, "the database has its files, too"


def answers(url: str) -> bool:
    with suppress(httpx.HTTPError):
        return httpx.get(f"{url}/healthz", timeout=20).status_code == 200
    return False


def test_who_is_one_too_many_is_told_so_and_who_comes_then_is_not_let_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check a system that allows only few open files."""
    monkeypatch.setattr(connections, "KEPT_FILES", 4)
    monkeypatch.setattr("app.server.web.raise_open_files", lambda: 20)
    assert connections.connections_limit(20) == 12
    server = uvicorn.Server(web_config(counting(), "127.0.0.1", 0))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        wait_until(lambda: server.started, "the server started")
        place = server.servers[0].sockets[0].getsockname()
        with ExitStack() as stack:
            for _ in range(12):
                stack.enter_context(socket.create_connection(place, timeout=60)).sendall(HALF_HEAD)
            wait_until(lambda: len(server.server_state.connections) == 12, "they are here")
            refused = httpx.post(f"http://{place[0]}:{place[1]}/", content=b"x", timeout=60)
            assert refused.status_code == 503
            more = [stack.enter_context(socket.create_connection(place, timeout=60)) for _ in range(8)]
            assert b"" in [read_all(connection) for connection in more[3:]], "no room to tell them"
    finally:
        server.should_exit = True
        thread.join(60)
