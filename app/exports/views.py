"""API schemas for exports, for organisers: participants, and the log of downloads."""

from __future__ import annotations

from pydantic import AliasPath, ConfigDict, Field

from app.base.answers import ApiModel, Moment, example

_DOWNLOAD = {
    "downloaded_at": "2026-01-10T12:00:00Z",
    "username": "ada",
    "email": "ada@example.org",
    "phase": "evaluation",
    "task": "idiom-detection",
    "file": "items.csv",
    "sha256": "0f9d2c7e6a1b4c5d8e3f7a6b9c0d1e2f3a4b5c6d7e8f9a0b1c2d3e4f5a6b7c8d",
}


class DownloadOut(ApiModel):
    """A download, with the names at that time."""

    model_config = example(_DOWNLOAD) | ConfigDict(populate_by_name=True)

    downloaded_at: Moment
    username: str = Field(validation_alias=AliasPath("user", "username"))
    email: str = Field(validation_alias=AliasPath("user", "email"))
    phase: str
    task: str
    file: str
    sha256: str = Field(description="checksum of the downloaded content")


class DownloadList(ApiModel):
    """Downloads of files for participants, newest first."""

    model_config = example({"downloads": [_DOWNLOAD], "next": None})

    downloads: list[DownloadOut]
    next: str | None = Field(description="the next page; null: this is the last")


_PARTICIPANT = {
    "username": "ada",
    "email": "ada@example.org",
    "display_name": "Ada Lovelace",
    "team": "Analytical Engines",
    "registered_at": "2026-01-10T12:00:00Z",
    "submissions": {"practice": 12, "evaluation": 3},
}


class ParticipantOut(ApiModel):
    """A participant."""

    model_config = example(_PARTICIPANT)

    username: str
    email: str
    display_name: str
    team: str = Field(description="empty: no team yet")
    registered_at: Moment | None = Field(description="when the person registered for this competition; null: not known")
    submissions: dict[str, int] = Field(description="number of submissions of this person, by phase")


class ParticipantList(ApiModel):
    """All participants, sorted by user name."""

    model_config = example({"participants": [_PARTICIPANT]})

    participants: list[ParticipantOut]
