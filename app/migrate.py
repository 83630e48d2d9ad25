"""Bringing the database's tables to this code's version: `upgrade`, and what to say when the database is ahead."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util.exc import CommandError
from sqlalchemy import Connection, Engine, text

MIGRATIONS = Path(__file__).resolve().parent.parent / "migrations"
#: Ours among PostgreSQL's advisory locks: the letters "ever".
LOCK_NUMBER = 0x65766572


class DatabaseTooNew(Exception):
    """The database was migrated by a newer Evergold."""


def alembic_config(connection: Connection | None = None) -> Config:
    """Alembic's configuration without an ini file."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def upgrade(engine: Engine) -> bool:
    """Migrate to the newest version; True if there was something to do. Raises DatabaseTooNew."""
    with engine.execution_options(evergold_write=True).begin() as connection:
        _wait_for_others(connection)
        if is_current(connection):
            return False
        try:
            command.upgrade(alembic_config(connection), "head")
        except CommandError as error:
            raise DatabaseTooNew(
                "The database was made by a newer version of Evergold; please start that version."
            ) from error
        return True


def _wait_for_others(connection: Connection) -> None:
    """Two servers may be started at the same moment; SQLite's write lock is held already."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": LOCK_NUMBER})


def is_current(connection: Connection) -> bool:
    """Whether the database stands at this code's newest revision."""
    head = ScriptDirectory.from_config(alembic_config()).get_current_head()
    return MigrationContext.configure(connection).get_current_revision() == head
