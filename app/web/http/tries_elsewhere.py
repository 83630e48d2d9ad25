"""In-flight uploads of all web processes, shared across machines by advisory locks of their PostgreSQL.

An upload that has fully arrived and has no response after a while holds a lock, whose number is derived from the
Idempotency-Key and the sender's credentials. Before a process refuses another attempt, it waits until the first would
have been published, and then as long as another process holds that lock. Uploads that are accepted at once cost
nothing. When a process dies, its connection ends, and its locks with it.
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
from app.web.http.tries import InFlightUploads

#: Poll interval; no client repeats an upload sooner than some seconds after the first attempt.
LOOK_SECONDS = 0.5
#: Time until others can see an upload: it is noticed at one poll and published at the next.
TELLING_SECONDS = 1.2
#: Longest wait for the result of an attempt elsewhere before refusing one.
PATIENCE_SECONDS = 60.0
#: All locks of a poll in one statement: in a rush every waiting upload is published.
_LOCK = text("SELECT pg_try_advisory_lock_shared(number) FROM unnest(CAST(:numbers AS bigint[])) AS number")
_UNLOCK = text("SELECT pg_advisory_unlock_shared(number) FROM unnest(CAST(:numbers AS bigint[])) AS number")
_IS_HELD = text(
    "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid <> :ours"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    " AND (classid::bigint << 32) | objid::bigint = :number)"
)


class Elsewhere:
    """The in-flight uploads of this process, published on one connection, and those of other processes."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._connection: Connection | None = None
        self._process = 0
        self._listened_to: set[int] = set()
        self._one_at_a_time = threading.Lock()

    def tell(self, uploads: Iterable[tuple[str, ...]]) -> None:
        """Publish these uploads, and no others, as in flight here. If the database is down, retry at the next poll."""
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
        """Return True if another process has published this upload as in flight."""
        with engine_for_reading(self._engine).connect() as connection:
            asked = {"number": lock_number(upload), "ours": self._process}
            return bool(connection.scalar(_IS_HELD, asked))

    async def answered(self, upload: tuple[str, ...]) -> None:
        """Wait until no other process has the upload in flight, after giving each of them the time to publish it."""
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
        """Close the connection, which releases its locks, instead of returning it to the pool."""
        connection, self._connection, self._listened_to = self._connection, None, set()
        if connection is not None:
            with suppress(SQLAlchemyError):
                connection.invalidate()
            connection.close()


async def publish_in_flight(tries: InFlightUploads, elsewhere: Elsewhere) -> None:
    """Publish, while the process serves, the uploads that were already in flight at the previous poll."""
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
    """Return the number of an upload's lock: 63 bits of a sha256, as PostgreSQL needs."""
    return int.from_bytes(hashlib.sha256("\0".join(upload).encode()).digest()[:8], "big") >> 1
