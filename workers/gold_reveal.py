"""`evergold gold reveal`: prints a version's salt and writes its content; `--public` makes the version public gold.

Whether gold is public is part of the seal. Hidden gold can only become public where it can be opened and sealed again,
with the same content, salt and commitment; changing the database alone is not enough.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from sqlalchemy import Engine, delete, select
from sqlalchemy.orm import Session

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import EvergoldError, NotFound
from app.base.storage import UNLIMITED_BYTES, sealed_storage_of
from app.competitions.changed import boards_changed
from app.competitions.find import find_phase_task
from app.gold.recorded import record_sealed
from app.gold.sealing import Sealed, SealingWriter, forget_sealed
from app.gold.versions import list_gold
from app.models import GoldVersion, SealedFile, SealedKey
from app.people import audit
from app.runs.claims import SealedGold, sealed_gold
from app.standings.renew import renew_all
from workers.gold import open_sealed_gold
from workers.gold_errors import SealBroken
from workers.keys import key_file, own_recipients, read_keys


class GoldChanged(EvergoldError):
    """Somebody else resealed the version at the same time."""

    status = 409
    code = "gold_changed"


@dataclass(frozen=True, slots=True)
class Revealed:
    """A version and its salt."""

    version: GoldVersion
    salt: bytes


def reveal(engine: Engine, place: str, number: int | None, write: Path | None, now: datetime) -> Revealed:
    """Return the salt that verifies a version's commitment; with `write`, also write the content to a new file."""
    version, sealed = _find(engine, place, number)
    with open(os.devnull, "wb") if write is None else open(write, "xb", opener=_private) as content:
        salt = open_sealed_gold(sealed, content).salt
    with writing(engine) as session:
        audit.record(session, None, "gold.reveal", f"gold {place}", {"version": version.number}, now=now)
    return Revealed(version, salt)


def make_public(engine: Engine, place: str, number: int | None, now: datetime) -> None:
    """Reseal a version as public unless it already is. Raises SealBroken if its file has no binding."""
    version, sealed = _find(engine, place, number)
    with open(os.devnull, "wb") as nowhere:
        opened = open_sealed_gold(sealed, nowhere)
    if opened.binding is None:
        raise SealBroken(f"{place} was sealed by an older Evergold, for no certain place: put it again, with --public")
    if opened.binding.is_public:
        _show_all_scores(engine, version)
        return
    binding = replace(opened.binding, versions={sealed.place.phase: version.number}, is_public=True)
    storage = sealed_storage_of(get_settings())
    with reading(engine) as session:
        own = own_recipients(session, read_keys(key_file()))
    writer = SealingWriter(storage, UNLIMITED_BYTES, what=binding, recipients=own, salt=opened.salt)
    try:
        open_sealed_gold(sealed, writer)
        writer.finish()
    finally:
        writer.discard()
    try:
        with writing(engine) as session:
            _exchange(session, version, writer.sealed, place, now)
    except BaseException:
        forget_sealed(writer.sealed, storage)
        raise
    _show_all_scores(engine, version)


def _show_all_scores(engine: Engine, version: GoldVersion) -> None:
    """Renew the boards, which now compare by all digits: public gold does not require coarse scores."""
    with writing(engine) as session:
        boards_changed(session, [version.phase_task_id])
        session.get_one(GoldVersion, version.id).is_public = True
        session.flush()
        renew_all(session, [version.phase_task_id], only_outdated=True)


def _exchange(session: Session, version: GoldVersion, sealed: Sealed, place: str, now: datetime) -> None:
    """Replace the sealed file by the new one; delete the old one unless another phase uses it."""
    current = session.get_one(GoldVersion, version.id, with_for_update=True)
    if current.sealed_file_id != version.sealed_file_id or current.commitment != sealed.commitment:
        raise GoldChanged(f"{place}, version {version.number}, was changed at this moment; please try again.")
    current.sealed_file_id = record_sealed(session, sealed, now)
    session.flush()
    used = select(GoldVersion.id).where(GoldVersion.sealed_file_id == version.sealed_file_id).limit(1)
    if session.scalar(used) is None:
        session.execute(delete(SealedKey).where(SealedKey.sealed_file_id == version.sealed_file_id))
        session.execute(delete(SealedFile).where(SealedFile.id == version.sealed_file_id))
    audit.record(session, None, "gold.make_public", f"gold {place}", {"version": version.number}, now=now)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _find(engine: Engine, place: str, number: int | None) -> tuple[GoldVersion, SealedGold]:
    parts = place.split("/")
    if len(parts) != 3:
        raise NotFound(f"'{place}' is not COMPETITION/PHASE/TASK.")
    with reading(engine) as session:
        versions = list_gold(session, find_phase_task(session, *parts))
        published = [one for one in versions if one.published_at is not None] or versions
        wanted = published[-1:] if number is None else [one for one in versions if one.number == number]
        if not wanted:
            raise NotFound(f"There is no sealed gold {place}{'' if number is None else f', version {number}'}.")
        return wanted[0], sealed_gold(session, wanted[0].id)
