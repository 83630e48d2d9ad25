"""Archives of a user's data: requested, created by a worker, kept for some days. `contents` collects their content.

Only the user gets the archive. A message to workers may be lost, and two workers may claim the same archive: the lease
decides who creates it, and the sweep sends it again.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import and_, delete, or_, select, update
from sqlalchemy.orm import Session

from app.base import api_links, links
from app.base.addresses import public_address
from app.base.config import Settings
from app.base.errors import EvergoldError, NotFound
from app.base.storage import Storage, StoredFile, remove_file
from app.models import AccountDeletion, DataArchive, User
from app.people import audit
from app.people.mail import send_mail
from app.privacy.views import ArchiveOut
from evergold.moments import moment_words

#: An archive that no worker has claimed after this time is announced again.
RESEND = timedelta(seconds=120)
#: Time limit for a worker to create one.
LEASE = timedelta(minutes=30)
#: An archive younger than this is returned instead of a new one.
ONCE_PER = timedelta(days=1)
_OPEN = and_(DataArchive.ready_at.is_(None), DataArchive.ended_at.is_(None))

_READY = """\
Hello {username},

The archive of everything that {server} stores about you is ready. Log in and download it until {until}:

{page}

If you did not request it, set a new password: somebody used your account.
"""


class ArchiveNotReady(EvergoldError):
    """The archive is still being created, or its file was deleted."""

    status = 409
    code = "archive_not_ready"


def request_archive(session: Session, user: User, now: datetime) -> DataArchive:
    """Request an archive and return it; return the latest if it is pending, or was requested within a day.

    The caller notifies workers.
    """
    session.execute(select(User.id).where(User.id == user.id).with_for_update())  # one after another
    latest = latest_archive(session, user)
    if latest is not None and not may_request(latest, now):
        return latest
    archive = DataArchive(
        user_id=user.id,
        asked_at=now,
        sent_at=now,
        lease_expires_at=None,
        ready_at=None,
        sha256=None,
        size_bytes=None,
        ended_at=None,
    )
    session.add(archive)
    session.flush()
    audit.record(session, user, "archive.request", f"user {user.username}", {"archive": archive.id}, now=now)
    return archive


def may_request(latest: DataArchive | None, now: datetime) -> bool:
    """Return whether a request would create another archive. latest: of the user, if there is one."""
    if latest is None or latest.ended_at is not None:
        return True
    return latest.ready_at is not None and now - latest.asked_at >= ONCE_PER


def latest_archive(session: Session, user: User) -> DataArchive | None:
    """Return the user's latest archive, in any state; None if there is none."""
    mine = select(DataArchive).where(DataArchive.user_id == user.id)
    return session.scalar(mine.order_by(DataArchive.id.desc()).limit(1))


def ready_archive(session: Session, user: User) -> DataArchive:
    """Return the user's archive that is ready for download. Raises NotFound, ArchiveNotReady."""
    latest = latest_archive(session, user)
    if latest is None:
        raise NotFound("You have not requested an archive of your data.")
    if latest.ended_at is not None or latest.ready_at is None:
        raise ArchiveNotReady("The archive is not ready yet, or was deleted: request one on your account page.")
    return latest


def expires_at(archive: DataArchive, settings: Settings) -> datetime | None:
    """Return the time at which the file will be deleted; None if there is no file."""
    return archive.ready_at + timedelta(days=settings.archive_days) if archive.ready_at else None


def describe_archive(archive: DataArchive, settings: Settings) -> ArchiveOut:
    """Return the API object of the archive for its owner."""
    is_ready = archive.ready_at is not None and archive.ended_at is None
    return ArchiveOut(
        state="ready" if is_ready else "pending" if archive.ended_at is None else "ended",
        asked_at=archive.asked_at,
        ready_at=archive.ready_at,
        expires_at=expires_at(archive, settings) if is_ready else None,
        size_bytes=archive.size_bytes,
        file=api_links.own_archive() if is_ready else None,
    )


def audit_download(session: Session, user: User, archive: DataArchive, now: datetime) -> None:
    """Record that the archive was downloaded."""
    audit.record(session, user, "archive.download", f"user {user.username}", {"archive": archive.id}, now=now)


# ---------------------------------------------------------------------------------------------------------- by workers


def claim_archive(session: Session, archive_id: int, *, attempts: int, now: datetime) -> User | None:
    """Reserve an archive; return its user, None if there is nothing (more) to create.

    After the last attempt it ends without a file, and its owner may request another.
    """
    is_free = or_(DataArchive.lease_expires_at.is_(None), DataArchive.lease_expires_at <= now)
    found = session.scalar(
        select(DataArchive).where(DataArchive.id == archive_id, _OPEN, is_free).with_for_update(skip_locked=True)
    )
    if found is None:
        return None
    if found.attempts >= attempts:
        found.ended_at = now
        return None
    found.attempts += 1
    found.lease_expires_at = now + LEASE
    session.flush()
    return session.get_one(User, found.user_id)


def record_archive(session: Session, archive_id: int, file: StoredFile, settings: Settings, now: datetime) -> bool:
    """Record the file and notify its owner; return False, without changes, if the archive is no longer pending."""
    changed = session.execute(
        update(DataArchive)
        .where(DataArchive.id == archive_id, _OPEN)
        .values(ready_at=now, sha256=file.sha256, size_bytes=file.size_bytes, lease_expires_at=None)
        .returning(DataArchive.user_id)
    ).first()
    if changed is None:
        return False
    user = session.get_one(User, changed[0])
    body = _READY.format(
        username=user.username,
        server=public_address(settings, "/"),
        until=moment_words((now + timedelta(days=settings.archive_days)).replace(second=0, microsecond=0)),
        page=public_address(settings, links.own_data()),
    )
    send_mail(session, user, "The archive of your data is ready", body, now=now)
    return True


def release_archive(session: Session, archive_id: int) -> None:
    """Release the archive, so that the sweep sends it to another worker."""
    session.execute(update(DataArchive).where(DataArchive.id == archive_id, _OPEN).values(lease_expires_at=None))


# -------------------------------------------------------------------------------------------------------- by the sweep


def archives_to_send(session: Session, now: datetime) -> list[int]:
    """Return the archives to announce to workers again, marked as announced."""
    is_free = or_(DataArchive.lease_expires_at.is_(None), DataArchive.lease_expires_at <= now)
    is_due = or_(DataArchive.sent_at.is_(None), DataArchive.sent_at <= now - RESEND)
    due = update(DataArchive).where(_OPEN, is_free, is_due).values(sent_at=now)
    return sorted(session.scalars(due.returning(DataArchive.id)).all())


def archives_to_end(session: Session, settings: Settings, now: datetime) -> list[DataArchive]:
    """Return ready archives that have expired, were replaced by a newer one, or whose user was deleted."""
    newer = select(DataArchive.user_id, DataArchive.id).where(DataArchive.ready_at.is_not(None)).subquery()
    is_replaced = select(newer.c.id).where(newer.c.user_id == DataArchive.user_id, newer.c.id > DataArchive.id).exists()
    is_over = DataArchive.ready_at <= now - timedelta(days=settings.archive_days)
    is_nobodys = select(AccountDeletion.user_id).where(
        AccountDeletion.user_id == DataArchive.user_id, AccountDeletion.done_at.is_not(None)
    )
    is_there = and_(DataArchive.ready_at.is_not(None), DataArchive.ended_at.is_(None))
    return list(session.scalars(select(DataArchive).where(is_there, or_(is_over, is_replaced, is_nobodys.exists()))))


def remove_archive_file(storage: Storage, archive: DataArchive) -> None:
    """Delete the file of an archive, whose content is unique, so no other row references it. Raises StorageAway."""
    if archive.sha256 is not None:
        remove_file(storage, archive.sha256)


def end_archive(session: Session, archive_id: int, now: datetime) -> None:
    """Record that this archive no longer has a file."""
    session.execute(
        update(DataArchive).where(DataArchive.id == archive_id, DataArchive.ended_at.is_(None)).values(ended_at=now)
    )


def forget_archives(session: Session, before: datetime) -> None:
    """Delete the rows of archives that ended before this moment."""
    session.execute(delete(DataArchive).where(DataArchive.ended_at <= before))
