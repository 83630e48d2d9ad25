"""Deletion of competitions whose waiting period is over, with every row that belongs to them.

Nothing refers to their files in storage or their sealed files afterwards; the sweep removes those like all unreferenced
files.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ColumnElement, Table, delete, or_, select
from sqlalchemy.orm import Session

from app.base.db import Base
from app.competitions.life import submitting_teams
from app.models import Competition, Halt
from app.people.audit import record

#: Actor name in the audit log.
SWEEP = "the sweep"


def delete_due(session: Session, now: datetime) -> list[str]:
    """Delete what is due and return the names. Competitions that received submissions meanwhile stay, archived."""
    due = select(Competition).where(Competition.delete_at <= now).order_by(Competition.id).with_for_update()
    deleted = []
    for competition in session.scalars(due).all():
        subject = f"competition {competition.name}"
        if submitting_teams(session, competition):
            competition.delete_at, competition.halt = None, Halt.ARCHIVED
            record(session, SWEEP, "competition.keep", subject, {"reason": "teams have submitted"}, now=now)
        else:
            name = competition.name
            session.expunge(competition)
            delete_rows(session, competition.id)
            record(session, SWEEP, "competition.deleted", subject, now=now)
            deleted.append(name)
    return deleted


def delete_rows(session: Session, competition_id: int) -> None:
    """Delete every row that refers to the competition, directly or through others, and the competition itself."""
    tables = Base.metadata.sorted_tables
    belongs: dict[str, ColumnElement[bool]] = {
        Competition.__tablename__: Base.metadata.tables[Competition.__tablename__].c.id == competition_id
    }
    for table in tables:
        if conditions := _conditions(table, belongs):
            belongs[table.name] = or_(*conditions)
    for table in reversed(tables):
        if table.name in belongs:
            session.execute(delete(table).where(belongs[table.name]))


def _conditions(table: Table, belongs: dict[str, ColumnElement[bool]]) -> list[ColumnElement[bool]]:
    """Return SQL conditions: the row refers to a row known to belong to the competition."""
    return [
        key.parent.in_(select(key.column).where(belongs[key.column.table.name]))
        for key in sorted(table.foreign_keys, key=lambda key: key.parent.name)
        if key.column.table is not table and key.column.table.name in belongs
    ]
