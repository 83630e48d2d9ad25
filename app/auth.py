"""Accounts, log-in sessions and API tokens. Passwords are hashed with argon2; secrets are kept as sha256 only.

Who may do what stands with the things themselves (`app.submissions`); here is only who somebody is.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from datetime import datetime, timedelta
from functools import lru_cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError
from sqlalchemy import delete, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, joinedload

from app.errors import InvalidForm, NameTaken, NotAuthenticated, NotFound
from app.models import ApiToken, LoginSession, User

TOKEN_START = "evg_"  # noqa: S105 - the public beginning of every token, so that secret scanners know ours
PASSWORD_CHARACTERS = (10, 200)
_USERNAME = re.compile(r"^[a-z0-9](?:[a-z0-9._-]{1,38}[a-z0-9])$")
_EMAIL = re.compile(r"^[^@\s]+@[^@\s]+\.[^@\s]+$")


# -------------------------------------------------------------------------------------------------------- accounts


def register_user(
    session: Session, *, username: str, email: str, password: str, display_name: str = "", now: datetime
) -> User:
    """A new account; raises InvalidForm with a sentence per field, or NameTaken."""
    username, email = username.strip().lower(), email.strip().lower()
    display_name = " ".join(display_name.split())
    _check_registration(username, email, password, display_name)
    user = User(
        username=username,
        email=email,
        display_name=display_name or username,
        password_hash=_hasher().hash(password),
        created_at=now,
    )
    try:
        with session.begin_nested():
            session.add(user)
    except IntegrityError:
        raise NameTaken("This user name or e-mail address already has an account. Log in instead?") from None
    return user


def _check_registration(username: str, email: str, password: str, display_name: str) -> None:
    low, high = PASSWORD_CHARACTERS
    fields = {
        "username": "" if _USERNAME.match(username) else "3 to 40 characters: letters a-z, digits, and . _ - inside.",
        "email": ""
        if _EMAIL.match(email) and email.isprintable() and len(email) <= 320
        else "This is not an e-mail address.",
        "password": "" if low <= len(password) <= high else f"A password has {low} to {high} characters.",
        "display_name": ""
        if len(display_name) <= 100 and display_name.isprintable()
        else "At most 100 printable characters.",
    }
    wrong = {name: sentence for name, sentence in fields.items() if sentence}
    if wrong:
        raise InvalidForm("Please correct what is marked.", fields=wrong)


def authenticate(session: Session, username_or_email: str, password: str) -> User:
    """The user with this password; the same error, after the same work, for an unknown name and a wrong password."""
    name = username_or_email.strip().lower()
    same = or_(User.username == name, User.email == name)
    user = session.scalar(select(User).where(same)) if name.isprintable() else None  # PostgreSQL takes no NUL
    stored = user.password_hash if user and user.password_hash else _decoy_hash()
    try:
        _hasher().verify(stored, password)
    except (VerifyMismatchError, InvalidHashError):
        user = None
    if user is None or user.password_hash is None:
        raise NotAuthenticated("Unknown user name or wrong password.")
    return user


@lru_cache(maxsize=1)
def _hasher() -> PasswordHasher:
    return PasswordHasher()


@lru_cache(maxsize=1)
def _decoy_hash() -> str:
    return _hasher().hash(secrets.token_hex())


# -------------------------------------------------------------------------------------------------- log-in sessions


def start_session(session: Session, user: User, now: datetime, hours: int) -> tuple[LoginSession, str]:
    """A new log-in and the secret for its cookie."""
    secret = secrets.token_urlsafe(32)
    login = LoginSession(
        user_id=user.id,
        secret_hash=_sha256(secret),
        csrf_token=secrets.token_urlsafe(32),
        created_at=now,
        expires_at=now + timedelta(hours=hours),
    )
    session.execute(delete(LoginSession).where(LoginSession.user_id == user.id, LoginSession.expires_at <= now))
    session.add(login)
    session.flush()
    return login, secret


def find_session(session: Session, secret: str, now: datetime) -> LoginSession | None:
    """The live log-in with this secret, its user loaded."""
    return session.scalar(
        select(LoginSession)
        .where(LoginSession.secret_hash == _sha256(secret), LoginSession.expires_at > now)
        .options(joinedload(LoginSession.user))
    )


def end_session(session: Session, secret: str) -> None:
    """Log out; doing it twice is fine."""
    session.execute(delete(LoginSession).where(LoginSession.secret_hash == _sha256(secret)))


# ------------------------------------------------------------------------------------------------------- API tokens


def create_token(session: Session, user: User, name: str, now: datetime) -> tuple[ApiToken, str]:
    """A new token and its secret, which is shown this once and never again."""
    name = " ".join(name.split())
    if not 1 <= len(name) <= 100 or not name.isprintable():
        raise InvalidForm("Please correct what is marked.", fields={"name": "A name of 1 to 100 printable characters."})
    secret = TOKEN_START + secrets.token_urlsafe(32)
    token = ApiToken(
        user_id=user.id,
        name=name,
        prefix=secret[: len(TOKEN_START) + 4],
        secret_hash=_sha256(secret),
        created_at=now,
        last_used_at=None,
        revoked_at=None,
    )
    session.add(token)
    session.flush()
    return token, secret


def find_token(session: Session, secret: str, now: datetime) -> ApiToken | None:
    """The live token with this secret, its user loaded; `note_token_use` is the caller's to call."""
    return session.scalar(
        select(ApiToken)
        .where(ApiToken.secret_hash == _sha256(secret), ApiToken.revoked_at.is_(None))
        .options(joinedload(ApiToken.user))
    )


def note_token_use(session: Session, token: ApiToken, now: datetime) -> None:
    """Remember when the token was last used."""
    session.execute(update(ApiToken).where(ApiToken.id == token.id).values(last_used_at=now))


def list_tokens(session: Session, user: User) -> list[ApiToken]:
    """The user's live tokens, newest first."""
    query = select(ApiToken).where(ApiToken.user_id == user.id, ApiToken.revoked_at.is_(None))
    return list(session.scalars(query.order_by(ApiToken.id.desc())))


def revoke_token(session: Session, user: User, token_id: int, now: datetime) -> None:
    """End a token of this user's; raises NotFound for anybody else's."""
    revoked = session.scalar(
        update(ApiToken)
        .where(ApiToken.id == token_id, ApiToken.user_id == user.id, ApiToken.revoked_at.is_(None))
        .values(revoked_at=now)
        .returning(ApiToken.id)
    )
    if revoked is None:
        raise NotFound("You have no such token.")


def _sha256(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
