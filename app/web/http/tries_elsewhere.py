"""Uploads on their way, as the web processes of several machines tell each other: by locks of their one PostgreSQL.

An upload that has been whole for a while and is not answered yet has a lock, its number made of the Idempotency-Key and
the sender's credentials. Who would refuse another try of it waits until it would have been told, looks whether some
other process has that lock, and waits on. Uploads that are let in at once cost nothing. Locks go with the connection of
a process that dies, and its uploads with it.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Iterable
from contextlib import suppress

from anyio.to_thread import run_sync
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError

from app.base.db import engine_for_reading
from app.base.logs import log
from app.web.http.tries import Tries

#: Looked at so often; nobody sends again sooner than some seconds after the first try.
LOOK_SECONDS = 0.5
#: So long it takes until others know of it: it is seen at one look, told at the next.
TELLING_SECONDS = 1.2
#: Who would refuse a try waits no longer for another's answer.
PATIENCE_SECONDS = 60.0
#: All of a look at once: in a rush everything that waits is told.
_LOCK = text("SELECT pg_try_advisory_lock_shared(number) FROM unnest(CAST(:numbers AS bigint[])) AS number")
_UNLOCK = text("SELECT pg_advisory_unlock_shared(number) FROM unnest(CAST(:numbers AS bigint[])) AS number")
_IS_HELD = text(
    "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid <> :ours"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    " AND (classid::bigint << 32) | objid::bigint = :number)"
)


class Elsewhere:
    """What this process tells the others, on one connection, and what it hears of them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._connection: Connection | None = None
        self._process = 0
        self._listened_to: set[int] = set()
        self._one_at_a_time = threading.Lock()

    def tell(self, uploads: Iterable[tuple[str, ...]]) -> None:
        """These are on their way here, and no others. A database that is away is told later."""
        wanted = set(map(lock_number, uploads))
        with self._one_at_a_time:
            if wanted == self._listened_to:
                return
            try:
                connection = self._connected()
                connection.execute(_LOCK, {"numbers": list(wanted - self._listened_to)})
                connection.execute(_UNLOCK, {"numbers": list(self._listened_to - wanted)})
                self._listened_to = wanted
            except SQLAlchemyError as error:
                log.warning("tries_not_told", error=type(error).__name__)
                self._forget()

    def has(self, upload: tuple[str, ...]) -> bool:
        """Whether another process has said that this is on its way there."""
        with engine_for_reading(self._engine).connect() as connection:
            asked = {"number": lock_number(upload), "ours": self._process}
            return bool(connection.scalar(_IS_HELD, asked))

    async def answered(self, upload: tuple[str, ...]) -> None:
        """Return when no other process is at it any more, each of them having had the time to say that it is."""
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                await asyncio.sleep(TELLING_SECONDS)
                while await run_sync(self.has, upload):
                    await asyncio.sleep(LOOK_SECONDS)

    def close(self) -> None:
        with self._one_at_a_time:
            self._forget()

    def _connected(self) -> Connection:
        if self._connection is None:
            self._connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            self._process = self._connection.scalar(text("SELECT pg_backend_pid()")) or 0
        return self._connection

    def _forget(self) -> None:
        """With the connection go its locks: it is closed, not kept for others."""
        connection, self._connection, self._listened_to = self._connection, None, set()
        if connection is not None:
            with suppress(SQLAlchemyError):
                connection.invalidate()
            connection.close()


async def keep_telling(tries: Tries, elsewhere: Elsewhere) -> None:
    """For as long as the process serves: what was on its way here already when this looked last."""
    before: frozenset[tuple[str, ...]] = frozenset()
    try:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            now = tries.on_their_way()
            if now or before:
                await run_sync(elsewhere.tell, now & before)
            before = now
    finally:
        elsewhere.close()


def lock_number(upload: tuple[str, ...]) -> int:
    """The number of an upload's lock, as PostgreSQL takes it: 63 bits of a sha256."""
    return int.from_bytes(hashlib.sha256("\0".join(upload).encode()).digest()[:8], "big") >> 1
