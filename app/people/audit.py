"""Audit log: every action of an organiser or administrator, recorded in the transaction that performs it.

Append-only: nothing here changes or deletes a row, and the database refuses it (see `app.models.accounts`). `details`
never contains a secret, only names, counts, digests, and values before and after a change.
"""

from __future__ import annotations

import getpass
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.base.logs import bound_fields
from app.models import AuditEntry, User
from app.models.accounts import ACTION_CHARACTERS, SUBJECT_CHARACTERS
from app.models.columns import NAME_CHARACTERS


def record(
    session: Session,
    actor: User | str | None,
    action: str,
    subject: str,
    details: Mapping[str, Any] | None = None,
    *,
    now: datetime | None = None,
) -> AuditEntry:
    """Add an entry in the caller's transaction, so that it is committed together with the action; return it.

    - actor: the user; None for the command line, recorded with the name of the machine's user; a text for a part of the
     server that acts by itself.
    - action: `thing.deed`.
    - subject: the object, as people would name it (`competition idioms`, `user ada`).
    - details: JSON.
    """
    entry = AuditEntry(
        at=now or datetime.now(UTC),
        actor_id=actor.id if isinstance(actor, User) else None,
        actor=actor_name(actor),
        action=action[:ACTION_CHARACTERS],
        subject=subject[:SUBJECT_CHARACTERS],
        details=dict(details or {}),
        request_id=bound_fields().get("request_id"),
    )
    session.add(entry)
    session.flush()
    return entry


Word = Annotated[str | None, Field(max_length=300, description="only entries with exactly this value")]


class AuditFilter(BaseModel):
    """The filters of the audit log, which match exactly; None: all.

    `action` may also be only the part before the dot.
    """

    model_config = ConfigDict(frozen=True)

    actor: Word = None
    action: Word = None
    subject: Word = None


def list_entries(
    session: Session, wanted: AuditFilter | None = None, *, limit: int, before: int | None = None
) -> list[AuditEntry]:
    """List entries, newest first. before: only entries with a smaller id."""
    wanted = wanted or AuditFilter()
    query = select(AuditEntry).order_by(AuditEntry.id.desc()).limit(limit)
    if before is not None:
        query = query.where(AuditEntry.id < before)
    if wanted.actor is not None:
        query = query.where(AuditEntry.actor == wanted.actor)
    if wanted.action is not None:
        matches = AuditEntry.action == wanted.action
        query = query.where(matches | AuditEntry.action.startswith(f"{wanted.action}.", autoescape=True))
    if wanted.subject is not None:
        query = query.where(AuditEntry.subject == wanted.subject)
    return list(session.scalars(query))


def actor_name(actor: User | str | None) -> str:
    """Return the name under which `record` stores an actor."""
    if isinstance(actor, User):
        return actor.username[:NAME_CHARACTERS]
    return (actor if actor is not None else f"command line ({_machine_user()})")[:NAME_CHARACTERS]


def _machine_user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container user with a number but no name
        return "unknown"
