"""The audit log, for administrators."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from app.models import AuditEntry
from app.web.http.schemas import ApiModel, Moment, example


class AuditEntryOut(ApiModel):
    """One deed of an organiser or administrator; it never changes."""

    id: int
    at: Moment
    actor: str = Field(description="a user's name, or what acted by itself, such as the command line")
    action: str = Field(description="`thing.deed`")
    subject: str = Field(description="what it was done to")
    details: dict[str, Any]
    request_id: str | None = Field(description="as in the log; null: it was no request")


class AuditLog(ApiModel):
    """The newest first."""

    model_config = example(
        {
            "entries": [
                {
                    "id": 17,
                    "at": "2026-01-10T12:00:00Z",
                    "actor": "grace",
                    "action": "run.queue_again",
                    "subject": "run 4711",
                    "details": {},
                    "request_id": "0b9f6c1d2e3a4b5c",
                }
            ],
            "next": "/api/v1/audit?limit=1&before=17",
        }
    )

    entries: list[AuditEntryOut]
    next: str | None = Field(description="leads to older ones; null: these were the oldest")


def entry_out(entry: AuditEntry) -> AuditEntryOut:
    """Return the entry as an API model."""
    return AuditEntryOut(
        id=entry.id,
        at=entry.at,
        actor=entry.actor,
        action=entry.action,
        subject=entry.subject,
        details=entry.details,
        request_id=entry.request_id,
    )
