"""Blocked accounts: every log-in and token is refused, and the owner sees the reason.

Log-ins and tokens are looked up together with the block (`app.people.auth`), so one that is created while its owner is
blocked does not work either.
"""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.base.errors import Forbidden
from app.base.text import hash_of_secret
from app.models import ApiToken, LoginSession, User


class Blocked(Forbidden):
    """The administrators of the server blocked this account (details: reason)."""

    code = "account_blocked"


def refusal_of_account(reason: str) -> Blocked:
    """Return the error for the owner of a blocked account."""
    why = f": {reason.rstrip('.')}" if reason else ""
    return Blocked(
        f"This account is blocked{why}. If this is a mistake, write to the people who run this server.", reason=reason
    )


def check_account_not_blocked(session: Session, user: User) -> None:
    """Raise Blocked if the account is blocked now, even if `user` was loaded before."""
    query = select(User.blocked_reason).where(User.id == user.id, User.blocked_at.is_not(None))
    reason = session.scalar(query)
    if reason is not None:
        raise refusal_of_account(reason)


def check_not_of_blocked(session: Session, table: type[LoginSession] | type[ApiToken], secret: str) -> None:
    """Raise Blocked if this invalid secret belonged to a log-in or token of a blocked account."""
    query = (
        select(User.blocked_reason)
        .join(table, table.user_id == User.id)
        .where(table.secret_hash == hash_of_secret(secret), User.blocked_at.is_not(None))
    )
    reason = session.scalar(query)
    if reason is not None:
        raise refusal_of_account(reason)
