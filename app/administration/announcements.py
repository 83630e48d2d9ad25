"""Announcements to the whole server: a banner on every page, and a line in the API and the command line's status."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import or_, update
from sqlalchemy.orm import Session

from app.administration.access import check_administrator
from app.administration.live import note_change
from app.administration.views import ServerAnnouncementOut
from app.base.errors import NotFound
from app.base.text import refuse
from app.models import ServerAnnouncement, Severity, User
from app.people.audit import actor_name, record

TEXT_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class NewAnnouncement:
    """An announcement to be made. starts_at: None for now; ends_at: None for until somebody ends it."""

    text: str
    severity: Severity = Severity.INFO
    starts_at: datetime | None = None
    ends_at: datetime | None = None


def announce(session: Session, wanted: NewAnnouncement, *, by: User | None, now: datetime) -> ServerAnnouncementOut:
    """Announce something to everybody on this server. by: None for the command line. Raises Forbidden, InvalidForm."""
    check_administrator(by)
    text, starts_at = " ".join(wanted.text.split()), wanted.starts_at or now
    refuse({"text": _wrong_text(text), "ends": _wrong_end(starts_at, wanted.ends_at, now)})
    row = ServerAnnouncement(
        text=text,
        severity=wanted.severity,
        starts_at=starts_at,
        ends_at=wanted.ends_at,
        created_at=now,
        created_by=actor_name(by),
    )
    note_change(session)
    session.add(row)
    session.flush()
    made = ServerAnnouncementOut.of(row)
    record(session, by, "announcement.make", f"announcement {row.id}", made.model_dump(mode="json"), now=now)
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


def end_announcement(session: Session, number: int, *, by: User | None, now: datetime) -> None:
    """End an announcement, or cancel it before it starts. Raises Forbidden, NotFound if it has ended."""
    check_administrator(by)
    open_ = or_(ServerAnnouncement.ends_at.is_(None), ServerAnnouncement.ends_at > now)
    ended = update(ServerAnnouncement).where(ServerAnnouncement.id == number, open_).values(ends_at=now)
    note_change(session)
    if session.execute(ended.returning(ServerAnnouncement.id)).first() is None:
        raise NotFound(f"There is no current or coming announcement {number}.")
    record(session, by, "announcement.end", f"announcement {number}", now=now)
