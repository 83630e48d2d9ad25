"""One question for all who ask it at the same time, and none of them is told what was so before they asked."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

Answer = TypeVar("Answer")


class SingleFlight(Generic[Answer]):
    """Who asks while an answer is on its way does not get that one, which may be older than their question, but the
    next: one for all who have come by then. However many ask, no more than one question of a kind is under way."""

    def __init__(self) -> None:
        self._under_way: dict[Hashable, asyncio.Task[Answer]] = {}
        self._next: dict[Hashable, asyncio.Task[Answer]] = {}

    async def answer(self, question: Hashable, ask: Callable[[], Awaitable[Answer]]) -> Answer:
        """What `ask` says, called after this was; who goes away takes nobody else's answer along."""
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
