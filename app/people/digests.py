"""Digests: the news of a day or a week in one mail, for people who prefer that.

Each piece of news is a row, written in the transaction of its cause and deleted in that of the mail, so that it is
neither lost nor sent twice. An announcement appears in its current version, and not at all if it was withdrawn or
hidden in the meantime.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, time, timedelta

from sqlalchemy import Engine, delete, select, update
from sqlalchemy.orm import Session, joinedload

from app.base.addresses import public_address
from app.base.config import Settings
from app.base.db import reading, writing
from app.base.logs import log_and_continue
from app.base.text import one_line
from app.models import Announcement, DigestItem, HiddenText, MailChoice, Pace, Phase, TextKind, User
from app.people.mail import MailKind, choice_of, pace_of, send_mail, unsubscribe_address, wants

#: The hour (UTC) at which digests are written; weekly ones on Mondays.
_HOUR = time(6)
#: Number of people whose digests are written in one round.
AT_ONCE = 50
#: Pause before a failed digest is tried again.
RETRY = timedelta(hours=1)
TITLE_CHARACTERS = 300
#: Maximum number of news items with their full text in a mail; of further ones it has the titles.
IN_FULL = 30
_MAIL = """\
Hello {username},

{news}

--
Choose how often you get mails: {account}
Stop these mails: {unsubscribe}
"""


def due_at(pace: Pace, now: datetime) -> datetime:
    """Return the time of the next digest: the next 06:00 UTC for daily ones, on Monday for weekly ones."""
    today = datetime.combine(now.date(), _HOUR, now.tzinfo)
    day = today if now < today else today + timedelta(days=1)
    return day + timedelta(days=-day.weekday() % 7) if pace is Pace.WEEKLY else day


def hold_back(
    session: Session,
    choice: MailChoice | None,
    kind: MailKind,
    news: tuple[str, str] | Announcement,
    *,
    competition_id: int,
    now: datetime,
) -> bool:
    """Store the news for the person's next digest and return True; return False if it must be sent immediately.

    That is the person's choice, or a phase of the competition closes less than a day after the digest.
    choice: of the person; news: title and text, or the announcement.
    """
    pace = pace_of(choice, kind)
    if choice is None or pace is Pace.AT_ONCE:
        return False
    due = due_at(pace, now)
    soon = select(Phase.id).where(
        Phase.competition_id == competition_id, Phase.ends_at > now, Phase.ends_at <= due + timedelta(days=1)
    )
    if session.scalar(soon.limit(1)) is not None:
        return False
    announcement_id, (title, text) = (news.id, ("", "")) if isinstance(news, Announcement) else (None, news)
    session.add(
        DigestItem(
            user_id=choice.user_id,
            competition_id=competition_id,
            kind=kind,
            announcement_id=announcement_id,
            title=one_line(title)[:TITLE_CHARACTERS],
            text=text,
            written_at=now,
            due_at=due,
        )
    )
    return True


def send_due_digests(engine: Engine, settings: Settings, now: datetime) -> int:
    """Write the digests that are due into the outbox, each in its transaction; return their number."""
    due = select(DigestItem.user_id).where(DigestItem.due_at <= now).distinct().order_by(DigestItem.user_id)
    with reading(engine) as session:
        waiting = session.scalars(due.limit(AT_ONCE)).all()
    written = 0
    for user_id in waiting:
        try:
            with writing(engine) as session:
                written += _send_one(session, user_id, settings, now)
        except Exception as error:  # others' digests do not wait for it
            log_and_continue("digest_not_written", error, user_id=user_id)
            _put_off(engine, user_id, now)
    return written


def _put_off(engine: Engine, user_id: int, now: datetime) -> None:
    """Postpone the person's digest, so that it does not delay others in the next rounds."""
    due = update(DigestItem).where(DigestItem.user_id == user_id, DigestItem.due_at <= now)
    with writing(engine) as session:
        session.execute(due.values(due_at=now + RETRY))


def _send_one(session: Session, user_id: int, settings: Settings, now: datetime) -> bool:
    taken = delete(DigestItem).where(DigestItem.user_id == user_id, DigestItem.due_at <= now).returning(DigestItem)
    items = sorted(session.scalars(taken), key=lambda item: item.id)
    user, choice = session.get_one(User, user_id), session.get(MailChoice, user_id)
    news = _news(session, [item for item in items if wants(choice, MailKind(item.kind))], settings)
    if not news or choice is None:
        return False
    address = unsubscribe_address(choice, MailKind.DIGESTS, settings)
    body = _MAIL.format(
        username=user.username,
        news=_written(news),
        account=public_address(settings, "/account#mails"),
        unsubscribe=address,
    )
    number = len(news)
    subject = f"{number} piece{'' if number == 1 else 's'} of news"
    return send_mail(session, user, subject, body, now=now, unsubscribe=address) is not None


def _news(session: Session, items: Sequence[DigestItem], settings: Settings) -> list[tuple[str, str]]:
    """Return the current title and text of each item, without announcements that were withdrawn or hidden."""
    announcements = _readable(session, {item.announcement_id for item in items if item.announcement_id is not None})
    found = []
    for item in items:
        if item.announcement_id is None:
            found.append((item.title, item.text))
        elif one := announcements.get(item.announcement_id):
            text = f"{one.text}\n\n{public_address(settings, one.page)}"
            found.append((one_line(f"[{one.competition.title}] {one.title}")[:TITLE_CHARACTERS], text))
    return found


def _readable(session: Session, ids: Collection[int]) -> dict[int, Announcement]:
    """Return the announcements that are neither withdrawn nor hidden, by id, with their competitions."""
    query = select(Announcement).where(Announcement.id.in_(ids), Announcement.withdrawn_at.is_(None))
    found = {one.id: one for one in session.scalars(query.options(joinedload(Announcement.competition)))}
    hidden = select(HiddenText.subject_id, HiddenText.places).where(
        HiddenText.kind == TextKind.ANNOUNCEMENT, HiddenText.subject_id.in_(found), HiddenText.shown_at.is_(None)
    )
    for announcement_id, places in session.execute(hidden):
        row = found[announcement_id]
        if all(getattr(row, column) == instead for _, _, column, _, instead in places):  # otherwise rewritten since
            del found[announcement_id]
    return found


def _written(news: Sequence[tuple[str, str]]) -> str:
    whole = [f"{title}\n\n{text}" for title, text in news[:IN_FULL]]
    return f"\n\n{'-' * 20}\n\n".join([*whole, *(title for title, _ in news[IN_FULL:])])


def settle_held_back(session: Session, user: User, now: datetime) -> None:
    """Apply the person's current choice to news held for a digest: send it now, later, or not at all."""
    choice = choice_of(session, user)
    for kind in (MailKind.ANNOUNCEMENTS, MailKind.RESULTS):
        held = (DigestItem.user_id == user.id) & (DigestItem.kind == kind)
        if not wants(choice, kind):
            session.execute(delete(DigestItem).where(held))
            continue
        pace = pace_of(choice, kind)
        due = now if pace is Pace.AT_ONCE else due_at(pace, now)
        session.execute(update(DigestItem).where(held).values(due_at=due))
