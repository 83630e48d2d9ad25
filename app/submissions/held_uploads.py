"""Files that arrive before their submission: announced, sent to a secret address, submitted by key.

Nothing is accepted here: the rules of submissions apply when one is created. A file is held for a day, until the sweep
deletes it.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from app.base.errors import EvergoldError, NotFound
from app.base.storage import StoredFile
from app.base.text import hash_of_secret
from app.models import HeldUpload, User
from app.submissions.accept import base_name

HELD = timedelta(days=1)
#: Maximum number of uploads of one person at a time; the oldest are deleted first.
HELD_AT_ONCE = 10


class NotUploadedYet(EvergoldError):
    """A file was announced but has not arrived."""

    status = 409
    code = "not_uploaded_yet"


class UploadedAlready(EvergoldError):
    """Another file has already arrived at this address."""

    status = 409
    code = "uploaded_already"


@dataclass(frozen=True, slots=True)
class HeldFile:
    """A file that has arrived, with its name."""

    file: StoredFile
    filename: str


def announce_upload(session: Session, user: User, filename: str, now: datetime) -> tuple[UUID, str]:
    """Announce a file; return its key and the secret of its address."""
    mine = select(HeldUpload.key).where(HeldUpload.user_id == user.id)
    newest = mine.order_by(HeldUpload.announced_at.desc(), HeldUpload.key).limit(HELD_AT_ONCE - 1)
    kept = list(session.scalars(newest))
    session.execute(delete(HeldUpload).where(HeldUpload.user_id == user.id, HeldUpload.key.not_in(kept)))
    secret = secrets.token_urlsafe(32)
    upload = HeldUpload(
        user_id=user.id, secret_hash=hash_of_secret(secret), filename=base_name(filename), announced_at=now
    )
    session.add(upload)
    session.flush()
    return upload.key, secret


def forget_held_uploads(session: Session, now: datetime) -> int:
    """Delete all uploads older than a day, so that their files are unreferenced; return their number."""
    over = HeldUpload.announced_at <= now - HELD
    return len(session.scalars(delete(HeldUpload).where(over).returning(HeldUpload.key)).all())


def check_awaited(session: Session, secret: str, now: datetime) -> None:
    """Raise NotFound unless a file is expected at this address."""
    live = HeldUpload.announced_at > now - HELD
    if session.scalar(select(HeldUpload.key).where(HeldUpload.secret_hash == hash_of_secret(secret), live)) is None:
        raise NotFound("No upload is expected at this address (any more): request an upload address first.")


def record_upload(session: Session, secret: str, file: StoredFile, now: datetime) -> None:
    """Record the file that arrived at this address. Raises NotFound; UploadedAlready if a different file arrived
    before.
    """
    check_awaited(session, secret, now)
    here = HeldUpload.secret_hash == hash_of_secret(secret)
    session.execute(
        update(HeldUpload)
        .where(here, HeldUpload.sha256.is_(None))
        .values(sha256=file.sha256, size_bytes=file.size_bytes)
        .execution_options(synchronize_session=False)
    )
    if session.scalar(select(HeldUpload.sha256).where(here)) != file.sha256:
        raise UploadedAlready("Another file was already uploaded to this address; request a new upload address.")


def held_file(session: Session, user: User, key: UUID, now: datetime) -> HeldFile:
    """Return the user's file with this key. Raises NotFound, NotUploadedYet."""
    mine = HeldUpload.key == key, HeldUpload.user_id == user.id, HeldUpload.announced_at > now - HELD
    upload = session.scalar(select(HeldUpload).where(*mine))
    if upload is None:
        raise NotFound("You have no upload with this key; files that are not submitted are stored for a day.")
    if upload.sha256 is None or upload.size_bytes is None:
        raise NotUploadedYet("This file has not been uploaded yet.")
    return HeldFile(StoredFile(upload.sha256, upload.size_bytes), upload.filename)
