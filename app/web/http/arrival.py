"""When an upload was here: a small one is taken off the network before anything else, and that moment counts.

In the rush before a deadline requests wait for their turn; who sent a file in time shall not be late because of it.
Large files are read where they are stored, and count when their last byte was read there (decision 004).
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import datetime

from fastapi import Request
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.web.http.bodies import UPLOADS
from app.web.http.context import Server

#: What is held in memory for a request that waits for its turn.
SMALL_BYTES = 256 * 1024
#: Who sends more slowly than this is read where large files are.
SMALL_SECONDS = 1.0


class Arrivals:
    """Reads small uploads at once, and notes when they were whole."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST" or not _is_small_upload(scope):
            await self._app(scope, receive, send)
            return
        messages: list[Message] = []
        with suppress(TimeoutError):
            async with asyncio.timeout(SMALL_SECONDS):
                while not messages or messages[-1].get("more_body", False):
                    messages.append(await receive())
        if messages and messages[-1]["type"] == "http.request" and not messages[-1].get("more_body", False):
            scope.setdefault("state", {})["arrived_at"] = scope["app"].state.server.clock()

        async def replay() -> Message:
            return messages.pop(0) if messages else await receive()

        await self._app(scope, replay, send)


def arrival_of(request: Request, server: Server) -> datetime:
    """The moment when this upload was whole; now, for one of which something may be still to come."""
    noted = getattr(request.state, "arrived_at", None)
    return noted if isinstance(noted, datetime) else server.clock()


def _is_small_upload(scope: Scope) -> bool:
    headers = Headers(scope=scope)
    declared = headers.get("content-length", "")
    is_small = declared.isdigit() and int(declared) <= SMALL_BYTES
    # Whoever asks first whether to send shall hear of a refusal before.
    return is_small and "expect" not in headers and UPLOADS.match(scope["path"]) is not None
