"""Long polling: holds responses back until there is news, with one database query for all waiting clients.

Each user may have only a few waiting requests. Between two queries no waiting request holds a thread or a database
connection.
"""

from __future__ import annotations

import asyncio
import heapq
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from anyio.to_thread import run_sync
from fastapi import Request
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from app.base.db import reading
from app.base.errors import LimitReached
from app.models import User
from app.people.account_blocks import check_account_not_blocked

if TYPE_CHECKING:
    from app.web.http.context import Server

#: Returns the state of each id; ids that no longer exist are left out.
Look = Callable[[Engine, Sequence[UUID]], Mapping[UUID, str]]

#: A waiting client is polled often at first, since most files are scored within a moment, then less often.
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS, PAUSE_GROWTH = 0.02, 0.25, 1.3
#: After a slow query, polling pauses for this many times its duration.
REST_PER_LOOK = 3
#: Largest number of ids per query.
LOOKED_FOR_AT_ONCE = 500
#: Interval between checks whether the client is still connected.
LISTENING_SECONDS = 1.0
#: Waiting requests allowed per user at a time; and when to retry.
PER_PERSON = 10
ASK_AGAIN_SECONDS = 5


@dataclass(eq=False, slots=True)
class _Reader:
    """A waiting client.

    wanted: its submission; is_news: predicate on the state; due: time of its next poll; pause: interval in seconds.
    """

    wanted: UUID
    is_news: Callable[[str], bool]
    news: asyncio.Future[None]
    due: float = 0.0
    pause: float = FIRST_PAUSE_SECONDS


@dataclass(eq=False)
class _Watch:
    """All clients that wait for the same kind of news."""

    look: Look
    engine: Engine
    readers: set[_Reader] = field(default_factory=set)
    watching: asyncio.Task[None] | None = None

    async def watch(self) -> None:
        """Poll as long as any client is waiting."""
        rest = FIRST_PAUSE_SECONDS
        try:
            while self.readers:
                await asyncio.sleep(rest)
                began = time.monotonic()
                due = [reader for reader in self.readers if reader.due <= began and not reader.news.done()]
                await self._look_for(heapq.nsmallest(LOOKED_FOR_AT_ONCE, due, key=lambda reader: reader.due))
                rest = max(FIRST_PAUSE_SECONDS, REST_PER_LOOK * (time.monotonic() - began))
        finally:  # whatever happens, no client waits for a poll that will never come
            for reader in self.readers:
                if not reader.news.done():
                    reader.news.set_result(None)

    async def _look_for(self, readers: Sequence[_Reader]) -> None:
        if not readers:
            return
        try:
            states = await run_sync(self.look, self.engine, sorted({reader.wanted for reader in readers}))
        except SQLAlchemyError as error:  # each client gets the error that its own query would have raised
            for reader in readers:
                if not reader.news.done():
                    reader.news.set_exception(error)
            return
        for reader in readers:
            if not reader.news.done() and reader.is_news(states.get(reader.wanted, "")):
                reader.news.set_result(None)
            reader.due = time.monotonic() + reader.pause
            reader.pause = min(reader.pause * PAUSE_GROWTH, LONGEST_PAUSE_SECONDS)


class Waiting:
    """All clients waiting for news on a server."""

    def __init__(self) -> None:
        self._watches: dict[Look, _Watch] = {}
        self._of_person: Counter[int] = Counter()

    @property
    def count(self) -> int:
        """Number of waiting requests."""
        return self._of_person.total()

    @contextmanager
    def place(self, user: User, server: Server) -> Iterator[None]:
        """Count one waiting request of the user during the block; raise LimitReached if there are too many."""
        if self._of_person[user.id] >= PER_PERSON:
            raise LimitReached(
                f"{PER_PERSON} of your requests are already waiting for changes; please try again when one of them "
                "is answered.",
                limit=PER_PERSON,
                used=self._of_person[user.id],
                per="moment",
                retry_at=(server.clock() + timedelta(seconds=ASK_AGAIN_SECONDS)).isoformat(),
            )
        self._of_person[user.id] += 1
        try:
            yield
        finally:
            self._of_person[user.id] -= 1
            if not self._of_person[user.id]:
                del self._of_person[user.id]

    @contextmanager
    def reader(self, engine: Engine, look: Look, wanted: UUID, is_news: Callable[[str], bool]) -> Iterator[_Reader]:
        """Register a waiting client during the block, and yield it."""
        watch = self._watches.setdefault(look, _Watch(look, engine))
        reader = _Reader(wanted, is_news, asyncio.get_running_loop().create_future())
        watch.readers.add(reader)
        if watch.watching is None or watch.watching.done():
            watch.watching = asyncio.create_task(watch.watch())
        try:
            yield reader
        finally:
            watch.readers.discard(reader)


async def wait_for_news(
    request: Request,
    user: User,
    look: Look,
    wanted: UUID,
    is_news: Callable[[str], bool],
    *,
    seconds: float,
) -> None:
    """Wait until `look` has news, the time is over, or the client disconnects.

    Raise LimitReached if the user has too many waiting requests, Blocked if the user is blocked in the meantime.
    """
    if seconds <= 0:
        return
    server: Server = request.app.state.server
    deadline = time.monotonic() + min(seconds, server.settings.long_poll_limit_seconds)
    with server.waiting.place(user, server), server.waiting.reader(server.engine, look, wanted, is_news) as reader:
        while not reader.news.done():
            if server.live.is_blocked(user):
                await run_sync(_check_not_blocked, server, user)
            left = deadline - time.monotonic()
            if left <= 0 or await request.is_disconnected():
                return
            await asyncio.wait([reader.news], timeout=min(left, LISTENING_SECONDS))
        reader.news.result()


def _check_not_blocked(server: Server, user: User) -> None:
    with reading(server.engine) as session:
        check_account_not_blocked(session, user)
