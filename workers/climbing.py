"""Detects hill climbing in the sweep: counts the lines that each scored submission changed, and sends alerts."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import Engine
from sqlalchemy.exc import IntegrityError

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import StorageAway, StorageDamaged
from app.base.storage import local_file, storage_of
from app.models import LineChange
from app.submissions.climbing import Unmeasured, mail_organisers, unmeasured
from evergold.scoring.archives import Limits, begins_as_zip, read_members
from evergold.scoring.errors import InvalidPrediction

#: Maximum size of compared files; hill climbing with larger ones is unlikely.
MOST_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ChangedLines:
    """The size of a change.

    changed: number of lines that are only in the new file, or only in the old one, whichever is larger.
    of: number of lines in the new file.
    """

    changed: int
    of: int


def changed_lines(new: Path, old: Path) -> ChangedLines | None:
    """Return the number of lines changed from `old` to `new`; None if a file is binary, too large, or deleted."""
    here, before = _lines(new), _lines(old)
    if here is None or before is None:
        return None
    return ChangedLines(max((here - before).total(), (before - here).total()), here.total())


def _lines(path: Path) -> Counter[bytes] | None:
    try:
        if path.stat().st_size > MOST_BYTES:
            return None
        limits = Limits(total_bytes=MOST_BYTES)
        contents = list(read_members(path, limits).values()) if begins_as_zip(path) else [path.read_bytes()]
    except (OSError, InvalidPrediction):
        return None
    if any(b"\0" in content[:4096] for content in contents):
        return None  # binary data: lines mean nothing
    return Counter(line for content in contents for line in content.splitlines() if line.strip())


def watch_climbing(engine: Engine, now: datetime) -> int:
    """Count the changed lines of new submissions and alert organisers; return the number of alerts."""
    with reading(engine) as session:
        waiting = unmeasured(session, now)
    try:
        measured = [_measured(one) for one in waiting]  # files are read outside transactions
    except StorageAway:  # the next sweep measures them
        return 0
    if not measured:
        return 0
    try:
        with writing(engine) as session:
            session.add_all(measured)
            session.flush()
            return mail_organisers(session, [one.submission_id for one in measured], get_settings(), now)
    except IntegrityError:  # another sweep measured them at the same time
        return 0


def _measured(one: Unmeasured) -> LineChange:
    storage = storage_of(get_settings())
    change = None
    if one.previous_sha256 is not None:
        with suppress(FileNotFoundError, StorageDamaged):  # the files are gone or damaged: change unknown
            change = changed_lines(local_file(storage, one.sha256), local_file(storage, one.previous_sha256))
    return LineChange(
        submission_id=one.submission_id,
        previous_id=one.previous_id,
        changed=change.changed if change else None,
        of_lines=change.of if change else None,
    )
