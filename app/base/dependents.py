"""Deletes rows together with every row that refers to them, directly or through others."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Table, delete, or_, select
from sqlalchemy.orm import Session

from app.base.db import Base


def delete_with_dependents(session: Session, root: Table, condition: ColumnElement[bool]) -> None:
    """Delete the rows of `root` that meet the condition, after all rows that refer to them.

    References of a table to itself are not followed.
    """
    tables = Base.metadata.sorted_tables
    belongs: dict[str, ColumnElement[bool]] = {root.name: condition}
    for table in tables:
        if table is not root and (conditions := _conditions(table, belongs)):
            belongs[table.name] = or_(*conditions)
    for table in reversed(tables):
        if table.name in belongs:
            session.execute(delete(table).where(belongs[table.name]))


def _conditions(table: Table, belongs: dict[str, ColumnElement[bool]]) -> list[ColumnElement[bool]]:
    """Return conditions for rows that refer to a row known to be deleted."""
    return [
        key.parent.in_(select(key.column).where(belongs[key.column.table.name]))
        for key in sorted(table.foreign_keys, key=lambda key: key.parent.name)
        if key.column.table is not table and key.column.table.name in belongs
    ]
