"""Every file from one storage to another while the server runs on both (`app.base.stores.moving`).

Each is read where it arrived, also what an interrupted move had copied. The old files stay; whoever runs the server
removes them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from app.base.config import Settings
from app.base.errors import StorageDamaged
from app.base.storage import (
    CHUNK_BYTES,
    UNLIMITED_BYTES,
    Kept,
    Storage,
    UploadWriter,
    aside_digest,
    digest_of,
    sha256_of,
)
from app.base.stores.places import both_of


@dataclass(slots=True)
class Moved:
    """How far it has come. seen: files that are in both places, whole; damaged: what could not be brought so."""

    seen: int = 0
    copied: int = 0
    damaged: list[str] = field(default_factory=list)


def move_storage(settings: Settings, tell: Callable[[Moved], None] = lambda moved: None) -> Moved:
    """From `storage_before` to `storage`; raises StorageAway, StorageFull, and can then be run again."""
    moved = Moved()
    old, new = both_of(settings, settings.storage_before), both_of(settings, settings.storage)
    for kind in old:
        for kept in old[kind].listed():
            _move(old[kind], new[kind], kept, moved)
            tell(moved)
    return moved


def _move(old: Storage, new: Storage, kept: Kept, moved: Moved) -> None:
    """What is set aside comes along; a file that is only checked is read where it is, and is gone in minutes."""
    sha256 = digest_of(kept.name) or aside_digest(kept.name)
    if sha256 is None:
        return
    try:
        if not _is_whole(new, kept.name, sha256):
            _copy(old, new, kept.name, sha256)
            moved.copied += 1
    except FileNotFoundError:  # it was taken away meanwhile
        return
    except StorageDamaged:
        moved.damaged.append(kept.name)
        return
    moved.seen += 1


def _copy(old: Storage, new: Storage, name: str, sha256: str) -> None:
    """Over whatever is there; raises StorageDamaged where the old file, or its copy, is not what it is called."""
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
        raise StorageDamaged(f"{name} did not arrive as it was")


def _is_whole(storage: Storage, name: str, sha256: str) -> bool:
    """Whether it is there, and what it is called: read, not believed."""
    if storage.find(name) is None:
        return False
    try:
        with storage.lent(name, sha256) as path:
            return sha256_of(path) == sha256
    except (FileNotFoundError, StorageDamaged):
        return False
