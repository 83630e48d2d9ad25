"""Migrates the database to this code's version; raises an error if the database is newer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationInfo
from alembic.script import Script
from alembic.util.exc import CommandError
from sqlalchemy import Connection, Engine, text

from app.operations.database_revision import NewerRevision, OtherRevision, check_revision

MIGRATIONS = Path(__file__).resolve().parents[2] / "migrations"
#: Our PostgreSQL advisory lock: the letters "ever".
LOCK_NUMBER = 0x65766572


class DatabaseTooNew(Exception):
    """The database was migrated by a newer Evergold."""


@dataclass(frozen=True, slots=True)
class AppliedRevision:
    """A revision that was just applied. title: the first line of its file."""

    name: str
    title: str

    def __str__(self) -> str:
        return f"{self.name}: {self.title}"


#: Called for each revision as it is applied; all of them commit together.
Report = Callable[[AppliedRevision], None]


def _silent(_: AppliedRevision) -> None:
    pass


def alembic_config(connection: Connection | None = None, report: Report = _silent) -> Config:
    """Return Alembic's configuration without an ini file."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    config.attributes["on_version_apply"] = partial(_applied, report)
    return config


def _applied(report: Report, *, step: MigrationInfo, **_: object) -> None:
    """Report a revision; Alembic calls this after each one."""
    script = step.up_revision
    if step.is_upgrade and isinstance(script, Script):
        report(AppliedRevision(script.revision, " ".join(script.doc.split()).rstrip(".")))


def upgrade(engine: Engine, report: Report = _silent) -> bool:
    """Migrate to the newest version; return whether there was anything to migrate. Raises DatabaseTooNew."""
    with migrating(engine) as connection:
        _wait_for_others(connection)
        try:
            check_revision(connection)
        except NewerRevision as error:
            raise DatabaseTooNew(str(error)) from None
        except OtherRevision:
            upgrade_to(connection, "head", report)
            return True
        return False


def upgrade_to(connection: Connection, revision: str, report: Report = _silent) -> None:
    """Apply the revisions up to this one, inside `migrating`. Raises DatabaseTooNew."""
    try:
        command.upgrade(alembic_config(connection, report), revision)
    except CommandError as error:
        raise DatabaseTooNew(
            "The database was made by a newer version of Evergold; please start that version."
        ) from error


@contextmanager
def migrating(engine: Engine) -> Iterator[Connection]:
    """Open one transaction in which tables may change with their rows; it commits at the end of the block.

    SQLite changes a table by copying it and dropping the old one, which it refuses while other rows refer to it.
    Foreign keys are therefore checked once, at the end.
    """
    writer = engine.execution_options(evergold_write=True)
    with writer.connect() as connection, _unchecked_foreign_keys(connection), connection.begin():
        yield connection
        if connection.dialect.name == "sqlite":
            _check_foreign_keys(connection)


@contextmanager
def _unchecked_foreign_keys(connection: Connection) -> Iterator[None]:
    """Disable foreign keys on SQLite, outside of a transaction and on the driver, since SQLAlchemy would begin one."""
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
    """Wait for another server's migration; on SQLite the write lock is already held."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": LOCK_NUMBER})
