"""Health in one view: the parts checked by `/readyz`, with backups, disk space, failed mails and failed runs."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from app.administration.storage import space_of
from app.base.config import Settings
from app.base.db import reading
from app.base.text import readable_size
from app.operations.certificate import certificate_part
from app.operations.database_revision import NEWEST_REVISION
from app.operations.health import BACKUP, PartOut, last_beat, parts
from app.people.mail import given_up
from app.runs.failures import failed_runs
from app.runs.holds import list_holds
from evergold.moments import moment_words
from evergold.version import VERSION

#: An older backup is reported as unhealthy.
BACKUP_AGE = timedelta(days=8)
#: A file system with less than this share of free space is unhealthy.
LEAST_FREE = 0.05


def health_now(engine: Engine, settings: Settings, now: datetime) -> list[PartOut]:
    """Return the health of all parts of the server; `evergold check-host` checks the machine."""
    found = [_part("version", True, f"is {VERSION}, tables {NEWEST_REVISION}"), *parts(engine, settings, now)]
    try:
        with reading(engine) as session:
            found += [*_space(settings), _backup(session, now), *certificate_part(session, settings, now)]
            found += [_mails(session), *_runs(session)]
    except SQLAlchemyError:  # the first part says so
        return found
    return found


def _part(name: str, is_well: bool, says: str) -> PartOut:
    return PartOut(name=name, is_well=is_well, says=says)


def _space(settings: Settings) -> list[PartOut]:
    return [
        _part(
            f"space for {one.folder}",
            one.free_bytes >= LEAST_FREE * one.total_bytes,
            f"has {readable_size(one.free_bytes)} of {readable_size(one.total_bytes)} free",
        )
        for one in space_of(settings)
    ]


def _backup(session: Session, now: datetime) -> PartOut:
    last = last_beat(session, BACKUP)
    if last is None:
        return _part("backup", False, "was never made")
    return _part("backup", now - last <= BACKUP_AGE, f"was made {moment_words(last)}")


def _mails(session: Session) -> PartOut:
    failed = len(given_up(session))
    return _part("mail", not failed, f"has {failed} that could not be delivered" if failed else "has none that failed")


def _runs(session: Session) -> list[PartOut]:
    failed, holds = len(failed_runs(session)), len(list_holds(session))
    runs = f"has {failed} failed run{'s' if failed > 1 else ''}" if failed else "has no failed runs"
    pauses = f"hold scoring at {holds} place{'s' if holds > 1 else ''}"
    return [_part("scoring", not failed, runs), *([_part("pauses", True, pauses)] if holds else [])]
