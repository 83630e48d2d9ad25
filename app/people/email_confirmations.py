"""Links that confirm an e-mail address. Roles, mails and competitions rely only on confirmed addresses.

A confirmation is for one address: after a change, the new address must be confirmed as well.
"""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from app.base.addresses import public_address
from app.base.config import Settings
from app.base.errors import NotFound
from app.base.text import hash_of_secret
from app.models import EmailConfirmation, LoginSession, MailLink, User
from app.people import audit, auth, mail
from app.people.mail import LINK_PLACE

LINK_HOURS = 48
#: Retention of unused links, which are deleted when the next link is created.
KEPT = timedelta(days=30)

#: Contains nothing chosen by the requester, as the address may be a stranger's.
_ASKED = f"""\
Hello,

Please confirm your email address for your {{name}} account on {{server}}. The link is valid for {LINK_HOURS} hours
and asks you to log in:

{LINK_PLACE}

If you did not create an account, you can ignore this email.
"""


def is_confirmed(session: Session, user: User) -> bool:
    """Return True if the user has confirmed the current address."""
    return session.scalar(select(User.email_confirmed_at).where(User.id == user.id)) is not None


def send_link(session: Session, user: User, settings: Settings, now: datetime) -> None:
    """Mail a link to the user's current address; its secret is created when the mail is delivered."""
    body = _ASKED.replace("{server}", public_address(settings, "/")).replace("{name}", settings.server_name)
    mail.send_link(session, user, f"Confirm your email address for {settings.server_name}", body, MailLink.ADDRESS, now)


def make_link(session: Session, user: User, settings: Settings, now: datetime) -> str:
    """Create a link that confirms the user's current address; return its address."""
    unused = EmailConfirmation.confirmed_at.is_(None) & (EmailConfirmation.expires_at <= now - KEPT)
    session.execute(delete(EmailConfirmation).where(unused))
    secret = secrets.token_urlsafe(32)
    session.add(
        EmailConfirmation(
            user_id=user.id,
            email=user.email,
            secret_hash=hash_of_secret(secret),
            created_at=now,
            expires_at=now + timedelta(hours=LINK_HOURS),
            confirmed_at=None,
        )
    )
    session.flush()
    return public_address(settings, f"/account/confirm-email?link={secret}")


def find(session: Session, user: User, secret: str, now: datetime) -> EmailConfirmation:
    """Return the open link with this secret for the user's current address. Raises NotFound."""
    found = session.scalar(
        select(EmailConfirmation)
        .join(User, User.id == EmailConfirmation.user_id)
        .where(
            EmailConfirmation.secret_hash == hash_of_secret(secret),
            EmailConfirmation.user_id == user.id,
            EmailConfirmation.email == User.email,
            EmailConfirmation.expires_at > now,
        )
    )
    if found is None:
        raise NotFound(
            "This link has expired, or belongs to another account or address. Request another on your account page."
        )
    return found


def confirm(session: Session, user: User, secret: str, now: datetime, *, keep: LoginSession | None = None) -> None:
    """Confirm the address of this link; idempotent. Raises NotFound. keep: as in `believe`."""
    found = find(session, user, secret, now)
    if found.confirmed_at is None:
        found.confirmed_at = now
        session.flush()
        believe(session, user, now, keep=keep)


def believe(
    session: Session, user: User, now: datetime, *, keep: LoginSession | None = None, actor: User | str | None = None
) -> bool:
    """Mark the current address as confirmed; return False if it was already.

    Earlier users of the account may not own the address: their log-ins (except `keep`, used to confirm) and tokens end.
    actor: as for `audit.record`, by default the user.
    """
    unknown = (User.id == user.id) & User.email_confirmed_at.is_(None)
    changed = session.execute(update(User).where(unknown).values(email_confirmed_at=now).returning(User.id))
    if changed.first() is None:
        return False
    auth.end_access(session, user, now, keep=keep)
    audit.record(session, actor or user, "email.confirm", f"user {user.username}", now=now)
    return True
