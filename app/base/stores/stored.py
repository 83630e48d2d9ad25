"""Stored files by their sha256, in any storage."""

from __future__ import annotations

import hashlib
from contextlib import AbstractContextManager
from pathlib import Path

from app.base.stores.interface import Storage
from app.base.stores.names import stored_name


def local_file(storage: Storage, sha256: str) -> Path:
    """Return a local path to read the file from. Raises FileNotFoundError, StorageAway, StorageDamaged."""
    return storage.path(stored_name(sha256), sha256)


def lent_file(storage: Storage, sha256: str) -> AbstractContextManager[Path]:
    """Lend a local path for this block only, to read thousands of files once."""
    return storage.lent(stored_name(sha256), sha256)


def has_file(storage: Storage, sha256: str) -> bool:
    return storage.find(stored_name(sha256)) is not None


def keep_young(storage: Storage, sha256: str) -> bool:
    """Reset a file's age as if just stored (see `app.operations.unowned`); return whether it exists."""
    return storage.renew(stored_name(sha256))


def sha256_of(path: Path) -> str:
    """Return the sha256 of a local file, regardless of its name."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def remove_file(storage: Storage, sha256: str) -> None:
    """Delete a file that certainly nothing references."""
    storage.remove(stored_name(sha256))
