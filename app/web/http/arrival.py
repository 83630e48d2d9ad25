"""Arrival times of uploads: small uploads are read from the network first, and the time of their last byte counts.

In the rush before a deadline requests queue for a turn, and for the event loop; an upload sent in time must not be late
because of that.
Only a few uploads are processed at a time: more threads would only starve the event loop, which records the arrival
times. Large files are read where they are stored, and count from when their last byte was read there (decision 004).
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import MutableMapping
from contextlib import nullcontext, suppress
from datetime import datetime, timedelta
from typing import Any

from fastapi import Request
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.web.http.bodies import UPLOADS
from app.web.http.context import Server
from app.web.http.tries import Try
from app.web.http.tries_elsewhere import Elsewhere
from app.web.http.turns import Turn, Turns

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
    """Return the time when this upload had fully arrived; now, if part of it may still be missing."""
    noted = getattr(request.state, "arrived_at", None)
    return noted if isinstance(noted, datetime) else _whole_at(request.scope["state"], server)


def _whole_at(state: MutableMapping[str, Any], server: Server) -> datetime:
    """Return the time of the last byte as recorded by `app.server.connections`, or else the current time."""
    whole_at = state.get("whole_at")
    return server.clock() - timedelta(seconds=time.monotonic() - whole_at if isinstance(whole_at, float) else 0.0)


def mark_received(request: Request, server: Server) -> datetime:
    """Mark the body as fully received, so that later attempts wait for its result, and return its arrival time."""
    server.tries.note_whole(request.state.upload_try)
    return arrival_of(request, server)


async def earlier_tries_answered(request: Request, server: Server) -> None:
    """Wait for all attempts with the same Idempotency-Key that had fully arrived before this one."""
    await server.tries.earlier_answered(request.state.upload_try)


async def wait_for_other_processes(request: Request) -> None:
    """Wait until no other web process has an attempt of this upload in flight.

    This attempt would be refused unless another one was stored. It gives up its turn while it waits: otherwise attempts
    on two machines, each waiting for a first attempt that has no turn on the other, would deadlock.
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

    The upload arrived in time, and an attempt after the deadline has to find it.
    """
    if [message["type"] for message in messages] != ["http.disconnect"]:
        return messages
    unread = bytes(scope["state"].get("unread_body", b""))
    is_whole = len(unread) == _small_bytes(scope)
    return [{"type": "http.request", "body": unread, "more_body": False}] if is_whole else messages


def _small_bytes(scope: Scope) -> int | None:
    """Return the declared body size, or None if it is large or unknown."""
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
