"""Whose a competition is: whose quota it counts in, and who may hand it over to another organiser."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Session

from app.base.errors import EvergoldError, Forbidden, InvalidForm
from app.competitions.organisers import OrganiserLimits, check_competitions_left
from app.models import Competition, Role, User
from app.people.audit import record
from app.people.roles import find_user, has_role, revoke_role


class OwnersRole(EvergoldError):
    """Whose it is organises it."""

    status = 409
    code = "owners_role"


def may_hand_over(user: User, competition: Competition) -> bool:
    """Its owner, and administrators."""
    return user.is_administrator or competition.owner_id == user.id


def hand_over(
    session: Session, competition: Competition, username: str, limits: OrganiserLimits, *, by: User, now: datetime
) -> User:
    """The new owner, who organises it already, and has room for it. Raises Forbidden, NotFound, InvalidForm,
    QuotaReached."""
    session.refresh(competition, with_for_update=True)
    if not may_hand_over(by, competition):
        raise Forbidden("Only its owner, and administrators, hand a competition over.")
    to = find_user(session, username)
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


def take_role(session: Session, competition: Competition, user: User, role: Role, *, by: User, now: datetime) -> bool:
    """As `revoke_role`; raises OwnersRole for the owner's."""
    if role is Role.ORGANISER and competition.owner_id == user.id:
        raise OwnersRole(f"{user.username} owns it: hand it over first.")
    return revoke_role(session, competition, user, role, now, actor=by)
