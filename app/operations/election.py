"""Election of one working sweep among several, by a database lock that lasts as long as its holder's connection.

Duplicate sweeps would be harmless but useless. SQLite is on one machine, with one sweep.
"""

from __future__ import annotations

from contextlib import suppress

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError

#: The lock's number: "evergold" as eight letters, to be unique in a shared database.
LOCK = int.from_bytes(b"evergold", "big") >> 1


class Election:
    """A candidate. When the holder of the lock dies, PostgreSQL gives it to the next candidate that tries."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._connection: Connection | None = None

    def is_won(self) -> bool:
        """Return whether this candidate holds the lock now. Raises SQLAlchemyError while the database is down."""
        if self._engine.dialect.name != "postgresql":
            return True
        if self._connection is not None and self._still_answers(self._connection):
            return True
        self.leave()
        connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        try:
            if connection.scalar(text("SELECT pg_try_advisory_lock(:lock)"), {"lock": LOCK}):
                self._connection = connection
                return True
            return False
        finally:
            if self._connection is None:
                connection.close()

    def leave(self) -> None:
        """Release the lock immediately, by closing the connection instead of returning it to the pool."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(SQLAlchemyError):
                connection.execute(text("SELECT pg_advisory_unlock_all()"))
            with suppress(SQLAlchemyError):
                connection.invalidate()
            connection.close()

    def _still_answers(self, connection: Connection) -> bool:
        try:
            connection.execute(text("SELECT 1"))
        except SQLAlchemyError:
            return False
        return True
