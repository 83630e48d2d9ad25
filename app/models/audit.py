"""Audit log of organisers' and administrators' actions. `app.people.audit` adds rows, which never change.

The database refuses UPDATE and DELETE (triggers of migration 0005; a later migration that copies this table on SQLite
has to recreate them).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.base.db import Base
from app.models.columns import NAME_CHARACTERS

ACTION_CHARACTERS = 60
SUBJECT_CHARACTERS = 300


class AuditEntry(Base):
    """One action. The actor is also stored by name, as the account was called at that time."""

    __tablename__ = "audit_log"
    __table_args__ = (Index("ix_audit_log_subject", "subject"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    actor_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))  # None: the command line, or the server
    actor: Mapped[str] = mapped_column(String(NAME_CHARACTERS))
    action: Mapped[str] = mapped_column(String(ACTION_CHARACTERS))  # `thing.deed`, such as `token.create`
    subject: Mapped[str] = mapped_column(String(SUBJECT_CHARACTERS))  # the object of the action, such as `user ada`
    details: Mapped[dict[str, Any]] = mapped_column(default=dict)  # never a secret
    request_id: Mapped[str | None] = mapped_column(String(64))
