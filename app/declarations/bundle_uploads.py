"""Bundles that a program sends to create a competition: announced, sent to a secret address, found by number.

A bundle contains unsealed gold, so it is never stored: the request that sends it creates the draft, and only the
outcome is stored, for a day.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, Update, delete, select, update
from sqlalchemy.orm import Session

from app.base.errors import NotFound
from app.base.text import hash_of_secret
from app.models import BundleUpload, User
from app.submissions.held_uploads import NotUploadedYet, UploadedAlready

KEPT = timedelta(days=1)
#: Maximum number of uploads of one person at a time; the oldest are deleted first.
KEPT_AT_ONCE = 10
#: Longest duration of a request that creates a competition; one that has not ended by then was interrupted.
LONGEST = timedelta(minutes=15)
INTERRUPTED = "The server was interrupted while it created the competition. Upload the bundle again."


@dataclass(frozen=True, slots=True)
class Creation:
    """The outcome of a bundle. competition: the name of its draft, if there is one; details: one sentence per line."""

    number: int
    is_finished: bool
    competition: str | None
    details: str


def announce_bundle(session: Session, user: User, now: datetime) -> tuple[UUID, str]:
    """Announce a bundle; return its key and the secret of its address. The caller has checked the permission."""
    mine = select(BundleUpload.id).where(BundleUpload.user_id == user.id)
    newest = mine.order_by(BundleUpload.announced_at.desc(), BundleUpload.id.desc()).limit(KEPT_AT_ONCE - 1)
    kept = list(session.scalars(newest))
    session.execute(delete(BundleUpload).where(BundleUpload.user_id == user.id, BundleUpload.id.not_in(kept)))
    secret = secrets.token_urlsafe(32)
    upload = BundleUpload(user_id=user.id, secret_hash=hash_of_secret(secret), announced_at=now)
    session.add(upload)
    session.flush()
    return upload.key, secret


def sender_of(session: Session, secret: str, now: datetime) -> User | None:
    """Return the user who announced a bundle for this address; None if nobody did. Raises UploadedAlready."""
    upload = session.scalar(select(BundleUpload).where(*_at(secret, now)))
    if upload is None:
        return None
    if upload.claimed_at is not None:
        raise UploadedAlready("This address already received a bundle; request a new upload address.")
    return session.get_one(User, upload.user_id)


def claim_bundle(session: Session, secret: str, now: datetime) -> None:
    """Reserve the creation of the competition for this request. Raises UploadedAlready."""
    free = update(BundleUpload).where(*_at(secret, now), BundleUpload.claimed_at.is_(None)).values(claimed_at=now)
    if session.scalar(free.returning(BundleUpload.id)) is None:
        raise UploadedAlready("This address already received a bundle; request a new upload address.")


def release_bundle(session: Session, secret: str) -> None:
    """Allow another request to send the bundle, because this one has created nothing."""
    session.execute(_all_at(secret).values(claimed_at=None))


def finish_bundle(session: Session, secret: str, competition: str | None, details: str, now: datetime) -> None:
    """Record the outcome of the bundle."""
    session.execute(_all_at(secret).values(finished_at=now, competition=competition, details=details))


def creation_by_key(session: Session, user: User, key: UUID, now: datetime) -> Creation | None:
    """Return the outcome of the user's bundle with this key; None if there is none. Raises NotUploadedYet."""
    upload = session.scalar(select(BundleUpload).where(BundleUpload.key == key, *_own(user, now)))
    if upload is not None and upload.claimed_at is None:
        raise NotUploadedYet("This bundle has not been uploaded yet.")
    return None if upload is None else _creation(upload, now)


def creation_by_number(session: Session, user: User, number: int, now: datetime) -> Creation:
    """Return the outcome of the user's bundle with this number. Raises NotFound, NotUploadedYet."""
    key = session.scalar(select(BundleUpload.key).where(BundleUpload.id == number, *_own(user, now)))
    found = creation_by_key(session, user, key, now) if key is not None else None
    if found is None:
        raise NotFound("You have no bundle with this number; results are kept for a day.")
    return found


def forget_bundles(session: Session, now: datetime) -> int:
    """Delete all bundles older than a day; return their number."""
    over = BundleUpload.announced_at <= now - KEPT
    return len(session.scalars(delete(BundleUpload).where(over).returning(BundleUpload.id)).all())


def _creation(upload: BundleUpload, now: datetime) -> Creation:
    if upload.finished_at is None and upload.claimed_at is not None and upload.claimed_at <= now - LONGEST:
        return Creation(upload.id, True, None, INTERRUPTED)
    return Creation(upload.id, upload.finished_at is not None, upload.competition, upload.details)


def _at(secret: str, now: datetime) -> tuple[ColumnElement[bool], ...]:
    return BundleUpload.secret_hash == hash_of_secret(secret), BundleUpload.announced_at > now - KEPT


def _own(user: User, now: datetime) -> tuple[ColumnElement[bool], ...]:
    return BundleUpload.user_id == user.id, BundleUpload.announced_at > now - KEPT


def _all_at(secret: str) -> Update:
    here = update(BundleUpload).where(BundleUpload.secret_hash == hash_of_secret(secret))
    return here.execution_options(synchronize_session=False)
