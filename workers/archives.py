"""make_archive(archive_id): collects all stored data about a person in one zip, for that person only.

It runs here and not in the web process, because the archive may be large and takes a while; it opens no gold.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Engine

from app.base.config import Settings, get_settings
from app.base.db import get_engine, writing
from app.base.errors import StorageAway
from app.base.logs import bound, log
from app.base.storage import UNLIMITED_BYTES, remove_file, sealed_storage_of, storage_of, store_upload
from app.models import User
from app.privacy.archives import claim_archive, record_archive, release_archive
from app.privacy.contents import archive_chunks
from workers.apart import Run


def make_archive(archive_id: int, run: Run[Any]) -> None:
    """Create an archive unless it already exists. Safe to repeat."""
    with bound(archive_id=archive_id):
        settings = get_settings()
        make(get_engine(settings.database_address), settings, archive_id)


def make(engine: Engine, settings: Settings, archive_id: int) -> None:
    """Create, store and record an archive; if it cannot be recorded, it is deleted again."""
    with writing(engine) as session:
        user = claim_archive(session, archive_id, attempts=settings.attempts, now=_now())
    if user is None:
        return
    try:
        _make(engine, settings, archive_id, user)
    except StorageAway as error:
        with writing(engine) as session:
            release_archive(session, archive_id)
        log.warning("archive_put_off", error=str(error))


def _make(engine: Engine, settings: Settings, archive_id: int, user: User) -> None:
    chunks = archive_chunks(engine, storage_of(settings), user, _now(), number=archive_id)
    stored = store_upload(chunks, sealed_storage_of(settings), UNLIMITED_BYTES)
    with writing(engine) as session:
        is_wanted = record_archive(session, archive_id, stored, settings, _now())
    if not is_wanted:  # its account was deleted meanwhile, or another worker was faster
        remove_file(sealed_storage_of(settings), stored.sha256)
    log.info("archive_made", size_bytes=stored.size_bytes, is_wanted=is_wanted)


def _now() -> datetime:
    return datetime.now(UTC)
