"""Detection of hill climbing in the sweep: counts the lines that each scored submission changed and sends alerts."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

from sqlalchemy import Engine
from sqlalchemy.exc import IntegrityError

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import StorageAway, StorageDamaged
from app.base.storage import local_file, storage_of
from app.models import LineChange
from app.submissions.climbing import Unmeasured, mail_organisers, unmeasured
from workers.changed_lines import changed_lines


def watch_climbing(engine: Engine, now: datetime) -> int:
    """Measure new submissions and alert organisers; return the number of alerts."""
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
