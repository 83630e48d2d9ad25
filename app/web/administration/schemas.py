"""Requests of administrators to the API."""

from __future__ import annotations

from pydantic import AwareDatetime, Field

from app.base.answers import ApiModel, example
from app.models import Severity


class SettingChange(ApiModel):
    """The new value of a setting."""

    model_config = example({"value": "closed"})

    value: str | int | bool


class NewServerAnnouncement(ApiModel):
    """An announcement to everybody on this server."""

    model_config = example(
        {
            "text": "The server moves on Friday from 18:00 to 20:00 UTC; nothing can be submitted then.",
            "severity": "warning",
            "ends_at": "2026-01-16T20:00:00Z",
        }
    )

    text: str
    severity: Severity = Severity.INFO
    starts_at: AwareDatetime | None = Field(None, description="default: now")
    ends_at: AwareDatetime | None = Field(None, description="default: until an administrator ends it")
