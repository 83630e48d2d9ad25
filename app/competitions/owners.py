"""Owners of competitions: their quota, transfer to another organiser, and the rights of other organisers."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.base.errors import EvergoldError, Forbidden, InvalidForm, NotFound
from app.base.text import refuse
from app.competitions.organisers import OrganiserLimits, check_competitions_left
from app.models import ALL_RIGHTS, Competition, CompetitionRole, Right, Role, User, rights_in
from app.people.audit import record
from app.people.invitations import end_those_beyond
from app.people.rights import ANY_RIGHT, Needs, rights_of, rights_to_give, set_rights
from app.people.roles import find_user, grant_role, has_role, is_named, revoke_role


class OwnersRole(EvergoldError):
    """The owner is always an organiser."""

    status = 409
    code = "owners_role"


class LastOrganiser(EvergoldError):
    """No organiser would be left."""

    status = 409
    code = "last_organiser"


def can_transfer(user: User | None, competition: Competition) -> bool:
    """True for the owner and administrators, who also change organisers' rights. None is the server's command line."""
    return user is None or user.is_administrator or competition.owner_id == user.id


def hand_over(
    session: Session,
    competition: Competition,
    username: str,
    limits: OrganiserLimits,
    *,
    by: User | None,
    now: datetime,
) -> User:
    """Transfer to a user who is already an organiser and has quota for it; return the new owner.

    Raises Forbidden, InvalidForm, QuotaReached.
    """
    session.refresh(competition, with_for_update=True)
    if not can_transfer(by, competition):
        raise Forbidden("Only its owner, and administrators, hand a competition over.")
    try:
        to = find_user(session, username)
    except NotFound as unknown:  # reported at the field
        raise InvalidForm(unknown.message, fields={"owner": unknown.message}) from None
    if not has_role(session, to, competition, Role.ORGANISER):
        sentence = f"{to.username} is no organiser of it yet: invite them first."
        raise InvalidForm("Please correct what is marked.", fields={"owner": sentence})
    if competition.owner_id == to.id:
        return to
    check_competitions_left(session, to, limits)
    before = competition.owner_id
    competition.owner_id = to.id
    details = {"to": to.username, "before": before}
    record(session, by, "competition.hand_over", f"competition {competition.name}", details, now=now)
    return to


def give_role(
    session: Session,
    competition: Competition,
    user: User,
    role: Role,
    rights: Collection[Right] | None,
    *,
    by: User | None,
    now: datetime,
) -> bool:
    """Like `grant_role`. rights: of an organiser, None for all that the giver has. Raises InvalidForm."""
    given = rights_to_give(session, by, competition, rights) if role is Role.ORGANISER else ALL_RIGHTS
    return grant_role(session, competition, user, role, now, rights=given, actor=by)


def change_rights(
    session: Session, competition: Competition, user: User, rights: Collection[Right], *, by: User | None, now: datetime
) -> bool:
    """Set an organiser's rights; return False if unchanged. Their open invitations to wider rights end.

    Raises Forbidden, OwnersRole, InvalidForm.
    """
    if not can_transfer(by, competition):
        raise Forbidden("Only its owner, and administrators, change what organisers may.")
    if competition.owner_id == user.id:
        raise OwnersRole(f"{user.username} owns it, and holds every right.")
    if not has_role(session, user, competition, Role.ORGANISER):
        refuse({"whom": f"{user.username} is no organiser of it."})
    held = rights_to_give(session, by, competition, rights)
    end_those_beyond(session, competition, user, held, now)
    return set_rights(session, competition, user, held, now, actor=by)


def needs_to_take(user: User, role: Role, whom: str) -> Needs:
    """Return the rights needed to revoke a role from somebody, given by name or address; leaving needs none."""
    return ANY_RIGHT if role is Role.ORGANISER and is_named(user, whom) else Right.EDIT


def take_role(
    session: Session, competition: Competition, user: User, role: Role, *, by: User | None, now: datetime
) -> bool:
    """Like `revoke_role`; an organiser's open invitations of others end. by: equal to `user` if they leave.

    Raises OwnersRole for the owner, LastOrganiser if the last organiser leaves, Forbidden.
    """
    if role is not Role.ORGANISER:
        return revoke_role(session, competition, user, role, now, actor=by)
    session.refresh(competition, with_for_update=True)  # blocks a concurrent transfer, or another organiser leaving
    if competition.owner_id == user.id:
        raise OwnersRole(f"{user.username} owns it: hand it over first.")
    if by is not None and by.id == user.id and _is_last(session, competition, user):
        raise LastOrganiser("You are its last organiser: make somebody else one before you leave.")
    row = session.get(CompetitionRole, (competition.id, user.id, role))
    if row is not None and by is not None and not rights_of(session, by, competition) >= rights_in(row.rights):
        raise Forbidden(f"{user.username} holds rights that you do not: its owner, and administrators, take them back.")
    end_those_beyond(session, competition, user, frozenset(), now)
    return revoke_role(session, competition, user, role, now, actor=by)


def _is_last(session: Session, competition: Competition, user: User) -> bool:
    """True if nobody else has the organiser role."""
    others = CompetitionRole.competition_id == competition.id, CompetitionRole.role == Role.ORGANISER
    query = select(func.count()).select_from(CompetitionRole).where(*others, CompetitionRole.user_id != user.id)
    return not session.scalar(query)
