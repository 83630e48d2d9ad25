"""Accounts and administrators created by the operator of the server; recorded in the audit log."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import update
from sqlalchemy.orm import Session

from app.models import User
from app.people import audit
from app.people.auth import register_user


def make_account(
    session: Session,
    *,
    username: str,
    email: str,
    password: str,
    display_name: str = "",
    is_administrator: bool = False,
    now: datetime,
) -> User:
    """Create an account on the command line, with an address confirmed by its creator.

    Raises InvalidForm or NameTaken.
    """
    user = register_user(session, username=username, email=email, password=password, display_name=display_name, now=now)
    user.is_administrator, user.email_confirmed_at = is_administrator, now
    session.flush()
    deed = "administrator.create" if is_administrator else "account.create"
    audit.record(session, None, deed, f"user {user.username}", now=now)
    return user


def promote(session: Session, user: User, now: datetime) -> bool:
    """Make the user an administrator; return False if they were one already."""
    changed = session.execute(
        update(User).where(User.id == user.id, ~User.is_administrator).values(is_administrator=True).returning(User.id)
    )
    if changed.first() is None:
        return False
    audit.record(session, None, "administrator.promote", f"user {user.username}", now=now)
    return True


def approve_organiser(session: Session, user: User, is_approved: bool, now: datetime) -> bool:
    """Set whether the user may create competitions where that needs approval; return False if unchanged."""
    others = update(User).where(User.id == user.id, User.is_approved_organiser.is_(not is_approved))
    if session.execute(others.values(is_approved_organiser=is_approved).returning(User.id)).first() is None:
        return False
    deed = "organiser.approve" if is_approved else "organiser.disapprove"
    audit.record(session, None, deed, f"user {user.username}", now=now)
    return True
