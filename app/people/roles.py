"""Granting and revoking roles in a competition, each a row in `competition_roles`.

`app.people.rights` decides what organisers may do.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, contains_eager

from app.base.errors import NotFound
from app.models import ALL_RIGHTS, Competition, CompetitionRole, Right, Role, User, rights_text
from app.people.audit import record


def has_role(session: Session, user: User, competition: Competition, role: Role) -> bool:
    """True if the user was granted this role here; administrators have no implicit roles."""
    return session.get(CompetitionRole, (competition.id, user.id, role)) is not None


def list_roles(session: Session, competition: Competition) -> list[CompetitionRole]:
    """List all roles in this competition with their users, by role and name."""
    query = (
        select(CompetitionRole)
        .join(CompetitionRole.user)
        .options(contains_eager(CompetitionRole.user))
        .where(CompetitionRole.competition_id == competition.id)
        .order_by(User.username)
    )
    order = list(Role)
    return sorted(session.scalars(query), key=lambda row: order.index(Role(row.role)))


def grant_role(
    session: Session,
    competition: Competition,
    user: User,
    role: Role,
    now: datetime,
    *,
    rights: Collection[Right] = ALL_RIGHTS,
    actor: User | str | None = None,
) -> bool:
    """Grant the role; return False if they had it already.

    rights: of an organiser; actor: as for `app.people.audit.record`.
    """
    if has_role(session, user, competition, role):
        return False
    held = rights_text(rights) if role is Role.ORGANISER else ""
    try:
        with session.begin_nested():
            session.add(
                CompetitionRole(competition_id=competition.id, user_id=user.id, role=role, rights=held, granted_at=now)
            )
    except IntegrityError:  # granted concurrently by somebody else
        return False
    details = _what(user, role) | ({"rights": held} if held else {})
    record(session, actor, "role.grant", f"competition {competition.name}", details, now=now)
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
    """Revoke the role; return False if they did not have it. actor: as for `app.people.audit.record`."""
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


def is_named(user: User, username: str) -> bool:
    """True if this is their user name; no other accounts are looked up."""
    return username.strip().lower() == user.username


def find_user(session: Session, username: str) -> User:
    """Return the account with this user name or confirmed e-mail address. Raises NotFound.

    An unconfirmed address matches nobody: the person who registered with it may not be its owner.
    """
    name = username.strip().lower()
    by_address = (User.email == name) & User.email_confirmed_at.is_not(None)
    same = by_address if "@" in name else User.username == name
    found = session.scalar(select(User).where(same)) if name.isprintable() else None  # PostgreSQL accepts no NUL
    if found is None and "@" in name:
        raise NotFound(
            f"No account on this server has confirmed the address '{username}'. Its owner registers with it and "
            "confirms it on the account page; or name the account by its user name."
        )
    if found is None:
        raise NotFound(f"There is no account '{username}' on this server.")
    return found
