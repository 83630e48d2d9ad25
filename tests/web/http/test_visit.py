"""A visit: its session is open while the function of a route runs, and holds no connection while the answer is sent."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fastapi import FastAPI, Response
from fastapi.responses import StreamingResponse
from sqlalchemy import Engine, QueuePool, text
from starlette.types import Message

from app.base.config import Settings
from app.base.errors import NotFound
from app.web.http.context import Server
from app.web.http.errors import add_error_handlers
from app.web.http.visit import PageVisit, PublicVisit
from tests.world import NOW


def held(engine: Engine) -> int:
    """The connections that somebody has."""
    assert isinstance(engine.pool, QueuePool)
    return engine.pool.checkedout()


@pytest.fixture
def app(sqlite_engine: Engine) -> FastAPI:
    """Return an application with two routes that use the database: one answers at length, the other refuses."""
    made = FastAPI()
    made.state.server = Server(Settings(), sqlite_engine, lambda: NOW)
    add_error_handlers(made, lambda request, status, error: Response(status_code=status))

    @made.get("/long")
    def read_long(visit: PublicVisit) -> Response:
        assert visit.session.scalar(text("SELECT 1")) == 1
        assert held(sqlite_engine) == 1
        return StreamingResponse(iter([b"one", b"two"]))

    @made.get("/refused")
    def read_refused(visit: PublicVisit) -> Response:
        visit.session.scalar(text("SELECT 1"))
        raise NotFound("Nothing here.")

    @made.get("/unread")
    def read_unread(visit: PageVisit, number: int) -> Response:
        return Response(str(held(sqlite_engine)))

    return made


def answer(app: FastAPI, engine: Engine, path: str, query: bytes = b"") -> tuple[int, list[int]]:
    """The status, and how many connections were held as each message of the answer was sent."""
    status, seen, requests = 0, [], [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> Message:
        if not requests:
            await asyncio.Event().wait()  # the client stays
        return requests.pop()

    async def send(message: Message) -> None:
        nonlocal status
        status = message.get("status", status)
        seen.append(held(engine))

    scope: dict[str, Any] = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "path": path,
        "query_string": query,
        "headers": [],
        "state": {},
    }
    asyncio.run(app(scope, receive, send))
    return status, seen


def test_a_slow_download_holds_no_connection(app: FastAPI, sqlite_engine: Engine) -> None:
    status, seen = answer(app, sqlite_engine, "/long")
    assert status == 200
    assert seen == [0] * len(seen)
    assert len(seen) >= 3, "the head, and each part"


def test_a_refusal_gives_the_connection_back_too(app: FastAPI, sqlite_engine: Engine) -> None:
    assert answer(app, sqlite_engine, "/refused") == (404, [0, 0])


def test_a_request_that_never_reaches_its_route_takes_no_connection(app: FastAPI, sqlite_engine: Engine) -> None:
    assert answer(app, sqlite_engine, "/unread", b"number=many") == (422, [0, 0])
    assert answer(app, sqlite_engine, "/unread", b"number=1&as=nobody") == (422, [0, 0])
