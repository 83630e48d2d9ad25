"""The server as administrators see it, and its announcements to everybody: shared by pages, API and commands."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from app.base.answers import ApiModel, Moment, example
from app.models import ServerAnnouncement, Severity

SETTING_EXAMPLE: dict[str, Any] = {
    "name": "registration",
    "title": "Registration",
    "group": "New accounts",
    "description": "closed: no new accounts, except those made with `evergold account create`",
    "kind": "choice",
    "choices": ["open", "closed"],
    "value": "closed",
    "environment": "open",
    "is_changed": True,
    "changed_at": "2026-01-10T12:00:00Z",
    "changed_by": "grace",
}
ANNOUNCEMENT_EXAMPLE: dict[str, Any] = {
    "id": 3,
    "text": "The server moves on Friday from 18:00 to 20:00 UTC; nothing can be submitted then.",
    "severity": "warning",
    "starts_at": "2026-01-10T12:00:00Z",
    "ends_at": "2026-01-16T20:00:00Z",
}


class SettingOut(ApiModel):
    """A setting that may change while the server runs."""

    model_config = example(SETTING_EXAMPLE)

    name: str
    title: str
    group: str = Field(description="the section of the page")
    description: str
    kind: Literal["choice", "number", "text", "switch"]
    choices: list[str] = Field(description="of a choice")
    value: str | int | bool = Field(description="what holds now")
    environment: str | int | bool = Field(description="what holds without the change: `EVERGOLD_…`, or the default")
    is_changed: bool = Field(description="whether an administrator changed it, whatever the environment says")
    changed_at: Moment | None
    changed_by: str | None = Field(description="a user name, or the command line")


class SettingList(ApiModel):
    """All settings that may change while the server runs, by section."""

    model_config = example({"settings": [SETTING_EXAMPLE]})

    settings: list[SettingOut]


class ServerAnnouncementOut(ApiModel):
    """An announcement to everybody on this server."""

    model_config = example(ANNOUNCEMENT_EXAMPLE)

    id: int
    text: str
    severity: Severity
    starts_at: Moment
    ends_at: Moment | None = Field(description="null: until an administrator ends it")

    @classmethod
    def of(cls, row: ServerAnnouncement) -> ServerAnnouncementOut:
        """Return the announcement."""
        return cls(
            id=row.id, text=row.text, severity=Severity(row.severity), starts_at=row.starts_at, ends_at=row.ends_at
        )

    def is_shown_at(self, now: datetime) -> bool:
        """Return whether it is shown at this moment."""
        return self.starts_at <= now and (self.ends_at is None or now < self.ends_at)

    @property
    def rank(self) -> tuple[int, int]:
        """The place among others: the most severe first, then the newest."""
        return -list(Severity).index(self.severity), -self.id


class ServerAnnouncementList(ApiModel):
    """The most severe first, then the newest."""

    model_config = example({"announcements": [ANNOUNCEMENT_EXAMPLE]})

    announcements: list[ServerAnnouncementOut]


class ServerOverview(ApiModel):
    """Numbers of the server, and of requests that wait for its administrators."""

    model_config = example(
        {
            "accounts": 412,
            "unconfirmed": 31,
            "blocked": 2,
            "competitions": 9,
            "submissions": 18203,
            "requests": 1,
            "announcements": 0,
            "changed_settings": 2,
        }
    )

    accounts: int
    unconfirmed: int = Field(description="accounts whose address nobody has confirmed")
    blocked: int = Field(description="accounts that may not be used")
    competitions: int
    submissions: int
    requests: int = Field(description="to organise, without an answer")
    announcements: int = Field(description="to everybody, now or ahead")
    changed_settings: int = Field(description="that are not as the environment says")
