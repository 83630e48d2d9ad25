"""What a place for files can do; the rest of the server knows no more of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from app.base.stores.names import Kept, StoredFile


class Storage(Protocol):
    """Files under names (`app.base.stores.names`), whole or not at all, never changed afterwards.

    Whatever must ask another machine raises StorageAway while that does not answer.
    """

    @property
    def folder(self) -> Path:
        """On this machine's disk: where the files lie, or copies of some of them, and what is half-written."""
        ...

    @property
    def rename_keeps_age(self) -> bool:
        """Whether a file is as old as before when it has another name."""
        ...

    def keep(self, file: Path, name: str, stored: StoredFile) -> None:
        """Take a finished file from this machine's disk; it is there for good when this returns."""
        ...

    def path(self, name: str, sha256: str) -> Path:
        """Where it can be read now, on this machine's disk. Raises FileNotFoundError, StorageDamaged."""
        ...

    def lent(self, name: str, sha256: str) -> AbstractContextManager[Path]:
        """The same for this block alone, where thousands are read once: nothing is kept for later."""
        ...

    def find(self, name: str) -> Kept | None:
        """What is known of it without reading it; None where there is none."""
        ...

    def listed(self, prefix: str = "") -> Iterator[Kept]:
        """Every file whose name begins so; what is half-written is none."""
        ...

    def renew(self, name: str) -> bool:
        """Whether it is there; if so, its age begins anew, as if it had been stored now."""
        ...

    def rename(self, name: str, to: str) -> Kept | None:
        """What was renamed, with the age that it had; None where there was none."""
        ...

    def remove(self, name: str) -> None:
        """For good; also where there is none."""
        ...

    def address(self, name: str, filename: str) -> str | None:
        """Where anybody can fetch this file for the next minutes, as a download called `filename`; None: from us."""
        ...
