"""Announcements of a competition, and recipients of mails, in JSON."""

from __future__ import annotations

from pydantic import Field

from app.base import links
from app.messages.announcements import TEXT_CHARACTERS, Receivers
from app.models import Announcement
from app.models.messages import TITLE_CHARACTERS
from app.web.http.schemas import ApiModel, Moment, example

_EXAMPLE = {
    "id": 7,
    "title": "The deadline moves by a day",
    "text": "You have until **23:59 AoE** on Sunday.",
    "is_pinned": True,
    "published_at": "2026-01-10T12:00:00Z",
    "edited_at": None,
    "page": "/competitions/demo/announcements#announcement-7",
}


class AnnouncementIn(ApiModel):
    """An announcement to publish."""

    model_config = example({"title": _EXAMPLE["title"], "text": _EXAMPLE["text"], "is_pinned": True})

    title: str = Field(max_length=2 * TITLE_CHARACTERS, description="one line")
    text: str = Field(max_length=2 * TEXT_CHARACTERS, description="Markdown")
    is_pinned: bool = Field(False, description="stands above the others")


class NewAnnouncementIn(AnnouncementIn):
    """An announcement with the group that gets it by mail, too."""

    model_config = example(
        {"title": _EXAMPLE["title"], "text": _EXAMPLE["text"], "is_pinned": True, "mail": "entered:evaluation"}
    )

    mail: str = Field(
        "",
        max_length=200,
        description="`all`, `entered:PHASE`, `without-valid:PHASE` or `organisers`; empty: nobody gets a mail",
    )


class AnnouncementOut(ApiModel):
    """An announcement as everybody sees it."""

    model_config = example(_EXAMPLE)

    id: int
    title: str
    text: str = Field(description="Markdown")
    is_pinned: bool
    published_at: Moment
    edited_at: Moment | None = Field(description="when its words were changed; null: never")
    page: str


class AnnouncementList(ApiModel):
    """The pinned ones first, then the newest."""

    model_config = example({"announcements": [_EXAMPLE]})

    announcements: list[AnnouncementOut]


class PublishedAnnouncement(AnnouncementOut):
    """The announcement, with how many mails were written for it."""

    model_config = example({**_EXAMPLE, "mailed_to": "entered:evaluation", "mailed_count": 12})

    mailed_to: str = Field(description="the group; empty: nobody")
    mailed_count: int = Field(description="how many people get the mail")


class ReceiversOut(ApiModel):
    """Whom a mail to this group would reach now."""

    model_config = example({"group": "entered:evaluation", "receivers": 12, "switched_off": 1})

    group: str
    receivers: int = Field(description="how many people would get it")
    switched_off: int = Field(description="how many others of the group want no such mails")


def announcement_out(competition: str, announcement: Announcement) -> AnnouncementOut:
    """Return the announcement as an API model."""
    return AnnouncementOut(
        id=announcement.id,
        title=announcement.title,
        text=announcement.text,
        is_pinned=announcement.is_pinned,
        published_at=announcement.published_at,
        edited_at=announcement.edited_at,
        page=f"{links.announcements(competition)}#announcement-{announcement.id}",
    )


def published_out(competition: str, announcement: Announcement) -> PublishedAnnouncement:
    """Return the announcement as an API model for its author."""
    shown = announcement_out(competition, announcement).model_dump()
    return PublishedAnnouncement(**shown, mailed_to=announcement.mailed_to, mailed_count=announcement.mailed_count)


def receivers_out(group: str, receivers: Receivers) -> ReceiversOut:
    """Return the numbers of recipients, without names."""
    return ReceiversOut(group=group, receivers=receivers.count, switched_off=receivers.switched_off)
