"""Accounts, log-in sessions and API tokens. Passwords are hashed with argon2; of secrets only the sha256 is stored.

This is authentication; authorisation is in the packages of the objects (such as `app.submissions.accept`).
"""

from __future__ import annotations

import re
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError
from argon2.low_level import Type, hash_secret_raw
from sqlalchemy import BindParameter, ColumnElement, bindparam, delete, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, contains_eager

from app.base.db import UtcDateTime
from app.base.errors import EvergoldError, Forbidden, NameTaken, NotAuthenticated, NotFound
from app.base.live_settings import LiveSettings
from app.base.text import hash_of_secret, is_address, refuse
from app.models import (
    NO_PASSWORD,
    ApiToken,
    Authenticator,
    Identity,
    KnownDevice,
    LoginSession,
    Passkey,
    PasswordReset,
    ProviderLogin,
    RecoveryCode,
    SecondStep,
    TokenScope,
    User,
)
from app.models.accounts import NO_ADDRESS
from app.people import audit
from app.people.account_blocks import check_account_not_blocked
from app.people.mail import drop_links
from app.people.views import Token
from evergold.scoring.characters import can_be_name

TOKEN_START = "evg_"  # noqa: S105 - the public beginning of every token, so that secret scanners know ours
PASSWORD_CHARACTERS = (10, 200)
ALL_SCOPES = frozenset(TokenScope)
TOKEN_DAYS = 365
TOKEN_DAYS_ALLOWED = (1, 5 * 366)
#: The name of tokens that stand for a password (`app.people.client_tokens`): they end with it, and no other has it.
PASSWORD_TOKENS = "log-ins of Codabench clients"  # noqa: S105 - a name
_USERNAME = re.compile(r"^[a-z0-9](?:[a-z0-9._-]{1,38}[a-z0-9])$")


# -------------------------------------------------------------------------------------------------------- accounts


class RegistrationClosed(Forbidden):
    """The administrators of the server have closed registration."""

    code = "registration_closed"


@dataclass(frozen=True, slots=True)
class NewAccount:
    """An account to create, as typed. password: None for somebody who logs in with a provider."""

    username: str
    email: str
    password: str | None = field(repr=False)
    display_name: str = ""


def register_user(session: Session, account: NewAccount, now: datetime, *, rules: LiveSettings | None = None) -> User:
    """Create an account and return it. Raises InvalidForm with a sentence per field, NameTaken, or RegistrationClosed.

    rules: of the server, for users who register themselves.
    """
    if rules is not None and rules.registration == "closed":
        raise RegistrationClosed("This server takes no new accounts at the moment.")
    username, email = account.username.strip().lower(), account.email.strip().lower()
    password, display_name = account.password, " ".join(account.display_name.split())
    _check_registration(username, email, password, display_name, rules)
    user = User(
        username=username,
        email=email,
        display_name=display_name or username,
        password_hash=NO_PASSWORD if password is None else _hasher().hash(password),
        created_at=now,
    )
    try:
        with session.begin_nested():
            session.add(user)
    except IntegrityError:
        raise _taken(session, username) from None
    return user


def _taken(session: Session, username: str) -> NameTaken:
    """Return the error for the field whose value is taken."""
    if session.scalar(select(User.id).where(User.username == username)) is not None:
        sentence, field = "This user name is taken. Choose another, or log in if it is yours.", "username"
    else:
        sentence, field = "This address already has an account. Log in instead.", "email"
    return NameTaken(sentence, fields={field: sentence})


def find_user(session: Session, username_or_email: str) -> User | None:
    """Return the user with this name or address, if the account can log in."""
    name = username_or_email.strip().lower()
    if not name.isprintable():  # PostgreSQL accepts no NUL
        return None
    same = or_(User.username == name, User.email == name)
    return session.scalar(select(User).where(same, User.password_hash.is_not(None)))


def set_password(
    session: Session, user: User, password: str, now: datetime, *, keep: LoginSession | None = None
) -> None:
    """Set a password, and end all log-ins (except `keep`), tokens obtained with the old password, and open links."""
    refuse({"password": _wrong_password(password)})
    session.execute(update(User).where(User.id == user.id).values(password_hash=_hasher().hash(password)))
    ended = delete(LoginSession).where(LoginSession.user_id == user.id)
    session.execute(ended if keep is None else ended.where(LoginSession.id != keep.id))
    given = (ApiToken.user_id == user.id) & (ApiToken.name == PASSWORD_TOKENS) & ApiToken.revoked_at.is_(None)
    session.execute(update(ApiToken).where(given).values(revoked_at=now))
    _end_links(session, user, now)


def set_email(session: Session, user: User, email: str, now: datetime, *, rules: LiveSettings | None = None) -> str:
    """Set an e-mail address, which has to be confirmed, and return it as stored. Links mailed to the old one end.

    rules: of the server, for users who change their own address. Raises InvalidForm or NameTaken.
    """
    email = email.strip().lower()
    refuse({"email": _wrong_email(email, rules) if email != user.email else ""})
    try:
        with session.begin_nested():
            is_other = (User.id == user.id) & (User.email != email)
            session.execute(update(User).where(is_other).values(email=email, email_confirmed_at=None))
    except IntegrityError:
        sentence = "This e-mail address belongs to another account."
        raise NameTaken(sentence, fields={"email": sentence}) from None
    _end_links(session, user, now)
    return email


def end_access(session: Session, user: User, now: datetime, *, keep: LoginSession | None = None) -> None:
    """End all log-ins (except `keep`) and all tokens of this account."""
    logins = delete(LoginSession).where(LoginSession.user_id == user.id)
    session.execute(logins if keep is None else logins.where(LoginSession.id != keep.id))
    live = (ApiToken.user_id == user.id) & ApiToken.revoked_at.is_(None)
    session.execute(update(ApiToken).where(live).values(revoked_at=now))


def take_over(session: Session, user: User, now: datetime) -> None:
    """End all access to an account whose address nobody had confirmed: it now belongs to the owner of the address."""
    session.execute(update(User).where(User.id == user.id).values(password_hash=NO_PASSWORD, orcid=None))
    for table in (Identity, Authenticator, Passkey, RecoveryCode, SecondStep, KnownDevice):
        session.execute(delete(table).where(table.user_id == user.id))
    end_access(session, user, now)
    _end_links(session, user, now)


def shut_out(session: Session, user: User, now: datetime) -> None:
    """End every log-in, token, open link and pending log-in of a blocked user.

    The rows of log-ins are kept as ended, so that their browsers can show the reason.
    """
    session.execute(update(LoginSession).where(LoginSession.user_id == user.id).values(expires_at=now))
    live = (ApiToken.user_id == user.id) & ApiToken.revoked_at.is_(None)
    session.execute(update(ApiToken).where(live).values(revoked_at=now))
    session.execute(delete(SecondStep).where(SecondStep.user_id == user.id))
    under_way = or_(ProviderLogin.linking_id == user.id, ProviderLogin.mailed_to_id == user.id)
    session.execute(delete(ProviderLogin).where(under_way))
    _end_links(session, user, now)


def release_address(session: Session, email: str, now: datetime) -> None:
    """Remove an address from an account that never confirmed it, because a provider verified it for another person."""
    unproved = (User.email == email) & User.email_confirmed_at.is_(None)
    holder = session.scalar(select(User).where(unproved).with_for_update())
    if holder is not None:
        holder.email = f"{secrets.token_hex(12)}@{NO_ADDRESS}"
        session.flush()
        _end_links(session, holder, now)
        audit.record(session, "log-in with a provider", "email.release", _named(holder), now=now)


def _end_links(session: Session, user: User, now: datetime) -> None:
    """End links that were sent, and drop pending mails with links."""
    is_open = (PasswordReset.user_id == user.id) & PasswordReset.ended_at.is_(None)
    session.execute(update(PasswordReset).where(is_open).values(ended_at=now))
    drop_links(session, user, now)


def _check_registration(
    username: str, email: str, password: str | None, display_name: str, rules: LiveSettings | None
) -> None:
    refuse(
        {
            "username": ""
            if _USERNAME.match(username)
            else "3 to 40 characters: letters a-z, digits, and . _ - inside.",
            "email": _wrong_email(email, rules),
            "password": "" if password is None else _wrong_password(password),
            "display_name": ""
            if len(display_name) <= 100 and (not display_name or can_be_name(display_name))
            else "At most 100 printable characters.",
        }
    )


def _wrong_password(password: str) -> str:
    low, high = PASSWORD_CHARACTERS
    return "" if low <= len(password) <= high else f"A password must have {low} to {high} characters."


def _wrong_email(email: str, rules: LiveSettings | None) -> str:
    if not is_address(email):
        return "This is not an e-mail address."
    return rules.refusal_of(email) if rules is not None else ""


def authenticate(session: Session, username_or_email: str, password: str) -> User:
    """Return the user with this password.

    An unknown name and a wrong password give the same error in the same time. Raises NotAuthenticated, Blocked.
    """
    name = username_or_email.strip().lower()
    same = or_(User.username == name, User.email == name)
    user = session.scalar(select(User).where(same)) if name.isprintable() else None  # PostgreSQL accepts no NUL
    stored = user.password_hash if user and user.password_hash and user.has_password else _decoy_hash()
    try:
        _hasher().verify(stored, password)
    except (VerifyMismatchError, InvalidHashError):
        user = None
    if user is None or not user.has_password:
        raise NotAuthenticated("Unknown user name or wrong password.")
    check_account_not_blocked(session, user)
    return user


@lru_cache(maxsize=1)
def _hasher() -> PasswordHasher:
    return PasswordHasher()


@lru_cache(maxsize=1)
def _decoy_hash() -> str:
    return _hasher().hash(secrets.token_hex())


# -------------------------------------------------------------------------------------------------- log-in sessions


def start_session(
    session: Session, user: User, now: datetime, hours: int, *, way: str = "", device: str = "", second: bool = False
) -> tuple[LoginSession, str]:
    """Create a log-in; return it with the secret for its cookie. Raises Blocked.

    way: how the user logged in; device: in which browser, both in words; second: a second factor was verified.
    """
    check_account_not_blocked(session, user)
    secret = secrets.token_urlsafe(32)
    login = LoginSession(
        user_id=user.id,
        secret_hash=hash_of_secret(secret),
        csrf_token=secrets.token_urlsafe(32),
        created_at=now,
        expires_at=now + timedelta(hours=hours),
        way=way,
        device=device,
        seen_at=now,
        second_at=now if second else None,
        challenge=None,
    )
    session.execute(delete(LoginSession).where(LoginSession.user_id == user.id, LoginSession.expires_at <= now))
    session.add(login)
    session.flush()
    return login, secret


def find_session(session: Session, secret: str, now: datetime) -> LoginSession | None:
    """Return the live log-in with this secret, with its user."""
    return session.scalar(_LIVE_LOGIN, {"secret_hash": hash_of_secret(secret), "now": now})


#: Built once, as every page runs it.
_LIVE_LOGIN = (
    select(LoginSession)
    .join(LoginSession.user)
    .where(
        LoginSession.secret_hash == bindparam("secret_hash"),
        LoginSession.expires_at > bindparam("now"),
        User.blocked_at.is_(None),
    )
    .options(contains_eager(LoginSession.user))
)


def end_session(session: Session, secret: str) -> None:
    """End the log-in with this secret; idempotent."""
    session.execute(delete(LoginSession).where(LoginSession.secret_hash == hash_of_secret(secret)))


# ------------------------------------------------------------------------------------------------------- API tokens


def create_token(
    session: Session,
    user: User,
    name: str,
    now: datetime,
    *,
    scopes: Collection[TokenScope] | None = None,
    days: int = TOKEN_DAYS,
    made_with: ApiToken | None = None,
    secret: str = "",
) -> tuple[ApiToken, str]:
    """Create a token; return it with its secret, which is shown only once.

    made_with: the token that authorised the request; the new one can have no more scopes (None: the same) and no later
    end. secret: from `derive_secret`; empty: a random one.
    """
    name = " ".join(name.split())
    allowed = scopes_of(made_with) if made_with else ALL_SCOPES
    scopes = allowed if scopes is None else frozenset(scopes)
    _check_token(name, scopes, days)
    refuse({"name": "This name is taken by the server itself." if name == PASSWORD_TOKENS and not secret else ""})
    if not scopes <= allowed:
        raise Forbidden("A token can only create tokens with no more permissions than its own.")
    expires_at = now + timedelta(days=days)
    if made_with and made_with.expires_at:
        expires_at = min(expires_at, made_with.expires_at)
    secret = secret or TOKEN_START + secrets.token_urlsafe(32)
    token = ApiToken(
        user_id=user.id,
        name=name,
        prefix=secret[: len(TOKEN_START) + 4],
        secret_hash=hash_of_secret(secret),
        scopes=" ".join(scope for scope in TokenScope if scope in scopes),
        created_at=now,
        expires_at=expires_at,
        last_used_at=None,
        revoked_at=None,
    )
    session.add(token)
    session.flush()
    audit.record(session, user, "token.create", _named(user), _about(token), now=now)
    return token, secret


def derive_secret(password: str, salt: bytes) -> str:
    """Return a token's secret derived from the password, as slow to compute as a hash of the password."""
    hasher = _hasher()
    raw = hash_secret_raw(
        password.encode(),
        salt,
        time_cost=hasher.time_cost,
        memory_cost=hasher.memory_cost,
        parallelism=hasher.parallelism,
        hash_len=32,
        type=Type.ID,
    )
    return TOKEN_START + urlsafe_b64encode(raw).decode().rstrip("=")


def _check_token(name: str, scopes: Collection[TokenScope], days: int) -> None:
    low, high = TOKEN_DAYS_ALLOWED
    refuse(
        {
            "name": "" if len(name) <= 100 and can_be_name(name) else "A name of 1 to 100 printable characters.",
            "scopes": "" if scopes else "Choose at least one.",
            "days": "" if low <= days <= high else f"Between {low} and {high} days.",
        }
    )


def scopes_of(token: ApiToken) -> frozenset[TokenScope]:
    """Return the scopes of the token."""
    return frozenset(TokenScope(name) for name in token.scopes.split())


def find_token(session: Session, secret: str, now: datetime) -> ApiToken | None:
    """Return the live token with this secret, with its user; the caller has to call `note_token_use`."""
    return session.scalar(_LIVE_TOKEN, {"secret_hash": hash_of_secret(secret), "now": now})


def note_token_use(session: Session, token: ApiToken, now: datetime) -> None:
    """Store when the token was last used."""
    session.execute(update(ApiToken).where(ApiToken.id == token.id).values(last_used_at=now))


def list_tokens(session: Session, user: User) -> list[Token]:
    """List the user's tokens that were not revoked, newest first, including expired ones."""
    query = select(ApiToken).where(ApiToken.user_id == user.id, ApiToken.revoked_at.is_(None))
    return [Token.of(one) for one in session.scalars(query.order_by(ApiToken.id.desc()))]


def revoke_token(
    session: Session, user: User, token_id: int, now: datetime, *, made_with: ApiToken | None = None
) -> None:
    """Revoke a token of this user. Raises NotFound for others' tokens. made_with: as in `create_token`."""
    mine = (ApiToken.id == token_id) & (ApiToken.user_id == user.id) & ApiToken.revoked_at.is_(None)
    token = session.scalar(select(ApiToken).where(mine).with_for_update())
    if token is None:
        raise NotFound("You have no such token.")
    if made_with and made_with.id != token.id and not scopes_of(token) <= scopes_of(made_with):
        raise Forbidden("A token can only revoke tokens with no more permissions than its own.")
    token.revoked_at = now
    audit.record(session, user, "token.revoke", _named(user), _about(token), now=now)


def _about(token: ApiToken) -> dict[str, Any]:
    expires = token.expires_at.isoformat() if token.expires_at else None
    return {"token": token.prefix, "name": token.name, "scopes": token.scopes.split(), "expires_at": expires}


def _named(user: User) -> str:
    return f"user {user.username}"


def _is_live(now: datetime | BindParameter[datetime]) -> ColumnElement[bool]:
    return ApiToken.revoked_at.is_(None) & or_(ApiToken.expires_at.is_(None), ApiToken.expires_at > now)


#: Built once, as every request with a token runs it.
_LIVE_TOKEN = (
    select(ApiToken)
    .join(ApiToken.user)
    .where(
        ApiToken.secret_hash == bindparam("secret_hash"),
        _is_live(bindparam("now", type_=UtcDateTime())),
        User.blocked_at.is_(None),
    )
    .options(contains_eager(ApiToken.user))
)


def make_account(session: Session, account: NewAccount, now: datetime, *, is_administrator: bool = False) -> User:
    """Create an account on the command line, with an address confirmed by its creator.

    Raises InvalidForm or NameTaken.
    """
    user = register_user(session, account, now)
    user.is_administrator, user.email_confirmed_at = is_administrator, now
    session.flush()
    deed = "administrator.create" if is_administrator else "account.create"
    audit.record(session, None, deed, f"user {user.username}", now=now)
    return user


def promote(session: Session, user: User, now: datetime) -> bool:
    """Make the user an administrator; return False if the user already was one."""
    changed = session.execute(
        update(User).where(User.id == user.id, ~User.is_administrator).values(is_administrator=True).returning(User.id)
    )
    if changed.first() is None:
        return False
    audit.record(session, None, "administrator.promote", f"user {user.username}", now=now)
    return True


class LastAdministrator(EvergoldError):
    """No other user who can log in is an administrator."""

    status = 409
    code = "last_administrator"


def demote(session: Session, user: User, now: datetime, *, actor: User | None = None) -> bool:
    """Make an administrator a normal user; return False if the user was not one. Log-ins and second factor are kept.

    Raises LastAdministrator.
    """
    administrators = select(User.id).where(User.is_administrator).order_by(User.id)
    session.execute(administrators.with_for_update())  # two concurrent removals must leave one
    session.refresh(user)
    if not user.is_administrator:
        return False
    if not has_other_administrator(session, user):
        raise LastAdministrator(
            f"{user.username} is the only administrator: make somebody else an administrator first."
        )
    user.is_administrator = False
    session.flush()
    audit.record(session, actor, "administrator.demote", f"user {user.username}", now=now)
    return True


def has_other_administrator(session: Session, user: User) -> bool:
    """Return whether another administrator can log in."""
    others = User.id != user.id, User.is_administrator, User.password_hash.is_not(None), User.blocked_at.is_(None)
    return session.scalar(select(User.id).where(*others).limit(1)) is not None


def approve_organiser(
    session: Session, user: User, is_approved: bool, now: datetime, *, actor: User | None = None
) -> bool:
    """Set whether the user may create competitions if that needs approval; return False if nothing changed."""
    others = update(User).where(User.id == user.id, User.is_approved_organiser.is_(not is_approved))
    if session.execute(others.values(is_approved_organiser=is_approved).returning(User.id)).first() is None:
        return False
    deed = "organiser.approve" if is_approved else "organiser.disapprove"
    audit.record(session, actor, deed, f"user {user.username}", now=now)
    return True
