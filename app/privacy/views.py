"""API schemas for archives, deletions and retention, for API, pages and commands."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from app.base.answers import ApiModel, Moment, example

ObstacleKind = Literal["owner", "last_organiser", "last_administrator"]

ARCHIVE_EXAMPLE = {
    "state": "ready",
    "asked_at": "2026-01-10T12:00:00Z",
    "ready_at": "2026-01-10T12:01:00Z",
    "expires_at": "2026-01-17T12:01:00Z",
    "size_bytes": 48213,
    "file": "/api/v1/me/archive/file",
}
OBSTACLE_EXAMPLE = {
    "kind": "owner",
    "competition": "demo",
    "message": "You own “Idiom shared task”: hand it over to another organiser, or delete it.",
}


class ArchiveOut(ApiModel):
    """The archive of all data stored about the user."""

    model_config = example(ARCHIVE_EXAMPLE)

    state: Literal["pending", "ready", "ended"] = Field(
        description="`ended`: it has expired or could not be made; request another one"
    )
    asked_at: Moment
    ready_at: Moment | None
    expires_at: Moment | None = Field(description="when its file is deleted")
    size_bytes: int | None
    file: str | None = Field(description="address of the file; null: not ready")


class ObstacleOut(ApiModel):
    """A reason why the account cannot be deleted yet."""

    model_config = example(OBSTACLE_EXAMPLE)

    kind: ObstacleKind
    competition: str = Field(description="its name; empty: the whole server")
    message: str = Field(description="what to do, as a sentence")


class DeletionOut(ApiModel):
    """The scheduled deletion of the account, and obstacles to it."""

    model_config = example({"due_at": "2026-01-24T12:00:00Z", "days": 14, "obstacles": []})

    due_at: Moment | None = Field(description="null: the account will not be deleted")
    days: int = Field(description="days between the request and the deletion, in which it can be undone")
    obstacles: list[ObstacleOut] = Field(description="empty: the account can be deleted")


class RetentionOut(ApiModel):
    """The time for which a kind of data is kept."""

    name: str
    data: str
    days: int | None = Field(description="null: for ever")
    note: str


class PrivacyOut(ApiModel):
    """The retention rules of this server, and the contact of its operator."""

    model_config = example(
        {
            "contact": "admin@example.org",
            "retention": [
                {"name": "rejected_files", "data": "Files of rejected submissions", "days": 30, "note": ""},
            ],
        }
    )

    contact: str = Field(description="an address, of mail or of a page; empty: not set")
    retention: list[RetentionOut]
