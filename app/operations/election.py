"""Of several sweeps one does the work: who holds a lock of the database, for as long as its connection lasts.

The sweep's work does no harm when it is done twice, only no good. SQLite is on one machine, and has one sweep.
"""

from __future__ import annotations

from contextlib import suppress

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError

#: The lock's number: "evergold" as eight letters, to be nobody else's in a database that others use, too.
LOCK = int.from_bytes(b"evergold", "big") >> 1


class Election:
    """One candidate. PostgreSQL gives a dead holder's lock to the next who asks."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._connection: Connection | None = None

    def is_won(self) -> bool:
        """Whether the work is ours now; raises SQLAlchemyError while the database is away."""
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
        """Somebody else may have it, at once. The connection is closed, not kept: the lock is its, and would go on."""
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
