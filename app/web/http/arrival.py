"""Arrival of uploads, as plain ASGI: limits on bodies and their rate, the time that counts, clean refusals."""

from __future__ import annotations

import asyncio
import re
import sys
import time
from collections.abc import Callable, Coroutine, MutableMapping
from contextlib import nullcontext, suppress
from datetime import datetime, timedelta
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.base.errors import EvergoldError
from app.base.text import readable_size
from app.web.http.context import Server, server_of
from app.web.http.errors import error_response
from app.web.http.rate_limits import Elsewhere, Try
from app.web.http.turns import Turn, Turns

#: Size limit of forms and JSON; uploads have their own limits, see `app.web.http.multipart`.
BODY_LIMIT_BYTES = 128 * 1024
#: A refused body is read up to this size so that the client receives the response instead of a connection error.
LINGER_BYTES = 8 * 1024 * 1024
LINGER_SECONDS = 3.0
#: Longest pause between two pieces of a body …
SILENCE_SECONDS = 60.0
#: … and the total time allowed: a fixed allowance plus one second per SLOWEST_BYTES_PER_SECOND bytes received.
GRACE_SECONDS = 30.0
SLOWEST_BYTES_PER_SECOND = 1024
UPLOADS = re.compile(
    r"^(/api/v1)?/competitions/[^/]+/phases/[^/]+/tasks/[^/]+/(submissions|submit|validations|validate|gold|judging/marks)/?$"
)
#: Files that organisers send while they create a competition.
DRAFT_FILES = re.compile(
    r"^(/api/v1/competitions|/organise/(zip|bundle)|/organise/[^/]+/(files|images)|/competitions/[^/]+/edit/images)/?$"
)
#: Logos of the server.
LOGOS = re.compile(r"^(/api/v1)?/admin/looks/logos/[^/]+/?$")
#: Files that clients of Codabench send before they submit.
HELD_UPLOADS = re.compile(r"^/api/uploads/[^/]+/?$")


class BodyTooSlow(EvergoldError):
    """The body stalled or arrived too slowly."""

    status = 408
    code = "upload_stalled"


class TimelyBodies:
    """Middleware that enforces a minimum rate on bodies.

    Only the time spent waiting for the body counts, not the time spent processing it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _has_body(Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        answered = False

        async def send_noted(message: Message) -> None:
            nonlocal answered
            answered = True
            await send(message)

        try:
            await self._app(scope, _timed(receive), send_noted)
        except BodyTooSlow as slow:  # raised in a middleware; errors in routes go to the error handlers
            if answered:
                return
            response = error_response(Request(scope), slow.status, slow.code, slow.message)
            response.headers["Connection"] = "close"
            await response(scope, receive, send)


class FinishedBodies:
    """Middleware for unread bodies after early responses: drains small ones, closes the connection for others."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _has_body(Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        received, finished = 0, False

        async def counted() -> Message:
            nonlocal received, finished
            message = await receive()
            received += len(message.get("body", b""))
            finished = not message.get("more_body", False)
            return message

        async def send_after_body(message: Message) -> None:
            if message["type"] == "http.response.start" and not finished:
                if _is_worth_reading(Headers(scope=scope), received):
                    await _drain(counted, lambda: finished or received > LINGER_BYTES)
                if not finished:
                    MutableHeaders(scope=message)["Connection"] = "close"
            await send(message)

        await self._app(scope, counted, send_after_body)


class BoundedBodies:
    """Middleware that reads all bodies except uploads up front, and refuses those above the size limit."""

    def __init__(self, app: ASGIApp, *, limit_bytes: int = BODY_LIMIT_BYTES) -> None:
        self._app = app
        self._limit_bytes = limit_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _takes_file(scope["path"]) or not _has_body(Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        declared = Headers(scope=scope).get("content-length", "0")
        body: bytes | None = b""
        if declared.isdigit() and int(declared) <= self._limit_bytes:
            body = await _read(receive, self._limit_bytes)
            if body is not None:
                await self._app(scope, _replayed(body, receive), send)
                return
        await self._refusal(scope)(scope, receive, send)

    def _refusal(self, scope: Scope) -> ASGIApp:
        message = f"The body is larger than the {readable_size(self._limit_bytes)} allowed here."
        return error_response(Request(scope), 413, "body_too_large", message, limit_bytes=self._limit_bytes)


def _takes_file(path: str) -> bool:
    return bool(UPLOADS.match(path) or DRAFT_FILES.match(path) or HELD_UPLOADS.match(path) or LOGOS.match(path))


def _timed(receive: Receive) -> Receive:
    """Wrap `receive` to raise BodyTooSlow when the body is too slow; after the last byte, waiting is not limited."""
    received, waited, finished = 0, 0.0, False

    async def timed() -> Message:
        nonlocal received, waited, finished
        if finished:
            return await receive()
        began = time.monotonic()
        left = GRACE_SECONDS + received / SLOWEST_BYTES_PER_SECOND - waited
        try:
            async with asyncio.timeout(min(SILENCE_SECONDS, left)):
                message = await receive()
        except TimeoutError:
            raise BodyTooSlow("The upload is too slow, or has stopped. Please send it again.") from None
        finally:
            waited += time.monotonic() - began
        received += len(message.get("body", b""))
        finished = not message.get("more_body", False)
        return message

    return timed


def _is_worth_reading(headers: Headers, received: int) -> bool:
    """Return False if too much of the body is left, or if the client still waits for a go-ahead (`Expect`)."""
    declared = headers.get("content-length", "0")
    left = int(declared) - received if declared.isdigit() else 0
    return left <= LINGER_BYTES and not ("expect" in headers and received == 0)


async def _drain(receive: Receive, enough: Callable[[], bool]) -> None:
    with suppress(TimeoutError, BodyTooSlow):
        async with asyncio.timeout(LINGER_SECONDS):
            while not enough():
                await receive()


def _has_body(headers: Headers) -> bool:
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


async def _read(receive: Receive, limit_bytes: int) -> bytes | None:
    """Return the whole body, or None if it exceeds the limit or the client disconnected."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if len(body) > limit_bytes:
            return None
        if not message.get("more_body", False):
            return bytes(body)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that yields the body in one message, then passes on later messages (a disconnect)."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


class DirectRoute(APIRoute):
    """A route whose function gets the request, and path parameters and named headers as strings.

    Its dependencies are documented but never called: the function has to authenticate and authorise the user itself.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        headers = [(field.name, field.alias) for field in self.dependant.header_params]

        async def answer(request: Request) -> Response:
            named = {name: request.headers.get(header) for name, header in headers}
            response: Response = await self.endpoint(request, **request.path_params, **named)
            return response

        return answer


#: Memory limit for the body of one waiting request …
SMALL_BYTES = 256 * 1024
#: … and for all of them together; above it, further uploads take the streaming path.
HELD_BYTES = 64 * 1024 * 1024
#: Slower senders take the streaming path.
SMALL_SECONDS = 1.0
#: Small uploads processed at a time.
AT_ONCE = 4


class Arrivals:
    """Middleware that reads small uploads up front, records their arrival times, and queues them fairly by sender."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._held_bytes = 0
        self._turns = Turns(AT_ONCE, waiting_limit=sys.maxsize, waiting_per_client=sys.maxsize, message="")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST" or UPLOADS.match(scope["path"]) is None:
            await self._app(scope, receive, send)
            return
        server: Server = scope["app"].state.server
        with server.tries.request(scope) as this_try:
            small_bytes = _small_bytes(scope)
            if small_bytes is None or self._held_bytes + small_bytes > HELD_BYTES:
                await self._app(scope, receive, send)
                return
            self._held_bytes += small_bytes
            try:
                await self._take_in(scope, receive, send, server, this_try)
            finally:
                self._held_bytes -= small_bytes

    async def _take_in(self, scope: Scope, receive: Receive, send: Send, server: Server, this_try: Try) -> None:
        messages = _recover_complete_body(await _read_early(receive), scope)

        async def replay() -> Message:
            return messages.pop(0) if messages else await receive()

        if not messages or messages[-1]["type"] != "http.request" or messages[-1].get("more_body", False):
            await self._app(scope, replay, send)  # its sender is slow, or gone
            return
        scope["state"]["arrived_at"] = _whole_at(scope["state"], server)
        server.tries.note_whole(this_try)
        await server.tries.earlier_answered(this_try)
        async with self._turns.turn(_sender(scope)) as turn:
            scope["state"]["upload_turn"] = turn
            await self._app(scope, replay, send)


def is_buffered(request: Request) -> bool:
    """Return True if the whole upload was read before the request was routed."""
    return hasattr(request.state, "arrived_at")


def is_rush(request: Request) -> bool:
    """Return True if other uploads are queued while this one has its turn."""
    turn = _turn_of(request)
    return turn is not None and turn.others_wait


def _turn_of(request: Request) -> Turn | None:
    """Return the turn of this upload, or None for a large upload, which needs none."""
    turn = getattr(request.state, "upload_turn", None)
    return turn if isinstance(turn, Turn) else None


def arrival_of(request: Request, server: Server) -> datetime:
    """Return the time when this upload had fully arrived; the current time if part of it may still be missing."""
    noted = getattr(request.state, "arrived_at", None)
    return noted if isinstance(noted, datetime) else _whole_at(request.scope["state"], server)


def _whole_at(state: MutableMapping[str, Any], server: Server) -> datetime:
    """Return the time of the last byte as recorded by `app.server.web`, or else the current time."""
    whole_at = state.get("whole_at")
    return server.clock() - timedelta(seconds=time.monotonic() - whole_at if isinstance(whole_at, float) else 0.0)


def mark_received(request: Request) -> datetime:
    """Mark the body as fully received, so that later attempts wait for its result, and return its arrival time."""
    server = server_of(request)
    this_try = getattr(request.state, "upload_try", None)  # none for files of a competition that is being written
    if isinstance(this_try, Try):
        server.tries.note_whole(this_try)
    return arrival_of(request, server)


async def earlier_tries_answered(request: Request, server: Server) -> None:
    """Wait for all attempts with the same Idempotency-Key that had fully arrived before this one."""
    await server.tries.earlier_answered(request.state.upload_try)


async def wait_for_other_processes(request: Request) -> None:
    """Wait until no other web process has an attempt of this upload in flight.

    This attempt will be refused unless another one was stored. It releases its turn while it waits: otherwise two
    machines could deadlock, each waiting for an attempt that is queued on the other.
    """
    this_try: Try = request.state.upload_try
    elsewhere = getattr(request.app.state, "elsewhere", None)
    if this_try.upload is not None and isinstance(elsewhere, Elsewhere):
        this_try.is_refused = True
        turn = _turn_of(request)
        async with turn.released() if turn is not None else nullcontext():
            await elsewhere.answered(this_try.upload)


async def _read_early(receive: Receive) -> list[Message]:
    """Read the body for at most SMALL_SECONDS and return the messages received so far."""
    messages: list[Message] = []
    with suppress(TimeoutError):
        async with asyncio.timeout(SMALL_SECONDS):
            while not messages or messages[-1].get("more_body", False):
                messages.append(await receive())
    return messages


def _recover_complete_body(messages: list[Message], scope: Scope) -> list[Message]:
    """Return the messages, or the buffered body if the client disconnected after sending all of it.

    The upload arrived in time, so a retry after the deadline has to find it.
    """
    if [message["type"] for message in messages] != ["http.disconnect"]:
        return messages
    unread = bytes(scope["state"].get("unread_body", b""))
    is_whole = len(unread) == _small_bytes(scope)
    return [{"type": "http.request", "body": unread, "more_body": False}] if is_whole else messages


def _small_bytes(scope: Scope) -> int | None:
    """Return the declared body size in bytes, or None if it is large or unknown."""
    headers = Headers(scope=scope)
    declared = headers.get("content-length", "")
    # With Expect: 100-continue, a refusal has to come before the body.
    is_small = declared.isdigit() and int(declared) <= SMALL_BYTES and "expect" not in headers
    return int(declared) if is_small else None


def _sender(scope: Scope) -> str:
    """Return the key for fair queueing: the sender's credentials, or else the client address."""
    headers = Headers(scope=scope)
    client = scope.get("client")
    return headers.get("authorization") or headers.get("cookie") or (client[0] if client else "")
