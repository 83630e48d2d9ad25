"""Limits on request bodies, as plain ASGI: a size limit for all but uploads, a minimum rate, and clean refusals."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from contextlib import suppress

from fastapi import Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.base.errors import EvergoldError
from app.base.text import readable_size
from app.web.http.errors import error_response

#: For forms and JSON; uploads have their own limits, see `app.web.http.multipart`.
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
#: Files that organisers send while they write a competition.
DRAFT_FILES = re.compile(
    r"^(/api/v1/competitions|/organise/zip|/organise/[^/]+/(files|images)|/competitions/[^/]+/edit/images)/?$"
)


class BodyTooSlow(EvergoldError):
    """The body stalled or came too slowly to keep the connection open for it."""

    status = 408
    code = "upload_stalled"


class TimelyBodies:
    """Middleware that enforces a minimum rate on bodies.

    Only time spent waiting for the body counts, not the time spent processing it.
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
    return bool(UPLOADS.match(path) or DRAFT_FILES.match(path))


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
    """Return False if too much is left, or if the client still waits for a go-ahead (Expect: 100-continue)."""
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
    """Return a `receive` that yields the body in one piece, then passes on later messages (a disconnect)."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
