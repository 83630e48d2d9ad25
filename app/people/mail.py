"""Mail: written in the transaction that is its reason, sent afterwards by the sweep (`app.people.mail_delivery`).

So a mail server that is down neither fails a request nor loses a mail. Only confirmed addresses are written to, but for
the links that confirm one or set a password: those mails hold no word that a participant chose; and for invitations,
which `app.people.invitations` bounds.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta

from sqlalchemy import ColumnElement, delete, func, or_, select, update
from sqlalchemy.orm import Session

from app.models import MailLink, OutgoingMail, User

#: dropped: what nobody shall get any more, or ever: a link that a newer password or address made worthless, a decoy.
WAITING, SENT, GIVEN_UP, DROPPED = "waiting", "sent", "given_up", "dropped"
SUBJECT_CHARACTERS = 200
#: Where the link will stand, in the text of a mail that has one.
LINK_PLACE = "{link}"
#: What has ended stays in the table for as long: without its text when it was sent, with it when it was given up.
KEPT = timedelta(days=30)


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
    """Put a mail into the outbox, in the caller's transaction: it is sent if and only if that commits.

    None: the user has not confirmed the address, and nothing is written. competition_id: what it is about; answers to
    it go to the organisers. unsubscribe: the address at which its receiver ends such mails, for their mail program to
    offer (RFC 8058).
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
    """A mail with a secret link, made when it is handed over, where `LINK_PLACE` stands in the text.

    Also to an address that nobody has confirmed: so nothing that a participant chose may stand in subject and text. to:
    None for the same work and no mail, so that time does not tell who has an account.
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
    """To an address that nobody on this server has confirmed."""
    mail = _mail(address, subject, body, now)
    mail.competition_id = competition_id
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
    """Mails with links to this user that still wait are not sent any more."""
    waiting = (OutgoingMail.user_id == user.id) & OutgoingMail.link.is_not(None) & (OutgoingMail.status == WAITING)
    session.execute(update(OutgoingMail).where(waiting).values(status=DROPPED, ended_at=now, body=""))


def waiting_count(session: Session) -> int:
    """How many mails are still to be sent."""
    return session.scalars(select(func.count()).where(OutgoingMail.status == WAITING)).one()


def forget_ended(session: Session, now: datetime) -> None:
    """Remove what was sent or given up long ago."""
    session.execute(delete(OutgoingMail).where(OutgoingMail.ended_at <= now - KEPT))


# --------------------------------------------------------------------------------------------------------- given up


def given_up(session: Session, competition_id: int | None = None, *, also_accounts: bool = False) -> list[OutgoingMail]:
    """Mails that could not be delivered, the latest first: about this competition (None: all that there are).

    also_accounts: and those about accounts, which are about no competition.
    """
    query = select(OutgoingMail).where(OutgoingMail.status == GIVEN_UP)
    if competition_id is not None:
        query = query.where(_about(competition_id, also_accounts))
    return list(session.scalars(query.order_by(OutgoingMail.ended_at.desc(), OutgoingMail.id.desc())))


def send_again(session: Session, mails: Collection[OutgoingMail], now: datetime) -> int:
    """Put mails that were given up into the outbox once more, with all their time; how many."""
    again = session.execute(
        update(OutgoingMail)
        .where(OutgoingMail.id.in_([mail.id for mail in mails]), OutgoingMail.status == GIVEN_UP)
        .values(status=WAITING, attempts=0, created_at=now, next_attempt_at=now, ended_at=None, last_error=None)
        .returning(OutgoingMail.id)
    )
    return len(again.all())


def _about(competition_id: int, also_accounts: bool) -> ColumnElement[bool]:
    # Written so that SQLite goes by states: few mails were given up, and very many are about a competition.
    own = func.coalesce(OutgoingMail.competition_id, 0) == competition_id
    return or_(own, OutgoingMail.competition_id.is_(None)) if also_accounts else own
