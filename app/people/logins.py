"""The list of a user's log-ins, which can be ended one by one or all but one; known browsers, and a mail about a new
one.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from app.base.addresses import public_address
from app.base.config import Settings
from app.base.errors import NotFound
from app.base.text import hash_of_secret
from app.models import KnownDevice, LoginSession, User
from app.people import audit, mail

#: A browser is known for this long after the last log-in with it.
KNOWN_DAYS = 400
#: `seen_at` is written at most this often.
SEEN_AFTER = timedelta(minutes=15)
_NEW = """\
Hello {username},

Somebody logged in to your account "{username}" on {address}, with {way}, in a browser that was not used
for it before: {device}.

If it was you, you are done. If not, end that log-in on the page "Logging in", set a new password, and notify the people
who run the server.
"""
#: The name of each browser by a part of its User-Agent header. The first match counts, since many browsers also name
#: those that they imitate.
_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("CriOS/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


def device_words(user_agent: str) -> str:
    """Return browser and system of a user agent in words, such as `Firefox on Linux`."""
    browser = next((name for mark, name in _BROWSERS if mark in user_agent), "a program")
    system = next((name for mark, name in _SYSTEMS if mark in user_agent), "")
    return f"{browser} on {system}" if system else browser


def list_logins(session: Session, user: User, now: datetime) -> Sequence[LoginSession]:
    """List the user's log-ins that have not ended, newest first."""
    live = (LoginSession.user_id == user.id) & (LoginSession.expires_at > now)
    return session.scalars(select(LoginSession).where(live).order_by(LoginSession.id.desc())).all()


def end_login(session: Session, user: User, login_id: int, now: datetime) -> None:
    """End a log-in of this user. Raises NotFound for those of other users."""
    mine = (LoginSession.id == login_id) & (LoginSession.user_id == user.id)
    if session.execute(delete(LoginSession).where(mine).returning(LoginSession.id)).first() is None:
        raise NotFound("Log-in not found; it may have ended.")
    audit.record(session, user, "login.end", f"user {user.username}", now=now)


def end_others(session: Session, user: User, keep: LoginSession, now: datetime) -> None:
    """End all log-ins of this user except `keep`."""
    session.execute(delete(LoginSession).where(LoginSession.user_id == user.id, LoginSession.id != keep.id))
    audit.record(session, user, "login.end_others", f"user {user.username}", now=now)


def note_seen(session: Session, login: LoginSession, now: datetime) -> None:
    """Record when the log-in was last used."""
    session.execute(update(LoginSession).where(LoginSession.id == login.id).values(seen_at=now))


def note_device(
    session: Session, user: User, cookie: str, described: tuple[str, str], settings: Settings, now: datetime
) -> str:
    """Record the browser in which somebody logs in; return the secret of its cookie, a new one if it has none.

    The owner gets a mail about a new browser, unless it is the first.
    described: way and device, in words.
    """
    session.execute(delete(KnownDevice).where(KnownDevice.seen_at <= now - timedelta(days=KNOWN_DAYS)))
    known = session.scalars(select(KnownDevice).where(KnownDevice.user_id == user.id)).all()
    this = next((one for one in known if cookie and one.secret_hash == hash_of_secret(cookie)), None)
    if this is not None:
        this.seen_at = now
        return cookie
    secret = cookie if 20 < len(cookie) < 100 else secrets.token_urlsafe(32)
    session.add(KnownDevice(user_id=user.id, secret_hash=hash_of_secret(secret), seen_at=now))
    session.flush()
    if known:
        way, device = described
        body = _NEW.format(username=user.username, address=public_address(settings, "/"), way=way, device=device)
        mail.send_mail(session, user, "A log-in in a new browser", body, now=now)
    return secret
