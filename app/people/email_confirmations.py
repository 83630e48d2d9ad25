"""Links that prove that an e-mail address is its user's: asked for where a competition lets people in by address.

A proof holds for the address as it was: whoever changes it confirms the new one, too.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.base.config import Settings
from app.base.errors import NotFound
from app.models import EmailConfirmation, User
from app.people import audit
from app.people.mail import public_address, send_mail

LINK_HOURS = 48
#: Links that nobody used are kept as long; the next link that is made takes them away.
KEPT = timedelta(days=30)

_ASKED = """\
Hello {username},

a competition wants to know that this address is yours. Please log in as "{username}" and confirm it here within
{hours} hours:

{link}

If you do not know of this: nothing has changed, and there is nothing you have to do.
"""


def is_confirmed(session: Session, user: User) -> bool:
    """Whether the user has proved that the present address is theirs."""
    proof = select(EmailConfirmation.id).where(
        EmailConfirmation.user_id == user.id,
        EmailConfirmation.email == select(User.email).where(User.id == user.id).scalar_subquery(),
        EmailConfirmation.confirmed_at.is_not(None),
    )
    return session.scalar(proof.limit(1)) is not None


def send_link(session: Session, user: User, settings: Settings, now: datetime) -> None:
    """Mail a link to the user's present address."""
    unused = EmailConfirmation.confirmed_at.is_(None) & (EmailConfirmation.expires_at <= now - KEPT)
    session.execute(delete(EmailConfirmation).where(unused))
    email = session.scalars(select(User.email).where(User.id == user.id)).one()
    secret = secrets.token_urlsafe(32)
    session.add(
        EmailConfirmation(
            user_id=user.id,
            email=email,
            secret_hash=_sha256(secret),
            created_at=now,
            expires_at=now + timedelta(hours=LINK_HOURS),
            confirmed_at=None,
        )
    )
    link = public_address(settings, f"/account/confirm-email?link={secret}")
    body = _ASKED.format(username=user.username, hours=LINK_HOURS, link=link)
    send_mail(session, email, "Is this your address?", body, now=now)


def find(session: Session, user: User, secret: str, now: datetime) -> EmailConfirmation:
    """The open link with this secret, for the user's present address; raises NotFound."""
    found = session.scalar(
        select(EmailConfirmation)
        .join(User, User.id == EmailConfirmation.user_id)
        .where(
            EmailConfirmation.secret_hash == _sha256(secret),
            EmailConfirmation.user_id == user.id,
            EmailConfirmation.email == User.email,
            EmailConfirmation.expires_at > now,
        )
    )
    if found is None:
        raise NotFound("This link is too old, or is for another account or address. Please register again for another.")
    return found


def confirm(session: Session, user: User, secret: str, now: datetime) -> None:
    """Believe the address from now on; doing it twice is as good as once. Raises NotFound."""
    found = find(session, user, secret, now)
    if found.confirmed_at is None:
        found.confirmed_at = now
        session.flush()
        audit.record(session, user, "email.confirm", f"user {user.username}", now=now)


def _sha256(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
