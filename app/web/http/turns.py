"""Work that only so many may do at a time: whoever comes later waits their turn on the event loop, not in a thread.

Clients are served in rounds, so that one who asks for a hundred turns delays another by one of them. Who would wait
behind too many is told to come back.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from app.base.errors import Busy


class Turn:
    """One client's, which it may leave to others for a while."""

    def __init__(self, turns: Turns, client: str) -> None:
        self._turns = turns
        self._client = client
        self._is_mine = False

    @property
    def others_wait(self) -> bool:
        """Whether somebody waits for theirs."""
        return self._turns.waiting > 0

    async def take(self) -> None:
        await self._turns.come(self._client)
        self._is_mine = True

    def give(self) -> None:
        if self._is_mine:
            self._is_mine = False
            self._turns.pass_on()

    @asynccontextmanager
    async def left_to_others(self) -> AsyncIterator[None]:
        """While this client waits for something else; behind it, its next turn."""
        self.give()
        yield
        await self.take()


class Turns:
    """`at_once` have their turn; no more than `waiting_limit` wait for theirs, of one client `waiting_per_client`."""

    def __init__(self, at_once: int, *, waiting_limit: int, waiting_per_client: int, message: str) -> None:
        self._free = at_once
        self._waiting_limit = waiting_limit
        self._waiting_per_client = waiting_per_client
        self._message = message
        #: Who waits, by client; the client whose round is next comes first.
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def waiting(self) -> int:
        """How many wait."""
        return sum(map(len, self._waiting.values()))

    @asynccontextmanager
    async def turn(self, client: str) -> AsyncIterator[Turn]:
        """The client's turn, as soon as it comes; raises Busy where too many wait already."""
        one = Turn(self, client)
        await one.take()
        try:
            yield one
        finally:
            one.give()

    async def come(self, client: str) -> None:
        """Return when it is the client's turn, which somebody has to pass on."""
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
            if turn.done() and not turn.cancelled():  # it came at the very moment at which nobody wanted it any more
                self.pass_on()
            raise

    def pass_on(self) -> None:
        """To whoever is next and still there."""
        while self._waiting:
            client, turns = self._waiting.popitem(last=False)
            turn = turns.popleft()
            if turns:
                self._waiting[client] = turns
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
