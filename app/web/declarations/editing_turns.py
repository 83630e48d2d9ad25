"""Limits edits: declarations are checked in a helper process, a few at a time.

A waiting edit occupies no thread that readers would need.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

from fastapi import Depends, Request

from app.web.http.rate_limits import client_of
from app.web.http.turns import Turns

AT_ONCE = 3
#: Queue limits in total and per address: more than a group of organisers, but not the whole queue.
WAITING, WAITING_PER_ADDRESS = 96, 24


def editing_turns() -> Turns:
    """Return the semaphore for edits of a web process."""
    return Turns(
        AT_ONCE,
        waiting_limit=WAITING,
        waiting_per_client=WAITING_PER_ADDRESS,
        message="The server is busy checking other changes. Nothing was changed; please try again in a moment.",
    )


@asynccontextmanager
async def editing(request: Request) -> AsyncIterator[None]:
    """Hold a turn, for routes that read the body first; raise Busy."""
    async with cast(Turns, request.app.state.editing_turns).turn(client_of(request)):
        yield


async def editing_turn(request: Request) -> AsyncIterator[None]:
    """Hold a turn while the route runs; raise Busy."""
    async with editing(request):
        yield


#: The dependencies of such a route.
EDITING = [Depends(editing_turn, scope="function")]
