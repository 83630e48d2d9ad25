"""Stores sealed files and the workers' public keys in the database."""

from __future__ import annotations

from datetime import datetime
from typing import cast

from sqlalchemy import LargeBinary, Table, Text, bindparam, delete, func, insert, select, true
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Session

from app.base.errors import EvergoldError
from app.gold.sealing import Sealed, key_id_of
from app.models import SealedFile, SealedKey, SealedKind, WorkerKey


class KeysChanged(EvergoldError):
    """The workers' keys were rotated between sealing and recording."""

    status = 409
    code = "keys_changed"


_KEYS_CHANGED = "The workers' keys have just changed. Please upload the gold again."


def current_keys(session: Session, *, lock: bool = False) -> dict[str, bytes]:
    """Return the public keys in use, by id. lock: block rotations until this transaction ends."""
    found = session.execute(_KEYS_IN_USE.with_for_update(read=True) if lock else _KEYS_IN_USE)
    return {key_id: public for key_id, public in found}


#: Built once, since every run needs it.
_KEYS_IN_USE = (
    select(WorkerKey.key_id, WorkerKey.public_key).where(WorkerKey.retired_at.is_(None)).order_by(WorkerKey.id)
)


def recipients(session: Session, named: str = "") -> dict[str, bytes]:
    """Return the public keys to seal gold to, by id, without rows whose id does not match their key.

    named: comma-separated ids from `Settings.sealing_keys`, which exclude all others; "": all keys in use.
    """
    wanted = {key_id.strip() for key_id in named.split(",") if key_id.strip()}
    keys = {key_id: public for key_id, public in current_keys(session).items() if key_id_of(public) == key_id}
    return {key_id: public for key_id, public in keys.items() if not wanted or key_id in wanted}


def record_sealed(session: Session, sealed: Sealed, now: datetime) -> int:
    """Record a sealed file with its keys; return its id. Raises KeysChanged if these are no longer in use.

    For gold, one key in use is enough, since a rotation reseals files that any of its keys opens. Outcomes need all
    keys in use, because they can be resealed immediately. After KeysChanged, the caller must roll back.
    """
    if sealed.kind is SealedKind.GOLD:
        _check_any_in_use(session, sealed)
    row = {"kind": sealed.kind, "sha256": sealed.file.sha256, "size_bytes": sealed.file.size_bytes, "sealed_at": now}
    connection = session.connection()
    if sealed.kind is SealedKind.OUTCOMES and connection.dialect.name == "postgresql":
        values = {**row, "of_keys": list(sealed.keys), "seals": list(sealed.keys.values())}
        file_id, written = connection.execute(_NEW_OUTCOMES, values).one()
    else:
        file_id = connection.execute(_NEW_FILE, row).scalar_one()
        keys = [{"of_file": file_id, "of_key": key_id, "sealed": key} for key_id, key in sealed.keys.items()]
        into = _NEW_KEYS if sealed.kind is SealedKind.GOLD else _NEW_KEYS_IN_USE
        written = connection.execute(into, keys).rowcount
    if sealed.kind is SealedKind.OUTCOMES and written != len(sealed.keys):
        raise KeysChanged(_KEYS_CHANGED)
    return int(file_id)


def _check_any_in_use(session: Session, sealed: Sealed) -> None:
    if not sealed.keys.keys() & current_keys(session, lock=True).keys():
        raise KeysChanged(_KEYS_CHANGED)


def unrecord_sealed(session: Session, file_id: int) -> None:
    """Undo `record_sealed` within the same transaction."""
    session.execute(delete(SealedKey).where(SealedKey.sealed_file_id == file_id))
    session.execute(delete(SealedFile).where(SealedFile.id == file_id))


_FILES = cast(Table, SealedFile.__table__)
_NEW_FILE = insert(_FILES).returning(_FILES.c.id)
_KEYS = cast(Table, SealedKey.__table__)
_NEW_KEYS = insert(_KEYS).values(
    sealed_file_id=bindparam("of_file"), key_id=bindparam("of_key"), sealed_key=bindparam("sealed")
)
#: Selects, locks and inserts in one statement, since every run needs it: a rotation waits, or nothing is inserted.
_NEW_KEYS_IN_USE = (
    insert(_KEYS)
    .from_select(
        ["sealed_file_id", "key_id", "sealed_key"],
        select(
            bindparam("of_file", type_=_KEYS.c.sealed_file_id.type),
            WorkerKey.key_id,
            bindparam("sealed", type_=_KEYS.c.sealed_key.type),
        )
        .where(WorkerKey.key_id == bindparam("of_key"), WorkerKey.retired_at.is_(None))
        .with_for_update(read=True),
    )
    .execution_options(preserve_rowcount=True)
)
#: On PostgreSQL, one statement inserts the file and its keys, and returns the file's id and the number of keys in use.
_COLUMNS = ("kind", "sha256", "size_bytes", "sealed_at")
_INSERTED = insert(_FILES).values({name: bindparam(name, type_=_FILES.c[name].type) for name in _COLUMNS})
_FILE = _INSERTED.returning(_FILES.c.id).cte("file")
_TEXTS, _SEALS = bindparam("of_keys", type_=ARRAY(Text)), bindparam("seals", type_=ARRAY(LargeBinary))
_SEAL = func.unnest(_TEXTS, _SEALS).table_valued("key_id", "sealed", name="seal").render_derived()
_IN_USE = (
    select(_FILE.c.id, WorkerKey.key_id, _SEAL.c.sealed)
    .select_from(WorkerKey)
    .join(_SEAL, _SEAL.c.key_id == WorkerKey.key_id)
    .join(_FILE, true())
    .where(WorkerKey.retired_at.is_(None))
    .with_for_update(read=True, of=WorkerKey)
)
_INTO = insert(_KEYS).from_select(["sealed_file_id", "key_id", "sealed_key"], _IN_USE).returning(_KEYS.c.id)
_WRITTEN = select(func.count()).select_from(_INTO.cte("keys")).scalar_subquery()
_NEW_OUTCOMES = select(_FILE.c.id, _WRITTEN)
