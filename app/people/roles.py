"""Who organises a competition, and who may be asked to judge there: the one place that answers, for pages, API and CLI.

Administrators organise every competition; others need a row in `competition_roles`.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, contains_eager

from app.base.errors import Forbidden, NotAuthenticated, NotFound
from app.base.text import is_address
from app.models import Competition, CompetitionRole, Role, User
from app.people.audit import record


def may_organise(session: Session, user: User | None, competition: Competition) -> bool:
    """Whether this user sees and does what organisers of this competition do."""
    if user is None:
        return False
    return user.is_administrator or has_role(session, user, competition, Role.ORGANISER)


def check_may_organise(session: Session, user: User | None, competition: Competition) -> User:
    """The user; raises NotAuthenticated or Forbidden unless they organise this competition."""
    if user is None:
        raise NotAuthenticated("This is for the organisers of the competition: log in first.")
    if not may_organise(session, user, competition):
        raise Forbidden("This is for the organisers of the competition only.")
    return user


def has_role(session: Session, user: User, competition: Competition, role: Role) -> bool:
    """Whether the user was given this role here; being an administrator is not asked."""
    return session.get(CompetitionRole, (competition.id, user.id, role)) is not None


def list_roles(session: Session, competition: Competition) -> list[CompetitionRole]:
    """Everybody with a role in this competition, users loaded, by role and name."""
    query = (
        select(CompetitionRole)
        .join(CompetitionRole.user)
        .options(contains_eager(CompetitionRole.user))
        .where(CompetitionRole.competition_id == competition.id)
        .order_by(User.username)
    )
    order = list(Role)
    return sorted(session.scalars(query), key=lambda row: order.index(Role(row.role)))


def organisers_of(session: Session, competition_name: str) -> list[User]:
    """Whom to write to about a competition: its organisers, or the administrators where it has none; by address.

    Who has not confirmed the address is none of them: they would get no mail.
    """
    organisers = (
        select(User)
        .join(CompetitionRole, CompetitionRole.user_id == User.id)
        .join(Competition, Competition.id == CompetitionRole.competition_id)
        .where(Competition.name == competition_name, CompetitionRole.role == Role.ORGANISER)
    )
    for people in (organisers, select(User).where(User.is_administrator)):
        reachable = session.scalars(people.where(User.email_confirmed_at.is_not(None)).order_by(User.email)).all()
        if reachable:
            return list(reachable)
    return []


def addresses_for_replies(session: Session, competition_id: int) -> list[str]:
    """Where answers to a competition's mails go: its contact, if that is an address, or else its organisers."""
    competition = session.get_one(Competition, competition_id)
    if is_address(competition.contact):
        return [competition.contact]
    return [user.email for user in organisers_of(session, competition.name)]


def grant_role(
    session: Session,
    competition: Competition,
    user: User,
    role: Role,
    now: datetime,
    *,
    actor: User | str | None = None,
) -> bool:
    """Give the role; False when they had it already. actor: as for `app.people.audit.record`."""
    if has_role(session, user, competition, role):
        return False
    try:
        with session.begin_nested():
            session.add(CompetitionRole(competition_id=competition.id, user_id=user.id, role=role, granted_at=now))
    except IntegrityError:  # granted by somebody else at the same moment
        return False
    record(session, actor, "role.grant", f"competition {competition.name}", _what(user, role), now=now)
    return True


def revoke_role(
    session: Session,
    competition: Competition,
    user: User,
    role: Role,
    now: datetime,
    *,
    actor: User | str | None = None,
) -> bool:
    """Take the role back; False when they did not have it. actor: as for `app.people.audit.record`."""
    taken = session.execute(
        delete(CompetitionRole)
        .where(
            CompetitionRole.competition_id == competition.id,
            CompetitionRole.user_id == user.id,
            CompetitionRole.role == role,
        )
        .returning(CompetitionRole.user_id)
    )
    if taken.first() is None:
        return False
    record(session, actor, "role.revoke", f"competition {competition.name}", _what(user, role), now=now)
    return True


def _what(user: User, role: Role) -> dict[str, str]:
    return {"user": user.username, "role": role}


def find_user(session: Session, username: str) -> User:
    """The account with this user name, or this confirmed e-mail address; raises NotFound.

    An address that nobody has confirmed names nobody: whoever typed it at registration may not be its owner.
    """
    name = username.strip().lower()
    by_address = (User.email == name) & User.email_confirmed_at.is_not(None)
    same = by_address if "@" in name else User.username == name
    found = session.scalar(select(User).where(same)) if name.isprintable() else None  # PostgreSQL takes no NUL
    if found is None and "@" in name:
        raise NotFound(
            f"No account on this server has confirmed the address '{username}'. Its owner registers with it and "
            "confirms it on the account page; or name the account by its user name."
        )
    if found is None:
        raise NotFound(f"There is no account '{username}' on this server.")
    return found
