"""A fair semaphore: limits how much work runs at a time; clients queue on the event loop, not in a thread.

Clients are served in rounds, so that a client with a hundred requests delays another by only one of them. If the queue
is full, the client is refused and has to retry later.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

from app.base.errors import Busy

Answer = TypeVar("Answer")


class SingleFlight(Generic[Answer]):
    """Coalesces concurrent queries with the same key.

    A call during a running query does not use its result, which may be older than the call, but shares the next query
    with all other calls made until then. At most one query per key is running.
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


class Turn:
    """A client's turn, which it can release to others for a while."""

    def __init__(self, turns: Turns, client: str) -> None:
        self._turns = turns
        self._client = client
        self._is_mine = False

    @property
    def others_wait(self) -> bool:
        """True if others are queued."""
        return self._turns.waiting > 0

    async def take(self) -> None:
        await self._turns.come(self._client)
        self._is_mine = True

    def give(self) -> None:
        if self._is_mine:
            self._is_mine = False
            self._turns.pass_on()

    @asynccontextmanager
    async def released(self) -> AsyncIterator[None]:
        """Release the turn while this client waits for something else; acquire a new one afterwards."""
        self.give()
        yield
        await self.take()


class Turns:
    """A fair semaphore for `at_once` turns, with a queue limit in total and per client."""

    def __init__(self, at_once: int, *, waiting_limit: int, waiting_per_client: int, message: str) -> None:
        self._free = at_once
        self._waiting_limit = waiting_limit
        self._waiting_per_client = waiting_per_client
        self._message = message
        #: Queued clients; the client whose round is next comes first.
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def waiting(self) -> int:
        """Length of the queue."""
        return sum(map(len, self._waiting.values()))

    @asynccontextmanager
    async def turn(self, client: str) -> AsyncIterator[Turn]:
        """Wait for the client's turn and hold it during the block; raise Busy if too many are queued already."""
        one = Turn(self, client)
        await one.take()
        try:
            yield one
        finally:
            one.give()

    async def come(self, client: str) -> None:
        """Wait for the client's turn; the caller has to call `pass_on` afterwards. Raise Busy if too many are queued
        already.
        """
        if self._free:
            self._free -= 1
            return
        if self.waiting >= self._waiting_limit or len(self._waiting.get(client, ())) >= self._waiting_per_client:
            raise Busy(self._message)
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(client, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # cancelled at the very moment when the turn was granted
                self.pass_on()
            raise

    def pass_on(self) -> None:
        """Pass the turn on to the next client that is still waiting."""
        while self._waiting:
            client, turns = self._waiting.popitem(last=False)
            turn = turns.popleft()
            if turns:
                self._waiting[client] = turns
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
