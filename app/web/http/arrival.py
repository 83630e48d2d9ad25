"""When an upload was here: a small one is taken off the network before anything else, and that moment counts.

In the rush before a deadline requests wait for their turn, and the event loop for its own; who sent a file in time
shall not be late because of it.
Only a few uploads are worked on at a time: more threads would only keep the event loop, which says when others came,
from its own turn. Large files are read where they are stored, and count when their last byte was read there
(decision 004).
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

#: What is held in memory for a request that waits for its turn …
SMALL_BYTES = 256 * 1024
#: … and for all of them; while it is more, the next ones are read where large files are.
HELD_BYTES = 64 * 1024 * 1024
#: Who sends more slowly than this is read where large files are.
SMALL_SECONDS = 1.0
#: How many small uploads are worked on at a time.
AT_ONCE = 4


class Arrivals:
    """Reads small uploads at once, notes when they were whole, and lets their senders take turns."""

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
        messages = _whole_all_the_same(await _read_early(receive), scope)

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


def was_read_early(request: Request) -> bool:
    """Whether all of this upload was here before anything else happened to it."""
    return hasattr(request.state, "arrived_at")


def is_rush(request: Request) -> bool:
    """Whether others wait for their turn while this upload has its own."""
    turn = _turn_of(request)
    return turn is not None and turn.others_wait


def _turn_of(request: Request) -> Turn | None:
    """None: a large upload, which waits for nobody."""
    turn = getattr(request.state, "upload_turn", None)
    return turn if isinstance(turn, Turn) else None


def arrival_of(request: Request, server: Server) -> datetime:
    """The moment when this upload was whole; now, for one of which something may be still to come."""
    noted = getattr(request.state, "arrived_at", None)
    return noted if isinstance(noted, datetime) else _whole_at(request.scope["state"], server)


def _whole_at(state: MutableMapping[str, Any], server: Server) -> datetime:
    """When the last byte was on this machine, where `app.server.connections` could tell; else now."""
    whole_at = state.get("whole_at")
    return server.clock() - timedelta(seconds=time.monotonic() - whole_at if isinstance(whole_at, float) else 0.0)


def note_end(request: Request, server: Server) -> datetime:
    """The last byte of its body was read: the moment when it was whole, from which on second tries wait for it."""
    server.tries.note_whole(request.state.upload_try)
    return arrival_of(request, server)


async def earlier_tries_answered(request: Request, server: Server) -> None:
    """Return when nothing that was whole before this upload, and has its Idempotency-Key, is still on its way."""
    await server.tries.earlier_answered(request.state.upload_try)


async def tries_elsewhere_answered(request: Request) -> None:
    """Return when no other web process has this upload on its way; this try would be refused, unless one was stored.

    Meanwhile its turn is others': else those who wait here and there, each for a first try that has no turn there and
    here, would wait for each other.
    """
    this_try: Try = request.state.upload_try
    elsewhere = getattr(request.app.state, "elsewhere", None)
    if this_try.upload is not None and isinstance(elsewhere, Elsewhere):
        this_try.is_refused = True
        turn = _turn_of(request)
        async with turn.left_to_others() if turn is not None else nullcontext():
            await elsewhere.answered(this_try.upload)


async def _read_early(receive: Receive) -> list[Message]:
    """What there is of the body, all of it if it comes in time."""
    messages: list[Message] = []
    with suppress(TimeoutError):
        async with asyncio.timeout(SMALL_SECONDS):
            while not messages or messages[-1].get("more_body", False):
                messages.append(await receive())
    return messages


def _whole_all_the_same(messages: list[Message], scope: Scope) -> list[Message]:
    """These, or the body of one whose sender gave up when all of it was here and nothing was read: it came in time, and
    a second try behind the deadline shall find it."""
    if [message["type"] for message in messages] != ["http.disconnect"]:
        return messages
    unread = bytes(scope["state"].get("unread_body", b""))
    is_whole = len(unread) == _small_bytes(scope)
    return [{"type": "http.request", "body": unread, "more_body": False}] if is_whole else messages


def _small_bytes(scope: Scope) -> int | None:
    """How many bytes are to come; None: not few, or nobody knows."""
    headers = Headers(scope=scope)
    declared = headers.get("content-length", "")
    # Whoever asks first whether to send shall hear of a refusal before.
    is_small = declared.isdigit() and int(declared) <= SMALL_BYTES and "expect" not in headers
    return int(declared) if is_small else None


def _sender(scope: Scope) -> str:
    """Whose turn it is: what they log in with, or else where they come from."""
    headers = Headers(scope=scope)
    client = scope.get("client")
    return headers.get("authorization") or headers.get("cookie") or (client[0] if client else "")
