"""The revision of the database's tables, and messages on its difference from the one that this code needs.

This module does not use Alembic, which would take 7 MB.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.exc import SQLAlchemyError

from app.base.db import engine_for_reading
from evergold.version import VERSION

#: This code's revision: the last in migrations/versions. A test compares it with Alembic's.
NEWEST_REVISION = "0016"
#: File names there begin with the revision.
_VERSIONS = Path(__file__).resolve().parents[2] / "migrations" / "versions"
#: Alembic's table with the revision.
_TABLE = "alembic_version"


class OtherRevision(Exception):
    """The tables are at another revision than this code; the message names both and the remedy."""


class NewerRevision(OtherRevision):
    """The tables were migrated by a newer version of the program."""


def is_current(connection: Connection) -> bool:
    """Return whether the database is at this code's revision."""
    return revision_of(connection) == NEWEST_REVISION


def revision_of(connection: Connection) -> str:
    """Return the revision of the tables; "" if there are none."""
    if not inspect(connection).has_table(_TABLE):
        return ""
    return ", ".join(connection.scalars(text(f"SELECT version_num FROM {_TABLE} ORDER BY 1")))  # noqa: S608


def check_revision(connection: Connection) -> None:
    """Raise OtherRevision, with a message, unless the tables match this code."""
    found = revision_of(connection)
    if found == NEWEST_REVISION:
        return
    if not found:
        raise OtherRevision("The database has no tables yet: create them with `evergold migrate`.")
    if found in {path.name.partition("_")[0] for path in _VERSIONS.glob("*.py")}:
        raise OtherRevision(
            f"The database is of revision {found}, older than this program needs ({_own_version()}): "
            "run `evergold migrate`."
        )
    raise NewerRevision(
        f"The database is of revision {found}, made by a newer version of Evergold than this program "
        f"({_own_version()}): start the newer version."
    )


def _own_version() -> str:
    return f"revision {NEWEST_REVISION}, Evergold {VERSION}"


class Tables:
    """The tables as last seen by a running process. misfit: None if they match this code."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._looked_at = float("-inf")
        self.misfit: OtherRevision | None = None

    def look(self, engine: Engine, *, seconds: float = 0.0) -> OtherRevision | None:
        """Return the misfit, at most this many seconds old. While the database is down, the last result is kept."""
        with self._turn:
            if time.monotonic() - self._looked_at >= seconds:
                with suppress(SQLAlchemyError):
                    self.misfit = _misfit(engine)
                    self._looked_at = time.monotonic()
        return self.misfit


def _misfit(engine: Engine) -> OtherRevision | None:
    with engine_for_reading(engine).connect() as connection:
        try:
            check_revision(connection)
        except OtherRevision as other:
            return other
    return None
