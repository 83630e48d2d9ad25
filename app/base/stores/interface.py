"""The interface of storage, on which the rest of the server relies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from app.base.stores.names import Kept, StoredFile


class Storage(Protocol):
    """Files by name (`app.base.stores.names`), stored atomically and never changed.

    Operations that need another machine raise StorageAway while it does not answer.
    """

    @property
    def folder(self) -> Path:
        """The local folder of the files, or of cached copies, and of partial uploads."""
        ...

    @property
    def rename_keeps_age(self) -> bool:
        """True if a renamed file keeps its age."""
        ...

    def keep(self, file: Path, name: str, stored: StoredFile) -> None:
        """Take a finished file from the local disk; it is stored durably on return."""
        ...

    def path(self, name: str, sha256: str) -> Path:
        """Return a local path to read it from. Raises FileNotFoundError, StorageDamaged."""
        ...

    def lent(self, name: str, sha256: str) -> AbstractContextManager[Path]:
        """Lend a local path for this block only, without caching, to read thousands of files once."""
        ...

    def find(self, name: str) -> Kept | None:
        """Return the metadata of a file without reading it; None if there is none."""
        ...

    def listed(self, prefix: str = "") -> Iterator[Kept]:
        """Yield every file with this name prefix, without partial uploads."""
        ...

    def renew(self, name: str) -> bool:
        """Reset the age of a file as if it had just been stored; return whether it exists."""
        ...

    def rename(self, name: str, to: str) -> Kept | None:
        """Rename a file; return its metadata with the age it had, or None if there was none."""
        ...

    def remove(self, name: str) -> None:
        """Delete a file; no error if it does not exist."""
        ...

    def address(self, name: str, filename: str) -> str | None:
        """Return a public download address, valid for minutes, with this `filename`; None: we serve the file."""
        ...
