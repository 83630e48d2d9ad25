"""One query for all concurrent callers, whose results are never older than their calls."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

Answer = TypeVar("Answer")


class SingleFlight(Generic[Answer]):
    """Coalescing of concurrent queries with the same key.

    A call during a running query does not share it, because its result may be older than the call, but the next one,
    together with all other calls until then. At most one query per key is running.
    """

    def __init__(self) -> None:
        self._under_way: dict[Hashable, asyncio.Task[Answer]] = {}
        self._next: dict[Hashable, asyncio.Task[Answer]] = {}

    async def answer(self, question: Hashable, ask: Callable[[], Awaitable[Answer]]) -> Answer:
        """Return the result of `ask`, started after this call; cancelling one caller does not affect the others."""
        answer = self._next.get(question)
        if answer is None:
            answer = asyncio.create_task(self._in_turn(question, ask))
            self._next[question] = answer
        return await asyncio.shield(answer)

    async def _in_turn(self, question: Hashable, ask: Callable[[], Awaitable[Answer]]) -> Answer:
        before = self._under_way.get(question)
        if before is not None:
            await asyncio.wait([before])
        mine = self._under_way[question] = self._next.pop(question)
        try:
            return await ask()
        finally:
            if self._under_way.get(question) is mine:
                del self._under_way[question]
