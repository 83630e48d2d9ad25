"""Mail: the outbox, to which a transaction adds mails, and users' choices of what to receive."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from sqlalchemy import ColumnElement, and_, delete, func, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from app.base.addresses import public_address
from app.base.config import Settings
from app.base.db import in_batches
from app.base.errors import NotFound
from app.base.text import whole_number
from app.models import MailChoice, MailLink, OutgoingMail, Pace, User
from app.people.views import MailChoices

#: Rows read or created per statement: SQLite limits its number of parameters.
_AT_ONCE = 200


class MailKind(StrEnum):
    """The kinds of mail that can be switched off."""

    ANNOUNCEMENTS = "announcements"
    RESULTS = "results"
    DIGESTS = "digests"  # of the others, of whatever kind: for links alone


def wants(choice: MailChoice | None, kind: MailKind) -> bool:
    """Return True if a user with these choices receives mails of this kind. choice: None for the defaults."""
    if choice is None:
        return kind is MailKind.ANNOUNCEMENTS
    if kind is MailKind.DIGESTS:
        return any(wants(choice, one) for one in _gathered(choice))
    return choice.announcements if kind is MailKind.ANNOUNCEMENTS else choice.results


def pace_of(choice: MailChoice | None, kind: MailKind) -> Pace:
    """Return how often a user with these choices receives mails of this kind. choice: None for the defaults."""
    if choice is None:
        return Pace.AT_ONCE
    return Pace(choice.announcements_pace if kind is MailKind.ANNOUNCEMENTS else choice.results_pace)


def _gathered(choice: MailChoice) -> list[MailKind]:
    """Return the kinds that are sent as digests."""
    kinds = (MailKind.ANNOUNCEMENTS, MailKind.RESULTS)
    return [kind for kind in kinds if pace_of(choice, kind) is not Pace.AT_ONCE]


def choice_of(session: Session, user: User) -> MailChoice | None:
    """Return the user's stored choices; None if there are none."""
    return session.get(MailChoice, user.id)


def mail_choices(session: Session, user: User) -> MailChoices:
    """Return the user's choices, or else the defaults."""
    choice = choice_of(session, user)
    return MailChoices(
        announcements=wants(choice, MailKind.ANNOUNCEMENTS),
        results=wants(choice, MailKind.RESULTS),
        announcements_pace=pace_of(choice, MailKind.ANNOUNCEMENTS),
        results_pace=pace_of(choice, MailKind.RESULTS),
    )


def choose(
    session: Session, user: User, wanted: Mapping[MailKind, bool], paces: Mapping[MailKind, Pace] | None = None
) -> None:
    """Store the user's choices for these kinds; the interval of digests applies to every kind sent as digests.

    The caller must also call `app.people.digests.settle_held_back`.
    """
    [row] = rows_of(session, [user.id]).values()
    for kind, is_wanted in wanted.items():
        for one in _gathered(row) if kind is MailKind.DIGESTS else [kind]:
            setattr(row, one.value, is_wanted)
    for kind, pace in (paces or {}).items():
        setattr(row, f"{kind.value}_pace", pace)
    session.flush()


def choices_of(session: Session, user_ids: Collection[int]) -> dict[int, MailChoice]:
    """Return the stored choices by user id."""
    found: dict[int, MailChoice] = {}
    for some in in_batches(sorted(user_ids), _AT_ONCE):
        rows = session.scalars(select(MailChoice).where(MailChoice.user_id.in_(some)))
        found |= {row.user_id: row for row in rows}
    return found


def rows_of(session: Session, user_ids: Collection[int]) -> dict[int, MailChoice]:
    """Return the row of choices for each user, creating missing ones; safe under concurrent calls."""
    missing = set(user_ids) - choices_of(session, user_ids).keys()
    insert = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
    for some in in_batches(sorted(missing), _AT_ONCE):
        values = [
            {
                "user_id": one,
                "announcements": True,
                "results": False,
                "announcements_pace": Pace.AT_ONCE,
                "results_pace": Pace.AT_ONCE,
                "salt": secrets.token_hex(16),
            }
            for one in some
        ]
        session.execute(insert(MailChoice).values(values).on_conflict_do_nothing())
    return choices_of(session, user_ids)


def unsubscribe_address(choice: MailChoice, kind: MailKind, settings: Settings) -> str:
    """Return the link that switches off mails of this kind for the user of these choices."""
    return public_address(settings, f"/mail/unsubscribe?link={choice.user_id}.{kind}.{_signature(choice, kind)}")


def find_link(session: Session, link: str) -> tuple[User, MailKind]:
    """Return user and kind of mail for a link. Raises NotFound."""
    user_id, _, rest = link.partition(".")
    kind, _, signature = rest.partition(".")
    number = whole_number(user_id)
    row = session.get(MailChoice, number) if number is not None else None
    known = next((one for one in MailKind if one == kind), None)
    if row is not None and known is not None:
        expected = _signature(row, known).encode()
        if hmac.compare_digest(expected, signature.encode(errors="replace")):
            return session.get_one(User, row.user_id), known
    raise NotFound("This link is incomplete or invalid. You can switch these mails off on your account page.")


def _signature(choice: MailChoice, kind: MailKind) -> str:
    return hmac.new(choice.salt.encode(), f"unsubscribe {choice.user_id} {kind}".encode(), hashlib.sha256).hexdigest()


#: DROPPED mails are never sent: decoys, and links invalidated by a newer password or address.
WAITING, SENT, GIVEN_UP, DROPPED = "waiting", "sent", "given_up", "dropped"
SUBJECT_CHARACTERS = 200
#: Placeholder of the link in the text of a mail.
LINK_PLACE = "{link}"


def send_mail(
    session: Session,
    to: User,
    subject: str,
    body: str,
    *,
    now: datetime | None = None,
    competition_id: int | None = None,
    unsubscribe: str | None = None,
) -> OutgoingMail | None:
    """Add a mail to the outbox in the caller's transaction, so that it is sent only if that commits; return it.

    Returns None, and sends nothing, if the user has not confirmed the address.
    competition_id: the competition that it is about; replies go to its organisers.
    unsubscribe: the address for one-click unsubscription, offered by mail programs (RFC 8058).
    """
    address, confirmed_at = session.execute(
        select(User.email, User.email_confirmed_at).where(User.id == to.id)  # `to` may have been loaded before a change
    ).one()
    if confirmed_at is None:
        return None
    mail = _mail(address, subject, body, now or datetime.now(UTC))
    mail.user_id, mail.competition_id, mail.unsubscribe = to.id, competition_id, unsubscribe
    session.add(mail)
    session.flush()
    return mail


def send_link(
    session: Session, to: User | None, subject: str, body: str, link: MailLink, now: datetime
) -> OutgoingMail:
    """Queue a mail whose `LINK_PLACE` is replaced by a secret link on delivery; return it.

    It may go to an unconfirmed address, so subject and text must not contain anything chosen by a participant.
    to: None to do the same work without a mail, so that timing does not reveal who has an account.
    """
    address = session.scalar(select(User.email).where(User.id == (to.id if to else 0)))
    mail = _mail(address or "", subject, body, now)
    mail.user_id, mail.link = to.id if to else None, link
    if to is None:
        mail.status, mail.ended_at, mail.body = DROPPED, now, ""
    session.add(mail)
    session.flush()
    return mail


def send_invitation(
    session: Session, address: str, subject: str, body: str, competition_id: int, now: datetime
) -> None:
    """Queue a mail to an address that nobody on this server has confirmed."""
    mail = _mail(address, subject, body, now)
    mail.competition_id = competition_id
    session.add(mail)
    session.flush()


def send_farewell(session: Session, address: str, subject: str, body: str, now: datetime) -> None:
    """Queue the last mail to the address of an account that was just deleted; it is deleted after delivery."""
    mail = _mail(address, subject, body, now)
    session.add(mail)
    session.flush()


def _mail(address: str, subject: str, body: str, now: datetime) -> OutgoingMail:
    return OutgoingMail(
        recipient=address,
        subject=" ".join(subject.split())[:SUBJECT_CHARACTERS],
        body=body,
        status=WAITING,
        created_at=now,
        next_attempt_at=now,
    )


def drop_links(session: Session, user: User, now: datetime) -> None:
    """Drop pending mails with links for this user."""
    waiting = (OutgoingMail.user_id == user.id) & OutgoingMail.link.is_not(None) & (OutgoingMail.status == WAITING)
    session.execute(update(OutgoingMail).where(waiting).values(status=DROPPED, ended_at=now, body=""))


def waiting_count(session: Session) -> int:
    """Return the number of mails still to be sent."""
    return session.scalars(select(func.count()).where(OutgoingMail.status == WAITING)).one()


def forget_ended(session: Session, days: int, now: datetime) -> None:
    """Delete mails that were sent or given up at least this many days ago, and those to deleted accounts."""
    is_old = OutgoingMail.ended_at <= now - timedelta(days=days)
    no_reference = (
        column.is_(None) for column in (OutgoingMail.user_id, OutgoingMail.competition_id, OutgoingMail.link)
    )
    is_farewell = and_(OutgoingMail.ended_at <= now, *no_reference)
    session.execute(delete(OutgoingMail).where(or_(is_old, is_farewell)))


# --------------------------------------------------------------------------------------------------------- given up


def given_up(session: Session, competition_id: int | None = None, *, also_accounts: bool = False) -> list[OutgoingMail]:
    """List mails that could not be delivered, latest first.

    competition_id: the competition that they are about, None for all; also_accounts: include mails about accounts,
    which belong to no competition.
    """
    query = select(OutgoingMail).where(OutgoingMail.status == GIVEN_UP)
    if competition_id is not None:
        query = query.where(_about(competition_id, also_accounts))
    return list(session.scalars(query.order_by(OutgoingMail.ended_at.desc(), OutgoingMail.id.desc())))


def send_again(session: Session, mails: Collection[OutgoingMail], now: datetime) -> int:
    """Put given-up mails back into the outbox, with the full retry period; return their number."""
    again = session.execute(
        update(OutgoingMail)
        .where(OutgoingMail.id.in_([mail.id for mail in mails]), OutgoingMail.status == GIVEN_UP)
        .values(status=WAITING, attempts=0, created_at=now, next_attempt_at=now, ended_at=None, last_error=None)
        .returning(OutgoingMail.id)
    )
    return len(again.all())


def _about(competition_id: int, also_accounts: bool) -> ColumnElement[bool]:
    # Written so that SQLite uses the index on status: few mails were given up, very many belong to a competition.
    own = func.coalesce(OutgoingMail.competition_id, 0) == competition_id
    return or_(own, OutgoingMail.competition_id.is_(None)) if also_accounts else own
