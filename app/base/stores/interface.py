"""The interface of storage that the rest of the server uses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from uuid import UUID

#: Unreferenced files stay below it for a week (`app.operations.unowned`).
ASIDE = "unowned"
CHECKS = "checks"
#: Partial uploads, always on the local disk.
INCOMING = "incoming"


@dataclass(frozen=True, slots=True)
class StoredFile:
    sha256: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Kept:
    """A file in a storage's list. kept_at: when it was last stored, as a POSIX timestamp."""

    name: str
    size_bytes: int
    kept_at: float


def is_sha256(text: str) -> bool:
    return len(text) == 64 and set(text) <= set("0123456789abcdef")


def stored_name(sha256: str) -> str:
    """Return the name of the file with this sha256 in storage."""
    if not is_sha256(sha256):
        raise ValueError(f"not a sha256: {sha256!r}")
    return f"{sha256[:2]}/{sha256}"


def digest_of(name: str) -> str | None:
    """Return the sha256 in this name; None for names of other kinds."""
    folder, _, digest = name.partition("/")
    return digest if is_sha256(digest) and folder == digest[:2] else None


def check_name(validation_id: UUID) -> str:
    """Return the name of a file to validate, which is stored separately until its check has ended."""
    return f"{CHECKS}/{validation_id}"


def aside_digest(name: str) -> str | None:
    """Return the sha256 in the name of a file set aside; None for names of other kinds."""
    folder, _, rest = name.partition("/")
    digest, _, since = rest.partition(".")
    return digest if folder == ASIDE and since.count(".") == 1 and is_sha256(digest) else None


def aside_name(digest: str, now: float, mark: str) -> str:
    """Return the name for a file set aside now. mark: distinguishes files of the same second."""
    return f"{ASIDE}/{digest}.{int(now)}.{mark}"


class Storage(Protocol):
    """Files by name (`app.base.stores.interface`), stored atomically and never changed.

    Operations that need another machine raise StorageAway if it does not respond.
    """

    @property
    def folder(self) -> Path:
        """The local folder of the files or of cached copies, and of partial uploads."""
        ...

    @property
    def rename_keeps_age(self) -> bool:
        """True if a renamed file keeps its age."""
        ...

    def keep(self, file: Path, name: str, stored: StoredFile) -> None:
        """Take a finished file from the local disk; on return it is stored durably."""
        ...

    def path(self, name: str, sha256: str) -> Path:
        """Return a local path from which the file can be read. Raises FileNotFoundError, StorageDamaged."""
        ...

    def lent(self, name: str, sha256: str) -> AbstractContextManager[Path]:
        """Provide a local path only during the block, without caching, to read thousands of files once."""
        ...

    def find(self, name: str) -> Kept | None:
        """Return the metadata of a file without reading it; None if there is none."""
        ...

    def listed(self, prefix: str = "") -> Iterator[Kept]:
        """Yield every file with this name prefix, except partial uploads."""
        ...

    def renew(self, name: str) -> bool:
        """Reset the age of a file to zero; return whether it exists."""
        ...

    def rename(self, name: str, to: str) -> Kept | None:
        """Rename a file; return its metadata with its previous age, or None if it does not exist."""
        ...

    def remove(self, name: str) -> None:
        """Delete a file; no error if it does not exist."""
        ...

    def address(self, name: str, filename: str) -> str | None:
        """Return a public download address, valid for minutes, with this `filename`; None if the server sends the file
        itself.
        """
        ...
