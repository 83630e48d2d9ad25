"""One-time links for setting a new password, valid for a short time: by mail, or handed out by an administrator.

A request for an unknown name takes the same time and gets the same response. Only a hash of the secret is stored.
"""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session, joinedload

from app.base.addresses import public_address
from app.base.config import Settings
from app.base.errors import NotFound
from app.base.text import hash_of_secret
from app.models import MailLink, PasswordReset, User
from app.people import audit, auth
from app.people.email_confirmations import believe
from app.people.mail import LINK_PLACE, send_link, send_mail

#: Retention of expired links, which are deleted when the next link is created.
KEPT = timedelta(days=30)

#: Contains nothing chosen by the requester, as the address may be a stranger's.
_ASKED = f"""\
Hello,

A new password was requested for the account with this address on {{server}}.
Choose one within {{minutes}} minutes; the link works once:

{LINK_PLACE}

If it was not you, you can ignore this email: your password is unchanged.
"""
_CHANGED = """\
Hello {username},

{what} of your account "{username}" on {address} was just changed.

If it was you, you are done. If not, reset your password there, revoke any API token you do not recognise, and notify
the organisers.
"""


def ask(session: Session, username_or_email: str, settings: Settings, now: datetime) -> None:
    """Mail a link to the user with this name; the same statements run if there is none."""
    user = auth.find_user(session, username_or_email)
    body = _ASKED.replace("{minutes}", str(settings.password_reset_minutes))
    body = body.replace("{server}", public_address(settings, "/"))
    send_link(session, user, "Reset your password", body, MailLink.PASSWORD, now)


def make_link(session: Session, username_or_email: str, settings: Settings, now: datetime) -> tuple[User, str]:
    """Create a link for an administrator to hand out; return the user and the link. Raises NotFound."""
    user = auth.find_user(session, username_or_email)
    if user is None:
        raise NotFound(f"There is no account '{username_or_email}' that can log in.")
    audit.record(session, None, "reset_link.create", f"user {user.username}", now=now)
    return user, _make_link(session, user, None, settings, now)


def make_mailed(session: Session, user: User, settings: Settings, now: datetime) -> str:
    """Create a link for a mail to the user's current address, at its delivery; return it."""
    return _make_link(session, user, user.email, settings, now)


def find(session: Session, secret: str, now: datetime) -> PasswordReset:
    """Return the open link with this secret, with its user. Raises NotFound."""
    found = session.scalar(
        select(PasswordReset)
        .where(
            PasswordReset.secret_hash == hash_of_secret(secret),
            PasswordReset.ended_at.is_(None),
            PasswordReset.expires_at > now,
        )
        .options(joinedload(PasswordReset.user, innerjoin=True))
        .with_for_update(of=PasswordReset)
    )
    if found is None:
        raise NotFound("This link was already used, or has expired. Please request another.")
    return found


def use(session: Session, secret: str, password: str, settings: Settings, now: datetime) -> User:
    """Set the password, and end all log-ins and this link; return the user. Raises NotFound or InvalidForm.

    Using a mailed link confirms the address. The user's tokens and log-ins with providers stay valid, unless the
    address was unconfirmed until now.
    """
    reset = find(session, secret, now)
    user = session.get_one(User, reset.user_id, populate_existing=True)
    if user.email_confirmed_at is None:
        auth.take_over(session, user, now)
    auth.set_password(session, user, password, now)
    audit.record(session, user, "password.reset", f"user {user.username}", now=now)
    if reset.email == user.email:
        believe(session, user, now)
    mail_account_changed(session, user, "The password", settings, now)
    return user


def mail_account_changed(session: Session, user: User, what: str, settings: Settings, now: datetime) -> None:
    """Notify the user of a change that somebody else might have made; to be called before the address changes."""
    body = _CHANGED.format(what=what, username=user.username, address=public_address(settings, "/"))
    send_mail(session, user, f"{what} of your account was changed", body, now=now)


def _make_link(session: Session, user: User, email: str | None, settings: Settings, now: datetime) -> str:
    session.execute(delete(PasswordReset).where(PasswordReset.expires_at <= now - KEPT))
    secret = secrets.token_urlsafe(32)
    reset = PasswordReset(
        user_id=user.id,
        email=email,
        secret_hash=hash_of_secret(secret),
        created_at=now,
        expires_at=now + timedelta(minutes=settings.password_reset_minutes),
        ended_at=None,
    )
    session.add(reset)
    session.flush()
    return public_address(settings, f"/password/new?link={secret}")
