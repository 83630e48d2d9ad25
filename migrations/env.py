"""Alembic's entry: migrates the database that the settings (or the caller's connection) name."""

from __future__ import annotations

from typing import Literal

from alembic import context
from alembic.autogenerate.api import AutogenContext
from sqlalchemy import JSON, Connection

import app.models  # noqa: F401 - fills Base.metadata
from app.base.config import get_settings
from app.base.db import Base, UtcDateTime, make_engine

config = context.config


def run(connection: Connection) -> None:
    """Apply the revisions in one transaction; SQLite changes tables by copying them (batch mode)."""
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        render_as_batch=connection.dialect.name == "sqlite",
        compare_type=True,
        compare_server_default=True,
        render_item=_render,
        on_version_apply=config.attributes.get("on_version_apply"),
    )
    with context.begin_transaction():
        context.run_migrations()


def _render(kind: str, item: object, autogen_context: AutogenContext) -> str | Literal[False]:
    """Render own column types by their names in migrations.types, since revisions must not import app."""
    if kind == "type" and isinstance(item, UtcDateTime):
        autogen_context.imports.add("from migrations.types import UtcDateTime")
        return "UtcDateTime()"
    if kind == "type" and isinstance(item, JSON):
        autogen_context.imports.add("from migrations.types import Json")
        return "Json"
    return False


def main() -> None:
    """Use the connection passed by app.operations.migrate, or else open the one of the settings."""
    handed: Connection | None = config.attributes.get("connection")
    if handed is not None:
        run(handed)
        return
    engine = make_engine(get_settings().database_address)
    with engine.execution_options(evergold_write=True).connect() as connection:
        run(connection)
        connection.commit()
    engine.dispose()


main()
