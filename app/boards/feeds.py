"""A competition's dates as a calendar (iCalendar); its announcements and boards as feeds (Atom)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from app.base.text import is_control
from app.boards.rows import Leaderboard, LeaderboardRow
from app.boards.snapshots import Official
from app.boards.tables import format_cell
from app.competitions.columns import ranked_by
from app.models import Announcement, Board, Competition, Phase, RowStatus
from evergold.moments import deadline_words

if TYPE_CHECKING:  # loaded on demand: with time zones it takes 2 MB
    from icalendar import Alarm, Event


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a feed. id: unique and permanent; published: None if it equals `updated`."""

    id: str
    title: str
    page: str
    updated: datetime
    content: str
    type: Literal["text", "html"] = "text"
    published: datetime | None = None


def atom(title: str, entries: Iterable[Entry], *, page: str, feed: str, author: str, updated: datetime) -> bytes:
    """Return an Atom document. page, feed: addresses of the described page and of the feed itself."""
    root = Element("feed", xmlns="http://www.w3.org/2005/Atom")
    _put(root, "id", page)
    _put(root, "title", title)
    _put(root, "updated", updated.isoformat())
    _put(_put(root, "author"), "name", author)
    _put(root, "link", href=page, rel="alternate")
    _put(root, "link", href=feed, rel="self")
    for entry in entries:
        one = _put(root, "entry")
        _put(one, "id", entry.id)
        _put(one, "title", entry.title)
        _put(one, "updated", entry.updated.isoformat())
        if entry.published is not None:
            _put(one, "published", entry.published.isoformat())
        _put(one, "link", href=entry.page, rel="alternate")
        _put(one, "content", entry.content, type=entry.type)
    indent(root)
    document: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return document


def _put(parent: Element, name: str, text: str | None = None, **attributes: str) -> Element:
    """Add an element, remove control characters (which XML forbids) from its text, and return it."""
    child = SubElement(parent, name, attributes)
    is_plain = text is None or text.isprintable()  # true for nearly all of thousands
    child.text = text if is_plain else "".join(one for one in text or "" if not is_control(one))
    return child


#: Time between a reminder and its deadline.
REMINDER = timedelta(days=1)


def calendar(competition: Competition, address: str, now: datetime) -> bytes:
    """Return a calendar with start and end of every phase as events without duration, in UTC.

    address: of the competition's page. An event keeps its id when its date changes, so that subscribed calendars move
    it.
    """
    from icalendar import Calendar

    made = Calendar()
    made.add("prodid", "-//Evergold//dates//EN")
    made.add("version", "2.0")
    made.add("name", competition.title)
    made.add("x-wr-calname", competition.title)
    made.add("refresh-interval", timedelta(hours=6))
    for phase in competition.phases:
        made.add_component(_event(competition, phase, "opens", phase.starts_at, address, now))
        if phase.ends_at is not None:
            made.add_component(_event(competition, phase, "closes", phase.ends_at, address, now))
    text: bytes = made.to_ical()
    return text


def _event(competition: Competition, phase: Phase, what: str, at: datetime, address: str, now: datetime) -> Event:
    from icalendar import Event

    event = Event()
    event.add("uid", f"{competition.name}-{phase.name}-{what}@evergold")
    event.add("dtstamp", now)
    event.add("dtstart", at)
    event.add("summary", f"{competition.title}: {phase.title} {what}")
    event.add("description", f"{phase.title} {what} {deadline_words(at)}. {address}")
    event.add("url", address)
    if what == "closes":
        event.add_component(_reminder())
    return event


def _reminder() -> Alarm:
    from icalendar import Alarm

    alarm = Alarm()
    alarm.add("action", "DISPLAY")
    alarm.add("description", "One day left")
    alarm.add("trigger", -REMINDER)
    return alarm


def board_feed(
    place: tuple[Competition, Phase, Board], shown: Leaderboard, official: Sequence[Official], page: str, feed: str
) -> bytes:
    """Return a feed of official versions, then rows, latest first, as this viewer sees them; empty while the board is
    hidden.

    page, feed: addresses of the board and of the feed itself. Rows without a date (published elsewhere) are left out.
    """
    competition, phase, board = place
    dated = sorted(
        ((row.achieved_at, row) for row in shown.rows if row.achieved_at is not None),
        key=lambda pair: (pair[0], pair[1].team),
        reverse=True,
    )
    entries = (
        Entry(f"{page}#{quote(row.team)}-{at.isoformat()}", _headline(row), page, at, _scores(shown, row))
        for at, row in dated
    )
    versions = [_version_entry(one, page) for one in reversed(official)]
    title = f"{competition.title}: {board.title}, {phase.title}. {ranked_by(shown.columns, shown.rank_by)}"
    updated = max([phase.starts_at, *(at for at, _ in dated[:1]), *(one.updated for one in versions)])
    return atom(title, (*versions, *entries), page=page, feed=feed, author=competition.title, updated=updated)


def _version_entry(official: Official, page: str) -> Entry:
    """Return the entry of an official board; it is updated when a later board supersedes it."""
    one, successor = official.snapshot, official.successor
    later = successor.snapshot if successor else None
    address = f"{page}/official/{one.number}"
    title = f"Official results no. {one.number}" + (f", superseded by {successor.name}" if successor else "")
    content = f"{title}. Closed {deadline_words(one.closed_at)}." + (f" {one.note}" if one.note else "")
    return Entry(address, title, address, later.made_at if later else one.made_at, content, published=one.made_at)


def announcement_feed(
    competition: Competition, announcements: Sequence[tuple[Announcement, str]], page: str, feed: str
) -> bytes:
    """Return a feed of announcements with their text as HTML, latest first; an edited one keeps its id.

    page, feed: addresses of the page with all announcements and of the feed itself.
    """
    latest_first = sorted(
        ((one.edited_at or one.published_at, one, html) for one, html in announcements),
        key=lambda part: (part[0], part[1].id),
        reverse=True,
    )
    entries = (
        Entry(place, one.title, place, at, html, type="html", published=one.published_at)
        for at, one, html in latest_first
        for place in [f"{page}#announcement-{one.id}"]
    )
    updated = latest_first[0][0] if latest_first else competition.created_at
    title = f"{competition.title}: announcements"
    return atom(title, entries, page=page, feed=feed, author=competition.title, updated=updated)


def _headline(row: LeaderboardRow) -> str:
    place = f"rank {row.rank}" if row.rank is not None else "not ranked" if row.kind == "team" else row.kind
    if row.status is not None:
        place = f"{'not ranked' if row.status is RowStatus.UNRANKED else row.status}: {row.note}".removesuffix(": ")
    return f"{row.team}: {place}"


def _scores(shown: Leaderboard, row: LeaderboardRow) -> str:
    cells = zip(shown.columns, row.cells, strict=False)  # rows of a board with ranks only have no cells
    return "; ".join(f"{column.full_title} {format_cell(cell, column)}" for column, cell in cells) or _headline(row)
