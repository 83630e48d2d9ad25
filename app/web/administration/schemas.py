"""Requests of administrators to the API."""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime, Field

from app.base.answers import ApiModel, example
from app.models import Severity


class SettingChange(ApiModel):
    """The new value of a setting."""

    model_config = example({"value": "closed"})

    value: str | int | bool


class LooksChange(ApiModel):
    """New looks of the server; fields that are absent keep their values."""

    model_config = example(
        {
            "name": "Scores of Example University",
            "accent": "#00338d",
            "accent_dark": "",
            "front": "Markdown.",
            "featured": ["demo"],
        }
    )

    name: str | None = None
    accent: str | None = Field(None, description="six hexadecimal digits; empty: the default")
    accent_dark: str | None = Field(None, description="accent on dark pages; empty: derived from `accent`")
    front: str | None = Field(None, description="Markdown")
    featured: list[str] | None = Field(None, description="names of competitions")


class NewServerAnnouncement(ApiModel):
    """An announcement to everybody on this server."""

    model_config = example(
        {
            "text": "The server moves on Friday from 18:00 to 20:00 UTC; nothing can be submitted then.",
            "severity": "warning",
            "starts_at": "2026-01-10T12:00:00Z",
            "ends_at": "2026-01-16T20:00:00Z",
        }
    )

    text: str
    severity: Severity = Severity.INFO
    starts_at: AwareDatetime | None = Field(None, description="default: now")
    ends_at: AwareDatetime | None = Field(None, description="default: until an administrator ends it")


class BlockReason(ApiModel):
    """The reason for a block, which the person reads."""

    model_config = example({"reason": "Hundreds of accounts of one person."})

    reason: str = ""


class OrganiserRulesIn(ApiModel):
    """Rules for one organiser, as JSON."""

    model_config = example({"organising": "approved", "competitions": 20, "mebibytes": None})

    organising: Literal["rule", "approved", "barred"]
    competitions: int | None = Field(None, description="how many they may own; null: the server's limit")
    mebibytes: int | None = Field(None, description="size of files and gold; null: the server's limit")


class RequestAnswer(ApiModel):
    """The decision on a request to create competitions."""

    model_config = example({"is_approved": True, "text": "Welcome."})

    is_approved: bool
    text: str = Field("", description="a sentence to add to the answer")


class NewOwner(ApiModel):
    """The new owner of a competition."""

    model_config = example({"owner": "grace"})

    owner: str
