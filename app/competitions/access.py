"""Access to competitions as a whole; `app.competitions.visibility` decides which parts are shown.

A viewer without access gets the same answer as for a competition that does not exist.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, and_, exists, or_, select, true
from sqlalchemy.orm import Session

from app.base.errors import EvergoldError, NotFound
from app.models import (
    Competition,
    CompetitionRole,
    Halt,
    Registration,
    RegistrationStatus,
    Role,
    Stage,
    TeamMember,
    User,
)

#: Roles that see a draft; a private competition is visible to every role.
INSIDERS = (Role.ORGANISER, Role.TESTER)


class CompetitionPaused(EvergoldError):
    """The competition is paused (details: reason)."""

    status = 409
    code = "competition_paused"


class CompetitionArchived(EvergoldError):
    """The competition is archived (details: reason)."""

    status = 409
    code = "competition_archived"


def no_competition(name: str) -> NotFound:
    """Return the error for a competition that does not exist or that the viewer may not see."""
    return NotFound(f"There is no competition '{name}' on this server.")


def is_seen_by(user: User | None) -> ColumnElement[bool]:
    """Return the condition that a Competition is visible to this user. user: None for an anonymous visitor."""
    published = Competition.stage == Stage.PUBLISHED
    if user is None:
        return published
    if user.is_administrator:
        return true()
    role = CompetitionRole.competition_id == Competition.id, CompetitionRole.user_id == user.id
    member = TeamMember.competition_id == Competition.id, TeamMember.user_id == user.id
    registered = (
        Registration.competition_id == Competition.id,
        Registration.user_id == user.id,
        Registration.status != RegistrationStatus.REFUSED,
    )
    belongs = or_(*(exists().where(*conditions) for conditions in (role, member, registered)))
    return or_(
        published,
        and_(Competition.stage == Stage.PRIVATE, belongs),
        exists().where(*role, CompetitionRole.role.in_(INSIDERS)),
    )


def may_see(session: Session, user: User | None, competition_id: int) -> bool:
    """Return True if this user may see the competition. user: None for an anonymous visitor."""
    query = select(Competition.id).where(Competition.id == competition_id, is_seen_by(user))
    return session.scalar(query) is not None


def check_not_archived(competition: Competition) -> None:
    """Raise CompetitionArchived if the competition is archived and so must not be changed."""
    check_no_archive(competition.halt, competition.halt_reason)


def check_no_archive(halt: Halt | None, reason: str) -> None:
    """Raise CompetitionArchived like `check_not_archived`, for callers that have only the halt and its reason."""
    if halt == Halt.ARCHIVED:
        why = f" Reason: {reason}" if reason else ""
        raise CompetitionArchived(f"This competition is archived and can no longer be changed.{why}", reason=reason)


def check_takes_uploads(competition: Competition) -> None:
    """Raise CompetitionPaused or CompetitionArchived if uploads are not accepted."""
    check_not_archived(competition)
    if competition.halt == Halt.PAUSED:
        raise CompetitionPaused(
            f"This competition is paused and accepts no uploads. Reason: {competition.halt_reason}",
            reason=competition.halt_reason,
        )
