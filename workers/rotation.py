"""Key rotation: seals everything to the newest key only and retires the older keys.

Only the sealed keys of files change, in one transaction; no content is decrypted and no file is rewritten.
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
    """The result of a rotation.

    newest: the only key in use now.
    files: the number of files resealed.
    retired: the keys retired now.
    """

    newest: str
    files: int
    retired: list[str]


def rotate(session: Session, path: Path, now: datetime) -> Rotated:
    """Seal the key of every file to the newest key of this key file only. The caller commits, then calls `tidy`.

    Raises NoKeyForIt, without any change, if no key in use is here, or a file opens with none of the keys here.
    """
    keys = read_keys(path)
    announce(session, keys, now)
    # No sealed file can be recorded while these rows are locked, see `app.gold.recorded.record_sealed`.
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
    """Leave only the newest key in the file and move the others to a file next to it; return its path.

    They are still needed for backups made before, but for nothing on this server.
    """
    keys = read_keys(path)
    if set(keys) == {newest}:
        return None
    old = path.with_name(f"{path.name}.retired")
    write_keys(old, {**read_keys(old), **{key_id: key for key_id, key in keys.items() if key_id != newest}})
    write_keys(path, {newest: keys[newest]})
    return old


def _newest(in_use: list[WorkerKey], keys: Keys) -> WorkerKey:
    """Return the last key of the file that is in use."""
    by_id = {key.key_id: key for key in in_use}
    ours = [by_id[key_id] for key_id in keys if key_id in by_id]
    if not ours:
        raise NoKeyForIt("none of the keys in use is in this worker's key file")
    return ours[-1]


def _seal_all_to(session: Session, newest: WorkerKey, keys: Keys) -> int:
    """Seal all files to this key only; return the number of files changed."""
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
    """Return the next files by id: the name for messages and the sealed keys."""
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
