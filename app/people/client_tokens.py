"""Tokens for clients that log in with a password for every command: one per person and day, the same each time.

Only hashes of secrets are stored, so the secret is computed again from the password, as slowly as the password's own
hash: the database reveals no more about the password than that hash does. A new password ends the token
(`auth.set_password`).
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from datetime import datetime

from sqlalchemy import func, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.base.errors import NotAuthenticated
from app.models import ApiToken, TokenScope, User
from app.people import auth

DAYS = 1
SCOPES = frozenset({TokenScope.READ, TokenScope.SUBMIT, TokenScope.CREATE})


def client_token(session: Session, user: User, password: str, now: datetime) -> str:
    """Return the secret of the user's token for such clients, creating the token if none is live.

    password: verified by the caller. Raises NotAuthenticated if it was changed since.
    """
    unchanged = select(User.id).where(User.id == user.id, User.password_hash == user.password_hash).with_for_update()
    if session.scalar(unchanged) is None:
        raise NotAuthenticated("The password was changed a moment ago.")
    parts = f"{user.id} {user.password_hash} {_ended(session, user, now)} {' '.join(sorted(SCOPES))}"
    salt = hashlib.sha256(parts.encode()).digest()
    secret = auth.derive_secret(password, salt)
    if auth.find_token(session, secret, now) is None:
        with suppress(IntegrityError), session.begin_nested():  # another process may be creating the same one
            auth.create_token(session, user, auth.PASSWORD_TOKENS, now, scopes=SCOPES, days=DAYS, secret=secret)
    return secret


def _ended(session: Session, user: User, now: datetime) -> int:
    """Return the number of the user's client tokens that were revoked or have expired, which makes the next secret
    differ.
    """
    over = or_(ApiToken.revoked_at.is_not(None), ApiToken.expires_at <= now)
    mine = (
        select(func.count())
        .select_from(ApiToken)
        .where(ApiToken.user_id == user.id, ApiToken.name == auth.PASSWORD_TOKENS, over)
    )
    return session.scalar(mine) or 0
