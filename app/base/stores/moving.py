"""Two storages while a server moves from one to the other: files are stored in the new one and read from both.

`evergold storage move` copies the remaining ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.base.stores.interface import Storage
from app.base.stores.names import Kept, StoredFile


class MovingStorage:
    """The new storage, with the old one as a fallback."""

    def __init__(self, new: Storage, old: Storage) -> None:
        self.new = new
        self.old = old

    @property
    def folder(self) -> Path:
        return self.new.folder

    @property
    def rename_keeps_age(self) -> bool:
        return self.new.rename_keeps_age

    def keep(self, file: Path, name: str, stored: StoredFile) -> None:
        self.new.keep(file, name, stored)

    def path(self, name: str, sha256: str) -> Path:
        try:
            return self.new.path(name, sha256)
        except FileNotFoundError:
            return self.old.path(name, sha256)

    @contextmanager
    def lent(self, name: str, sha256: str) -> Iterator[Path]:
        storage = self.new if self.new.find(name) else self.old
        with storage.lent(name, sha256) as path:
            yield path

    def find(self, name: str) -> Kept | None:
        return self.new.find(name) or self.old.find(name)

    def listed(self, prefix: str = "") -> Iterator[Kept]:
        """Yield files that are in both only once."""
        yield from self.new.listed(prefix)
        yield from (kept for kept in self.old.listed(prefix) if self.new.find(kept.name) is None)

    def renew(self, name: str) -> bool:
        """Renew only in the new storage: what is only in the old one is stored again in the new one."""
        return self.new.renew(name)

    def rename(self, name: str, to: str) -> Kept | None:
        return self.new.rename(name, to) or self.old.rename(name, to)

    def remove(self, name: str) -> None:
        self.new.remove(name)
        self.old.remove(name)

    def address(self, name: str, filename: str) -> str | None:
        return self.new.address(name, filename) if self.new.find(name) else None
