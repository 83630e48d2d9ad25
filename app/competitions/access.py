"""Who may see a competition at all, whatever of it; what of it is shown is `app.competitions.visibility`'s to say.

Who may not see it learns no more than that there is none of this name.
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

#: Who sees a draft; a private competition is for everybody with a role.
INSIDERS = (Role.ORGANISER, Role.TESTER)


class CompetitionPaused(EvergoldError):
    """details: reason."""

    status = 409
    code = "competition_paused"


class CompetitionArchived(EvergoldError):
    """details: reason."""

    status = 409
    code = "competition_archived"


def no_competition(name: str) -> NotFound:
    """What is said of one that is not there, and of one that somebody may not see."""
    return NotFound(f"There is no competition '{name}' on this server.")


def is_seen_by(user: User | None) -> ColumnElement[bool]:
    """For queries of competitions: whether this user may see it; None: anybody."""
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
    """Whether this user may see the competition; None: anybody."""
    query = select(Competition.id).where(Competition.id == competition_id, is_seen_by(user))
    return session.scalar(query) is not None


def check_not_archived(competition: Competition) -> None:
    """Raises CompetitionArchived for what would change something."""
    check_no_archive(competition.halt, competition.halt_reason)


def check_no_archive(halt: Halt | None, reason: str) -> None:
    """The same where no more is known of a competition."""
    if halt == Halt.ARCHIVED:
        why = f" The organisers say: {reason}" if reason else ""
        raise CompetitionArchived(
            f"This competition is archived: it can be read, and nothing is changed any more.{why}", reason=reason
        )


def check_takes_uploads(competition: Competition) -> None:
    """Raises CompetitionPaused or CompetitionArchived."""
    check_not_archived(competition)
    if competition.halt == Halt.PAUSED:
        raise CompetitionPaused(
            f"This competition is paused, and takes no uploads. The organisers say: {competition.halt_reason}",
            reason=competition.halt_reason,
        )
