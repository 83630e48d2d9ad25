"""Inserts by single statements, since the unit of work takes several times as long.

For the few kinds of rows that are created hundreds of times a minute.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, cast

from sqlalchemy import Table, inspect
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session, make_transient_to_detached

from app.base.db import Base


def insert_now(session: Session, row: Base) -> bool:
    """Insert a new row and attach it to the session as if it had been flushed.

    False, without an insert, on a conflict with a unique constraint.
    """
    table = cast(Table, inspect(type(row)).local_table)
    names = [column.name for column in table.columns]
    connection = session.connection()
    said = {name: row.__dict__[name] for name in names if name in row.__dict__}
    result = connection.execute(_insert(table, connection.dialect.name), said)
    key = result.one_or_none()
    if key is None:
        return False
    known = cast(dict[str, Any], result.last_inserted_params()) | dict(key._mapping)  # with defaults
    for name in names:
        if name not in said:
            setattr(row, name, known.get(name))
    make_transient_to_detached(row)
    session.add(row)
    return True


@lru_cache
def _insert(table: Table, dialect: str) -> Any:
    """Build the statement once: looking it up among compiled ones is part of its cost."""
    insert = postgresql.insert if dialect == "postgresql" else sqlite.insert
    return insert(table).on_conflict_do_nothing().returning(*table.primary_key.columns)
