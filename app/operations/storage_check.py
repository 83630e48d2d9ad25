"""Check that storage has every file that the database references, undamaged."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlalchemy import Engine, select

from app.base.config import Settings
from app.base.db import reading
from app.base.errors import StorageDamaged
from app.base.storage import Storage, digest_of, lent_file, sealed_storage_of, sha256_of, storage_of
from app.operations.unowned import naming_columns, still_names

_SEALED = "sealed_files"


@dataclass(slots=True)
class StorageCheck:
    """The result; unnamed: unreferenced files, which the sweep will delete."""

    files: int = 0
    unnamed: int = 0
    lost: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)

    @property
    def is_well(self) -> bool:
        return not self.lost and not self.damaged


def check_storage(engine: Engine, settings: Settings) -> StorageCheck:
    """Read every file once, bypassing caches. Raises StorageAway."""
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
    """Return the sha256 that rows reference now."""
    columns = [column for column in naming_columns() if (column.table.name == _SEALED) is is_sealed]
    with reading(engine) as session:
        return {
            digest
            for column in columns
            for digest in session.scalars(select(column).where(column.is_not(None), still_names(column)).distinct())
        }
