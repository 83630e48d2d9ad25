"""Limits concurrent requests to providers, so that one that does not respond cannot block all threads of a process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, cast

from anyio.to_thread import run_sync
from fastapi import Depends, Request

from app.web.http.context import ServerHere
from app.web.http.rate_limits import client_of, limits_of
from app.web.http.turns import Turns

AT_ONCE, WAITING, WAITING_PER_ADDRESS = 8, 64, 48


def provider_turns() -> Turns:
    """Return the semaphore for requests to providers."""
    return Turns(
        AT_ONCE,
        waiting_limit=WAITING,
        waiting_per_client=WAITING_PER_ADDRESS,
        message="Too many people are logging in at the moment. Nothing was changed; please try again in a moment.",
    )


async def provider_turn(request: Request, server: ServerHere) -> AsyncIterator[None]:
    """Hold a turn while the route runs; raise LimitReached or Busy."""
    limits, client = limits_of(request), client_of(request)
    await run_sync(limits.hit, limits.rules.providers_address, client, server.clock())
    async with cast(Turns, request.app.state.provider_turns).turn(client):
        yield


ProviderTurn = Annotated[None, Depends(provider_turn, scope="function")]
