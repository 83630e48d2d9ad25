"""Stored files by their sha256, whatever the storage."""

from __future__ import annotations

import hashlib
from contextlib import AbstractContextManager
from pathlib import Path

from app.base.stores.interface import Storage
from app.base.stores.names import stored_name


def local_file(storage: Storage, sha256: str) -> Path:
    """Where it can be read now, on this machine's disk; raises FileNotFoundError, StorageAway, StorageDamaged."""
    return storage.path(stored_name(sha256), sha256)


def lent_file(storage: Storage, sha256: str) -> AbstractContextManager[Path]:
    """The same for a block alone: for who reads thousands once."""
    return storage.lent(stored_name(sha256), sha256)


def has_file(storage: Storage, sha256: str) -> bool:
    return storage.find(stored_name(sha256)) is not None


def keep_young(storage: Storage, sha256: str) -> bool:
    """Whether this is stored; if so, its age begins anew, as if it had been stored now (see
    `app.operations.unowned`)."""
    return storage.renew(stored_name(sha256))


def sha256_of(path: Path) -> str:
    """Of a file on this machine's disk, whatever it is called."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def remove_file(storage: Storage, sha256: str) -> None:
    """For good: where it is sure that nobody names it."""
    storage.remove(stored_name(sha256))
