"""Announcements to the whole server: a banner on every page, and a line in the API and the command line's status."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import or_, update

from app.administration.access import check_administrator
from app.administration.live import note_change
from app.administration.views import ServerAnnouncementOut
from app.base.errors import NotFound
from app.base.text import refuse
from app.models import ServerAnnouncement, Severity
from app.people.act import Act
from app.people.audit import actor_name

TEXT_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class NewAnnouncement:
    """An announcement to create. starts_at: None for now; ends_at: None for no planned end."""

    text: str
    severity: Severity = Severity.INFO
    starts_at: datetime | None = None
    ends_at: datetime | None = None


def announce(act: Act, wanted: NewAnnouncement) -> ServerAnnouncementOut:
    """Create an announcement to everybody on this server; return it. Raises Forbidden, InvalidForm."""
    check_administrator(act.user)
    text, starts_at = " ".join(wanted.text.split()), wanted.starts_at or act.now
    refuse({"text": _wrong_text(text), "ends": _wrong_end(starts_at, wanted.ends_at, act.now)})
    row = ServerAnnouncement(
        text=text,
        severity=wanted.severity,
        starts_at=starts_at,
        ends_at=wanted.ends_at,
        created_at=act.now,
        created_by=actor_name(act.user),
    )
    note_change(act.session)
    act.session.add(row)
    act.session.flush()
    made = ServerAnnouncementOut.of(row)
    act.record("announcement.make", f"announcement {row.id}", made.model_dump(mode="json"))
    return made


def _wrong_text(text: str) -> str:
    if not text:
        return "Write a sentence."
    if len(text) > TEXT_CHARACTERS:
        return f"At most {TEXT_CHARACTERS} characters."
    return "It contains characters that cannot be stored." if "\0" in text else ""


def _wrong_end(starts_at: datetime, ends_at: datetime | None, now: datetime) -> str:
    if ends_at is None:
        return ""
    if ends_at <= starts_at:
        return "It must end after it starts."
    return "This moment has passed." if ends_at <= now else ""


def end_announcement(act: Act, number: int) -> None:
    """End an announcement, or cancel it before it starts. Raises Forbidden; NotFound if it has already ended."""
    check_administrator(act.user)
    open_ = or_(ServerAnnouncement.ends_at.is_(None), ServerAnnouncement.ends_at > act.now)
    ended = update(ServerAnnouncement).where(ServerAnnouncement.id == number, open_).values(ends_at=act.now)
    note_change(act.session)
    if act.session.execute(ended.returning(ServerAnnouncement.id)).first() is None:
        raise NotFound(f"There is no current or coming announcement {number}.")
    act.record("announcement.end", f"announcement {number}")
