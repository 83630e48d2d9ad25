"""Holding an answer back until there is news: no thread and no connection to the database is held between two looks."""

from __future__ import annotations

import time
from collections.abc import Callable

import anyio
from anyio.to_thread import run_sync
from fastapi import Request

from app.web.http.context import Server

#: A waiting reader looks often at first, for the usual file is scored within a moment, then less often.
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS, PAUSE_GROWTH = 0.02, 0.25, 1.3


async def wait_for_news(
    request: Request, server: Server, look: Callable[[], str], is_news: Callable[[str], bool], *, seconds: float
) -> None:
    """Return when what `look` sees is news, when the time is over, or when nobody listens any more."""
    deadline = time.monotonic() + min(seconds, server.settings.long_poll_limit_seconds)
    pause = FIRST_PAUSE_SECONDS
    while seconds > 0:
        seen = await run_sync(look)
        left = deadline - time.monotonic()
        if is_news(seen) or left <= 0 or await request.is_disconnected():
            return
        await anyio.sleep(min(pause, left))
        pause = min(pause * PAUSE_GROWTH, LONGEST_PAUSE_SECONDS)
