"""Bringing the database's tables to this code's version: `upgrade`, and what to say when the database is ahead."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util.exc import CommandError
from sqlalchemy import Connection, Engine, text

from app.operations.database_revision import is_current

MIGRATIONS = Path(__file__).resolve().parents[2] / "migrations"
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
    with migrating(engine) as connection:
        _wait_for_others(connection)
        if is_current(connection):
            return False
        upgrade_to(connection, "head")
        return True


def upgrade_to(connection: Connection, revision: str) -> None:
    """Apply the revisions up to this one, inside `migrating`; raises DatabaseTooNew."""
    try:
        command.upgrade(alembic_config(connection), revision)
    except CommandError as error:
        raise DatabaseTooNew(
            "The database was made by a newer version of Evergold; please start that version."
        ) from error


@contextmanager
def migrating(engine: Engine) -> Iterator[Connection]:
    """One transaction in which tables may change, rows and all; it commits at the end of the block.

    SQLite changes a table by copying it and dropping the old one, which it refuses while rows elsewhere refer to it:
    foreign keys are therefore checked at the end, all at once, instead of at every step.
    """
    writer = engine.execution_options(evergold_write=True)
    with writer.connect() as connection, _unchecked_foreign_keys(connection), connection.begin():
        yield connection
        if connection.dialect.name == "sqlite":
            _check_foreign_keys(connection)


@contextmanager
def _unchecked_foreign_keys(connection: Connection) -> Iterator[None]:
    """On SQLite; to be said outside of any transaction, so straight to the driver: SQLAlchemy would begin one."""
    if connection.dialect.name != "sqlite":
        yield
        return
    driver = connection.connection.driver_connection
    if driver is None:
        raise RuntimeError("the connection is closed")
    driver.execute("PRAGMA foreign_keys=OFF")
    try:
        yield
    finally:
        driver.execute("PRAGMA foreign_keys=ON")


def _check_foreign_keys(connection: Connection) -> None:
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
    if broken:
        raise RuntimeError(f"the migration left rows that refer to nothing, in {sorted({row[0] for row in broken})}")


def _wait_for_others(connection: Connection) -> None:
    """Two servers may be started at the same moment; SQLite's write lock is held already."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": LOCK_NUMBER})
