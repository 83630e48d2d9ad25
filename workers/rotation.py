"""Rotation: what is sealed becomes sealed to the newest key alone, and the older keys are retired.

Only the sealed keys of files change, in one transaction; no content is decrypted, and no file is written anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from nacl.public import SealedBox
from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from app.models import SealedFile, SealedKey, WorkerKey
from workers.keys import Keys, NoKeyForIt, announce, open_file_key, read_keys, write_keys

BATCH = 500


@dataclass(frozen=True, slots=True)
class Rotated:
    """newest: the key that opens everything now; files: how many were sealed anew; retired: keys out of use now."""

    newest: str
    files: int
    retired: list[str]


def rotate(session: Session, path: Path, now: datetime) -> Rotated:
    """Seal the key of every file to the newest key of this key file alone; the caller commits, then tidies the file.

    Raises NoKeyForIt, and changes nothing, when there is no key in use here, or a file that no key here opens.
    """
    keys = read_keys(path)
    announce(session, keys, now)
    # Nobody records a sealed file while these rows are locked, see `app.gold.recorded.record_sealed`.
    in_use = list(
        session.scalars(
            select(WorkerKey).where(WorkerKey.retired_at.is_(None)).order_by(WorkerKey.id).with_for_update()
        )
    )
    newest = _newest(in_use, keys)
    retired = [key.key_id for key in in_use if key is not newest]
    for key in in_use:
        if key is not newest:
            key.retired_at = now
    session.flush()
    return Rotated(newest.key_id, _seal_all_to(session, newest, keys), retired)


def tidy(path: Path, newest: str) -> Path | None:
    """Leave only the newest key in the file; the others go to a file beside it, whose path is returned.

    They open nothing on this server any more, but they open the backups that were made before.
    """
    keys = read_keys(path)
    if set(keys) == {newest}:
        return None
    old = path.with_name(f"{path.name}.retired")
    write_keys(old, {**read_keys(old), **{key_id: key for key_id, key in keys.items() if key_id != newest}})
    write_keys(path, {newest: keys[newest]})
    return old


def _newest(in_use: list[WorkerKey], keys: Keys) -> WorkerKey:
    """The last one of the key file that is in use."""
    by_id = {key.key_id: key for key in in_use}
    ours = [by_id[key_id] for key_id in keys if key_id in by_id]
    if not ours:
        raise NoKeyForIt("none of the keys in use is in this worker's key file")
    return ours[-1]


def _seal_all_to(session: Session, newest: WorkerKey, keys: Keys) -> int:
    """How many files were sealed to this key, or are no longer sealed to others."""
    box, last, changed = SealedBox(keys[newest.key_id].public_key), 0, 0
    while files := _next_files(session, last):
        for file_id, (name, sealed_keys) in files.items():
            if set(sealed_keys) == {newest.key_id}:
                continue
            file_key = _opened(name, sealed_keys, keys)
            session.execute(delete(SealedKey).where(SealedKey.sealed_file_id == file_id))
            row = {"sealed_file_id": file_id, "key_id": newest.key_id, "sealed_key": box.encrypt(file_key)}
            session.execute(insert(SealedKey).values(**row))
            changed += 1
        last = max(files)
    return changed


def _next_files(session: Session, last: int) -> dict[int, tuple[str, dict[str, bytes]]]:
    """By id, after this one: what a file is called in messages, and its key as it is sealed now."""
    found = session.execute(
        select(SealedFile.id, SealedFile.sha256, SealedFile.kind)
        .where(SealedFile.id > last)
        .order_by(SealedFile.id)
        .limit(BATCH)
    )
    files: dict[int, tuple[str, dict[str, bytes]]] = {
        file_id: (f"the sealed file {sha256[:12]}… ({kind})", {}) for file_id, sha256, kind in found
    }
    sealed = select(SealedKey.sealed_file_id, SealedKey.key_id, SealedKey.sealed_key)
    for file_id, key_id, sealed_key in session.execute(sealed.where(SealedKey.sealed_file_id.in_(files))):
        files[file_id][1][key_id] = sealed_key
    return files


def _opened(name: str, sealed_keys: dict[str, bytes], keys: Keys) -> bytes:
    try:
        return open_file_key(sealed_keys, keys)
    except NoKeyForIt as error:
        raise NoKeyForIt(f"{name} does not open: {error}") from None
