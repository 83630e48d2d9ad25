"""An act: the context of a change in one transaction at one moment, as a visit is for reading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from app.base.config import Settings
from app.models import AuditEntry, User
from app.people import audit


@dataclass(frozen=True, slots=True)
class Act:
    """The context of a change.

    session: its transaction, which the caller commits; user: who changes something, None for the command line; now: the
    moment that decides.
    """

    session: Session
    user: User | None
    now: datetime
    settings: Settings

    def record(self, action: str, subject: str, details: Mapping[str, Any] | None = None) -> AuditEntry:
        """Add an entry to the audit log like `app.people.audit.record`; it is committed together with the change."""
        return audit.record(self.session, self.user, action, subject, details, now=self.now)


@dataclass(frozen=True, slots=True)
class UserAct(Act):
    """The context of a change by a logged-in user."""

    user: User
