"""An act: somebody changes something, in one transaction, at one moment. Acts write as visits read."""

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
    """The transaction in which somebody changes something, who they are, the moment that decides, and the settings.

    The caller commits the session. user: None for the command line.
    """

    session: Session
    user: User | None
    now: datetime
    settings: Settings

    def record(self, action: str, subject: str, details: Mapping[str, Any] | None = None) -> AuditEntry:
        """Add an entry to the audit log, as `app.people.audit.record`; it commits together with the act."""
        return audit.record(self.session, self.user, action, subject, details, now=self.now)


@dataclass(frozen=True, slots=True)
class UserAct(Act):
    """The act of somebody who is logged in."""

    user: User
