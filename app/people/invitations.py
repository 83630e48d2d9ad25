"""Invitations to a role: by mail to an address, whose owner accepts; or by a secret link, which makes users guests.

A confirmed address identifies its owner, so an invitation by mail needs no secret. If there is no account yet, the mail
leads through registration to the page of the user's invitations.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from datetime import datetime, timedelta

from sqlalchemy import BindParameter, ColumnElement, bindparam, false, func, select, update
from sqlalchemy.orm import Session, joinedload
from sqlalchemy.sql.dml import ReturningUpdate

from app.base import links
from app.base.addresses import public_address
from app.base.config import Settings
from app.base.errors import LimitReached, NotFound
from app.base.text import hash_of_secret, is_address, refuse
from app.models import ALL_RIGHTS, Competition, Right, Role, RoleInvitation, User, rights_in, rights_text
from app.people import mail
from app.people.act import Act, UserAct
from app.people.rights import find_user, grant_role, has_role, rights_to_give
from app.people.views import RoleInvitationOut

LASTS = timedelta(days=30)
ROLE_WORDS = {
    Role.ORGANISER: "organise it",
    Role.ANNOTATOR: "judge answers in it",
    Role.TESTER: "test it before it is published",
    Role.GUEST: "see it while it is private",
}

#: Limit per person and day on mails to addresses without an account, as these are unsolicited.
STRANGERS_A_DAY = 30

_MAIL = """\
{greeting},

{inviter} invites you to the competition "{title}": you may {what}. Log in and accept, or decline, within 30 days:

{link}
"""
#: The mail to an address without an account, on servers where anybody may organise; it contains no text of the
#: organiser's.
_PLAIN_MAIL = """\
Hello,

An organiser on {server} invites you to a competition there: you may {what}. To see who invited you,
and to which competition, create an account with this address and confirm it within 30 days:

{link}

If you do not want that, you can ignore this email.
"""
_REGISTER = """
You have no account with this address yet: the link leads to the form for one. Confirm the address with the mail that
follows, so that the invitation finds you. If you do not want this, you can ignore this
email.
"""


def invite(
    act: Act, competition: Competition, whom: str, role: Role, *, rights: Collection[Right] | None = None
) -> RoleInvitationOut:
    """Invite somebody to a role; a repeated invitation restarts the 30 days.

    whom: an address or user name; rights: of an organiser, None for all of the inviter's. Raises InvalidForm,
    LimitReached.
    """
    session = act.session
    whom = whom.strip().lower()
    refuse({"whom": "" if whom else "An e-mail address, or a user name."})
    known = _account(session, whom)
    if known is None and not is_address(whom):
        refuse({"whom": f"There is no account '{whom}' on this server."})
    if known is not None and has_role(session, known, competition, role):
        refuse(
            {"whom": f"{known.username} is {'an' if role in (Role.ORGANISER, Role.ANNOTATOR) else 'a'} {role} already."}
        )
    address = known.email if known else whom
    given = rights_text(rights_to_give(session, act.user, competition, rights)) if role is Role.ORGANISER else ""
    if known is None:
        _check_strangers(act)
    session.execute(
        _end(_open(competition, act.now), RoleInvitation.address == address, RoleInvitation.role == role, now=act.now)
    )
    invitation = RoleInvitation(
        competition_id=competition.id,
        role=role,
        rights=given,
        address=address,
        invited_by_id=act.user.id if act.user else None,
        invited_at=act.now,
        expires_at=act.now + LASTS,
    )
    session.add(invitation)
    session.flush()
    details = {"address": address, "role": role} | ({"rights": given} if given else {})
    act.record("role.invite", f"competition {competition.name}", details)
    _write(act, known, competition, invitation)
    return RoleInvitationOut.of(invitation, act.user)


def what_for(invitation: RoleInvitation) -> str:
    """Return a description of the role; for an organiser without all rights, it lists the rights."""
    words = ROLE_WORDS[Role(invitation.role)]
    held = rights_in(invitation.rights)
    return (
        words
        if held in (frozenset(), ALL_RIGHTS)
        else f"{words}, with the rights {invitation.rights.replace(' ', ', ')}"
    )


def _account(session: Session, whom: str) -> User | None:
    """Return the account; None for an unconfirmed address, or for an unknown name, which the caller reports."""
    try:
        return find_user(session, whom)
    except NotFound:
        return None


def _check_strangers(act: Act) -> None:
    """Raise LimitReached if too many strangers were invited today, including those who have an account by now."""
    if act.user is None or act.user.is_administrator:
        return
    sent = RoleInvitation.invited_by_id == act.user.id, RoleInvitation.address.is_not(None)
    today = select(func.count()).where(*sent, RoleInvitation.invited_at > act.now - timedelta(days=1))
    if (act.session.scalar(today) or 0) >= STRANGERS_A_DAY:
        raise LimitReached(
            f"You have sent {STRANGERS_A_DAY} invitations within a day. Please continue tomorrow.",
            limit=STRANGERS_A_DAY,
        )


def _write(act: Act, to: User | None, competition: Competition, invitation: RoleInvitation) -> None:
    """Mail the invitation. to: None for an unconfirmed address; its mail leads through registration."""
    inviter = act.user.display_name if act.user else "The administrator of this server"
    subject, what = f"Invitation: {competition.title}", what_for(invitation)
    if to is not None:
        link = public_address(act.settings, links.invitations())
        greeting = f"Hello {to.display_name}"
        text = _MAIL.format(greeting=greeting, inviter=inviter, title=competition.title, what=what, link=link)
        mail.send_mail(act.session, to, subject, text, now=act.now, competition_id=competition.id)
        return
    link = public_address(act.settings, links.register(links.invitations()))
    if _is_vouched_for(act.user, act.settings):
        text = (
            _MAIL.format(greeting="Hello", inviter=inviter, title=competition.title, what=what, link=link) + _REGISTER
        )
    else:
        subject, server = "An invitation", public_address(act.settings, "/")
        text = _PLAIN_MAIL.format(server=server, what=what, link=link)
    mail.send_invitation(act.session, invitation.address or "", subject, text, competition.id, act.now)


def _is_vouched_for(by: User | None, settings: Settings) -> bool:
    """Return True if the operator vouches for the organiser, so that mails to strangers may contain their text."""
    return by is None or by.is_administrator or by.is_approved_organiser or settings.organise != "anybody"


def make_link(act: UserAct, competition: Competition) -> str:
    """Create a guest link and return its secret, which is shown only once; earlier links end."""
    session = act.session
    end_links(act, competition)
    secret = secrets.token_urlsafe(24)
    session.add(
        RoleInvitation(
            competition_id=competition.id,
            role=Role.GUEST,
            secret_hash=hash_of_secret(secret),
            invited_by_id=act.user.id,
            invited_at=act.now,
            expires_at=act.now + LASTS,
        )
    )
    session.flush()
    act.record("role.link", f"competition {competition.name}")
    return secret


def end_links(act: UserAct, competition: Competition) -> bool:
    """End the guest link; return False if there was none. Users who joined with it remain guests."""
    ended = act.session.execute(_end(_open(competition, act.now), RoleInvitation.address.is_(None), now=act.now))
    if ended.first() is None:
        return False
    act.record("role.end_link", f"competition {competition.name}")
    return True


def open_invitations(session: Session, competition: Competition, now: datetime) -> list[RoleInvitationOut]:
    """List unanswered invitations and the guest link, newest first."""
    query = select(RoleInvitation).where(_open(competition, now)).options(joinedload(RoleInvitation.invited_by))
    found = session.scalars(query.order_by(RoleInvitation.invited_at.desc(), RoleInvitation.id.desc()))
    return [RoleInvitationOut.of(one, one.invited_by) for one in found]


def take_back(act: Act, competition: Competition, invitation_id: int) -> None:
    """Cancel an invitation. Raises NotFound."""
    ended = act.session.execute(_end(_open(competition, act.now), RoleInvitation.id == invitation_id, now=act.now))
    if ended.first() is None:
        raise NotFound("Invitation not found.")
    details = {"invitation": invitation_id}
    act.record("role.take_back", f"competition {competition.name}", details)


def end_those_beyond(
    session: Session, competition: Competition, user: User, rights: frozenset[Right], now: datetime
) -> None:
    """End the user's open invitations of organisers that grant more than these rights."""
    mine = _open(competition, now), RoleInvitation.invited_by_id == user.id, RoleInvitation.role == Role.ORGANISER
    for one in session.scalars(select(RoleInvitation).where(*mine)):
        if not rights.issuperset(rights_in(one.rights)):
            one.ended_at = now
    session.flush()


def count_own(session: Session, user: User, now: datetime) -> int:
    """Return the number of open invitations of this user."""
    if user.email_confirmed_at is None:
        return 0
    return session.scalar(_OPEN_INVITATIONS, {"address": user.email, "now": now}) or 0


def own_invitations(session: Session, user: User, now: datetime) -> list[RoleInvitation]:
    """List invitations to the user's confirmed address."""
    query = select(RoleInvitation).where(_to(user), _is_open(now))
    query = query.options(joinedload(RoleInvitation.competition), joinedload(RoleInvitation.invited_by))
    return list(session.scalars(query.order_by(RoleInvitation.invited_at.desc(), RoleInvitation.id.desc())))


def answer(session: Session, user: User, invitation_id: int, is_accepted: bool, now: datetime) -> Competition:
    """Accept or decline an invitation; return its competition. Raises NotFound for invitations of other users."""
    found = session.scalar(
        select(RoleInvitation)
        .where(RoleInvitation.id == invitation_id, _to(user), _is_open(now))
        .options(joinedload(RoleInvitation.competition))
        .with_for_update(of=RoleInvitation)
    )
    if found is None:
        raise NotFound("Invitation not found: it has expired, or is for another account.")
    found.ended_at = now
    if is_accepted:
        rights = rights_in(found.rights)
        grant_role(session, found.competition, user, Role(found.role), now, rights=rights, actor=user)
    return found.competition


def competition_of_link(session: Session, secret: str, now: datetime) -> Competition:
    """Return the competition of a guest link. Raises NotFound."""
    query = select(RoleInvitation).where(RoleInvitation.secret_hash == hash_of_secret(secret), _is_open(now))
    found = session.scalar(query.options(joinedload(RoleInvitation.competition)))
    if found is None:
        raise NotFound("This link has expired, or never existed. Please request another.")
    return found.competition


def join_as_guest(session: Session, user: User, secret: str, now: datetime) -> Competition:
    """Make the user a guest with this link; return the competition. Raises NotFound."""
    competition = competition_of_link(session, secret, now)
    grant_role(session, competition, user, Role.GUEST, now, actor=user)
    return competition


def _to(user: User) -> ColumnElement[bool]:
    return RoleInvitation.address == user.email if user.email_confirmed_at is not None else false()


def _is_open(now: datetime | BindParameter[datetime]) -> ColumnElement[bool]:
    return RoleInvitation.ended_at.is_(None) & (RoleInvitation.expires_at > now)


#: Built once, as every page runs it.
_OPEN_INVITATIONS = (
    select(func.count())
    .select_from(RoleInvitation)
    .where(RoleInvitation.address == bindparam("address"), _is_open(bindparam("now")))
)


def _open(competition: Competition, now: datetime) -> ColumnElement[bool]:
    return (RoleInvitation.competition_id == competition.id) & _is_open(now)


def _end(*conditions: ColumnElement[bool], now: datetime) -> ReturningUpdate[tuple[int]]:
    return update(RoleInvitation).where(*conditions).values(ended_at=now).returning(RoleInvitation.id)
