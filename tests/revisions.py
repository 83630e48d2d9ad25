"""Databases of another revision than this program's, for tests and attacks."""

from __future__ import annotations

from sqlalchemy import Engine, text

#: No program has it.
FUTURE = "0999"


def set_revision(engine: Engine, revision: str) -> None:
    """Set the revision that the database has on record for its tables."""
    with engine.execution_options(evergold_write=True).begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :revision"), {"revision": revision})


def move_on(engine: Engine) -> None:
    """Change the tables as a newer version could: a column that boards and uploads need gets a new name."""
    with engine.execution_options(evergold_write=True).begin() as connection:
        connection.execute(text("ALTER TABLE phase_tasks RENAME COLUMN board_version TO board_edition"))
        connection.execute(text("UPDATE alembic_version SET version_num = :revision"), {"revision": FUTURE})
