"""Checks that every file referenced by the database is in storage and intact; moves all files to another storage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sqlalchemy import Engine, select

from app.base.config import Settings
from app.base.db import reading
from app.base.errors import StorageDamaged
from app.base.storage import (
    CHUNK_BYTES,
    UNLIMITED_BYTES,
    Kept,
    Storage,
    UploadWriter,
    aside_digest,
    digest_of,
    lent_file,
    sealed_storage_of,
    sha256_of,
    storage_of,
)
from app.base.stores.places import both_of
from app.operations.unowned import IN_SEALED, naming_columns, still_names


@dataclass(slots=True)
class Moved:
    """The progress. seen: number of intact files in both places; damaged: files that could not be copied intact."""

    seen: int = 0
    copied: int = 0
    damaged: list[str] = field(default_factory=list)


def move_storage(settings: Settings, tell: Callable[[Moved], None] = lambda moved: None) -> Moved:
    """Move all files from `storage_before` to `storage`; return the result. Raises StorageAway, StorageFull; may be
    called more than once.
    """
    moved = Moved()
    old, new = both_of(settings, settings.storage_before), both_of(settings, settings.storage)
    for kind in old:
        for kept in old[kind].listed():
            _move(old[kind], new[kind], kept, moved)
            tell(moved)
    return moved


def _move(old: Storage, new: Storage, kept: Kept, moved: Moved) -> None:
    """Move stored files and files set aside; files to validate are left, and deleted within minutes."""
    sha256 = digest_of(kept.name) or aside_digest(kept.name)
    if sha256 is None:
        return
    try:
        if not _is_whole(new, kept.name, sha256):
            _copy(old, new, kept.name, sha256)
            moved.copied += 1
    except FileNotFoundError:  # it was deleted in the meantime
        return
    except StorageDamaged:
        moved.damaged.append(kept.name)
        return
    moved.seen += 1


def _copy(old: Storage, new: Storage, name: str, sha256: str) -> None:
    """Copy a file over any target. Raises StorageDamaged if the old file, or its copy, does not match its name."""
    with old.lent(name, sha256) as path, path.open("rb") as file:
        if sha256_of(path) != sha256:
            raise StorageDamaged(f"{name} is damaged")
        new.remove(name)
        writer = UploadWriter(new, UNLIMITED_BYTES, name=name)
        try:
            while chunk := file.read(CHUNK_BYTES):
                writer.write(chunk)
            writer.finish()
        finally:
            writer.discard()
    if not _is_whole(new, name, sha256):
        raise StorageDamaged(f"Checksum mismatch after copying {name}")


def _is_whole(storage: Storage, name: str, sha256: str) -> bool:
    """Return whether the file exists and its content matches its name."""
    if storage.find(name) is None:
        return False
    try:
        with storage.lent(name, sha256) as path:
            return sha256_of(path) == sha256
    except (FileNotFoundError, StorageDamaged):
        return False


@dataclass(slots=True)
class StorageCheck:
    """The result of the check. unnamed: unreferenced files, which the sweep will delete."""

    files: int = 0
    unnamed: int = 0
    lost: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)

    @property
    def is_well(self) -> bool:
        return not self.lost and not self.damaged


def check_storage(engine: Engine, settings: Settings) -> StorageCheck:
    """Read every file once, bypassing caches, and return the result. Raises StorageAway."""
    found = StorageCheck()
    for kind, storage in (("storage", storage_of(settings)), ("sealed", sealed_storage_of(settings))):
        named = _named(engine, is_sealed=kind == "sealed")
        for sha256 in sorted(named):
            _check(storage, kind, sha256, found)
        found.unnamed += sum(digest is not None and digest not in named for digest in _digests(storage))
    return found


def _check(storage: Storage, kind: str, sha256: str, found: StorageCheck) -> None:
    found.files += 1
    try:
        with lent_file(storage, sha256) as path:
            is_whole = sha256_of(path) == sha256
    except FileNotFoundError:
        found.lost.append(f"{kind}/{sha256}")
        return
    except StorageDamaged:
        is_whole = False
    if not is_whole:
        found.damaged.append(f"{kind}/{sha256}")


def _digests(storage: Storage) -> list[str | None]:
    return [digest_of(kept.name) for kept in storage.listed()]


def _named(engine: Engine, *, is_sealed: bool) -> set[str]:
    """Return the sha256 of all files that rows reference now."""
    columns = [column for column in naming_columns() if (column.table.name in IN_SEALED) is is_sealed]
    with reading(engine) as session:
        return {
            digest
            for column in columns
            for digest in session.scalars(select(column).where(column.is_not(None), still_names(column)).distinct())
        }
