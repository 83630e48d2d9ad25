"""Invitations to a role: by mail to an address, whose owner accepts; or by a secret link, which makes guests.

An address proves who somebody is once they have confirmed it, so that an invitation by mail needs no secret. Mail goes
to accounts with a confirmed address alone; others find the invitation when they have one.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, false, select, update
from sqlalchemy.orm import Session, joinedload
from sqlalchemy.sql.dml import ReturningUpdate

from app.base import links
from app.base.config import Settings
from app.base.errors import NotFound
from app.base.text import is_address, refuse
from app.models import Competition, Role, RoleInvitation, User
from app.people import mail
from app.people.audit import record
from app.people.roles import find_user, grant_role

LASTS = timedelta(days=30)
ROLE_WORDS = {
    Role.ORGANISER: "organise it",
    Role.ANNOTATOR: "judge answers in it",
    Role.TESTER: "test it before it is published",
    Role.GUEST: "see it while it is private",
}

_MAIL = """\
Hello {name},

{inviter} invites you to the competition "{title}": you may {what}. Log in and accept, or decline, within 30 days:

{link}
"""


def invite(
    session: Session, competition: Competition, whom: str, role: Role, *, by: User, settings: Settings, now: datetime
) -> RoleInvitation:
    """Again begins its 30 days anew. whom: an address, or a user name; raises InvalidForm, NotFound."""
    whom = whom.strip().lower()
    refuse({"whom": "" if whom else "An e-mail address, or a user name."})
    known = _account(session, whom)
    if known is None and not is_address(whom):
        raise NotFound(f"There is no account '{whom}' on this server.")
    address = known.email if known else whom
    session.execute(
        _end(_open(competition, now), RoleInvitation.address == address, RoleInvitation.role == role, now=now)
    )
    invitation = RoleInvitation(
        competition_id=competition.id,
        role=role,
        address=address,
        invited_by_id=by.id,
        invited_at=now,
        expires_at=now + LASTS,
    )
    session.add(invitation)
    session.flush()
    details = {"address": address, "role": role}
    record(session, by, "role.invite", f"competition {competition.name}", details, now=now)
    if known is not None:
        _write(session, known, competition, role, by, settings, now)
    return invitation


def _account(session: Session, whom: str) -> User | None:
    """Nobody for an address that nobody has confirmed; a name that is taken by nobody is told by the caller."""
    try:
        return find_user(session, whom)
    except NotFound:
        return None


def _write(
    session: Session, to: User, competition: Competition, role: Role, by: User, settings: Settings, now: datetime
) -> None:
    text = _MAIL.format(
        name=to.display_name,
        inviter=by.display_name,
        title=competition.title,
        what=ROLE_WORDS[role],
        link=mail.public_address(settings, links.invitations()),
    )
    subject = f"Invitation: {competition.title}"
    mail.send_mail(session, to, subject, text, now=now, competition_id=competition.id)


def make_link(session: Session, competition: Competition, *, by: User, now: datetime) -> str:
    """The secret of a new link, which is told once; earlier links end."""
    end_links(session, competition, by=by, now=now)
    secret = secrets.token_urlsafe(24)
    session.add(
        RoleInvitation(
            competition_id=competition.id,
            role=Role.GUEST,
            secret_hash=_sha256(secret),
            invited_by_id=by.id,
            invited_at=now,
            expires_at=now + LASTS,
        )
    )
    session.flush()
    record(session, by, "role.link", f"competition {competition.name}", now=now)
    return secret


def end_links(session: Session, competition: Competition, *, by: User, now: datetime) -> bool:
    """Whether there was one. Who has come by it stays a guest."""
    ended = session.execute(_end(_open(competition, now), RoleInvitation.address.is_(None), now=now))
    if ended.first() is None:
        return False
    record(session, by, "role.end_link", f"competition {competition.name}", now=now)
    return True


def open_invitations(session: Session, competition: Competition, now: datetime) -> list[RoleInvitation]:
    """Those that nobody has answered, and the link; the newest first."""
    query = select(RoleInvitation).where(_open(competition, now)).options(joinedload(RoleInvitation.invited_by))
    return list(session.scalars(query.order_by(RoleInvitation.invited_at.desc(), RoleInvitation.id.desc())))


def take_back(session: Session, competition: Competition, invitation_id: int, *, by: User, now: datetime) -> None:
    """Raises NotFound."""
    ended = session.execute(_end(_open(competition, now), RoleInvitation.id == invitation_id, now=now))
    if ended.first() is None:
        raise NotFound("There is no such invitation (any more).")
    details = {"invitation": invitation_id}
    record(session, by, "role.take_back", f"competition {competition.name}", details, now=now)


def own_invitations(session: Session, user: User, now: datetime) -> list[RoleInvitation]:
    """To the address that this user has confirmed."""
    query = select(RoleInvitation).where(_to(user), _is_open(now))
    query = query.options(joinedload(RoleInvitation.competition), joinedload(RoleInvitation.invited_by))
    return list(session.scalars(query.order_by(RoleInvitation.invited_at.desc(), RoleInvitation.id.desc())))


def answer(session: Session, user: User, invitation_id: int, is_accepted: bool, now: datetime) -> Competition:
    """The competition; raises NotFound for an invitation of somebody else's."""
    found = session.scalar(
        select(RoleInvitation)
        .where(RoleInvitation.id == invitation_id, _to(user), _is_open(now))
        .options(joinedload(RoleInvitation.competition))
        .with_for_update(of=RoleInvitation)
    )
    if found is None:
        raise NotFound("There is no such invitation to you (any more).")
    found.ended_at = now
    if is_accepted:
        grant_role(session, found.competition, user, found.role, now, actor=user)
    return found.competition


def competition_of_link(session: Session, secret: str, now: datetime) -> Competition:
    """Raises NotFound."""
    query = select(RoleInvitation).where(RoleInvitation.secret_hash == _sha256(secret), _is_open(now))
    found = session.scalar(query.options(joinedload(RoleInvitation.competition)))
    if found is None:
        raise NotFound("This link has ended, or never was one. Please ask for another.")
    return found.competition


def come_by_link(session: Session, user: User, secret: str, now: datetime) -> Competition:
    """The competition, of which the user is a guest now; raises NotFound."""
    competition = competition_of_link(session, secret, now)
    grant_role(session, competition, user, Role.GUEST, now, actor=user)
    return competition


def _to(user: User) -> ColumnElement[bool]:
    return RoleInvitation.address == user.email if user.email_confirmed_at is not None else false()


def _is_open(now: datetime) -> ColumnElement[bool]:
    return RoleInvitation.ended_at.is_(None) & (RoleInvitation.expires_at > now)


def _open(competition: Competition, now: datetime) -> ColumnElement[bool]:
    return (RoleInvitation.competition_id == competition.id) & _is_open(now)


def _end(*conditions: ColumnElement[bool], now: datetime) -> ReturningUpdate[tuple[int]]:
    return update(RoleInvitation).where(*conditions).values(ended_at=now).returning(RoleInvitation.id)


def _sha256(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
