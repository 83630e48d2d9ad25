"""A competition's dates as a calendar (iCalendar), its announcements and boards as feeds (Atom); from what is shown."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import quote

from app.base.times import in_utc
from app.boards.rows import Leaderboard, LeaderboardRow
from app.boards.tables import format_cell
from app.models import Announcement, Board, Competition, Phase, RowStatus

if TYPE_CHECKING:  # read when somebody asks for a feed: with XML and time zones they take 10 MB
    from icalendar import Alarm, Event

#: A reminder so long before a deadline.
REMINDER = timedelta(days=1)


def calendar(competition: Competition, address: str, now: datetime) -> bytes:
    """The beginning and end of every phase as events without length, in UTC; `address`: of the competition's page.

    An event keeps its identity when its date moves, so that subscribed calendars move it too.
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
    event.add("description", f"{phase.title} {what} at {in_utc(at)}. {address}")
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


def board_feed(competition: Competition, phase: Phase, board: Board, shown: Leaderboard, page: str, feed: str) -> bytes:
    """The rows of a board, latest entry first, as this viewer sees them: an empty feed while the board is hidden.

    page, feed: addresses of the board and of the feed itself. Rows without a date (published elsewhere) are left out.
    """
    dated = sorted(
        ((row.achieved_at, row) for row in shown.rows if row.achieved_at is not None),
        key=lambda pair: (pair[0], pair[1].team),
        reverse=True,
    )
    from feedgen.feed import FeedGenerator

    made = FeedGenerator()
    made.id(page)
    made.title(f"{competition.title}: {board.title}, {phase.title}")
    made.link(href=page, rel="alternate")
    made.link(href=feed, rel="self")
    made.updated(dated[0][0] if dated else phase.starts_at)
    made.author(name=competition.title)
    for at, row in dated:
        entry = made.add_entry(order="append")
        entry.id(f"{page}#{quote(row.team)}-{at.isoformat()}")
        entry.title(_headline(row))
        entry.link(href=page)
        entry.updated(at)
        entry.content(_scores(shown, row), type="text")
    text: bytes = made.atom_str(pretty=True)
    return text


def announcement_feed(
    competition: Competition, announcements: Sequence[tuple[Announcement, str]], page: str, feed: str
) -> bytes:
    """Announcements with their text as HTML, the latest first; one keeps its identity when it is edited.

    page, feed: addresses of the page with all of them, and of the feed itself.
    """
    from feedgen.feed import FeedGenerator

    made = FeedGenerator()
    made.id(page)
    made.title(f"{competition.title}: announcements")
    made.link(href=page, rel="alternate")
    made.link(href=feed, rel="self")
    made.author(name=competition.title)
    dated = [(one.edited_at or one.published_at, one, html) for one, html in announcements]
    made.updated(max((at for at, _, _ in dated), default=competition.created_at))
    for at, one, html in sorted(dated, key=lambda part: (part[0], part[1].id), reverse=True):
        entry = made.add_entry(order="append")
        entry.id(f"{page}#announcement-{one.id}")
        entry.title(one.title)
        entry.link(href=f"{page}#announcement-{one.id}")
        entry.published(one.published_at)
        entry.updated(at)
        entry.content(html, type="html")
    text: bytes = made.atom_str(pretty=True)
    return text


def _headline(row: LeaderboardRow) -> str:
    place = f"rank {row.rank}" if row.rank is not None else "not ranked" if row.kind == "team" else row.kind
    if row.status is not None:
        place = f"{'not ranked' if row.status is RowStatus.UNRANKED else row.status}: {row.note}".removesuffix(": ")
    return f"{''.join(filter(str.isprintable, row.team))}: {place}"  # XML has no control characters


def _scores(shown: Leaderboard, row: LeaderboardRow) -> str:
    cells = zip(shown.columns, row.cells, strict=False)  # a board of ranks alone has rows without cells
    return "; ".join(f"{column.title} {format_cell(cell, column)}" for column, cell in cells) or _headline(row)
