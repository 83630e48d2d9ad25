"""The storages of a process according to its settings, each created once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from app.base.config import MEBIBYTE, InvalidSettings, Settings, read_settings
from app.base.stores.cache import Cache
from app.base.stores.folder import FolderStorage
from app.base.stores.interface import Kept, Storage, StoredFile
from app.base.stores.keeper import SOCKET_VARIABLE, KeeperStorage
from app.base.stores.s3_settings import S3Settings


class MovingStorage:
    """The new storage during a move, with the old one as a fallback."""

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
        """Yield all files of both storages, each only once."""
        yield from self.new.listed(prefix)
        yield from (kept for kept in self.old.listed(prefix) if self.new.find(kept.name) is None)

    def renew(self, name: str) -> bool:
        """Renew the file only in the new storage; a file that is only in the old one is then stored again in the new
        one.
        """
        return self.new.renew(name)

    def rename(self, name: str, to: str) -> Kept | None:
        return self.new.rename(name, to) or self.old.rename(name, to)

    def remove(self, name: str) -> None:
        self.new.remove(name)
        self.old.remove(name)

    def address(self, name: str, filename: str) -> str | None:
        return self.new.address(name, filename) if self.new.find(name) else None


Kind = Literal["storage", "sealed"]
#: Timeout for health pages that check the store.
_ASKED_SECONDS = 2.0


def storage_of(settings: Settings) -> Storage:
    """Return the storage of uploads and public files."""
    return _present(settings, "storage", settings.storage_dir)


def sealed_storage_of(settings: Settings) -> Storage:
    """Return the storage of files that only workers can open."""
    return _present(settings, "sealed", settings.sealed_dir)


def both_of(settings: Settings, place: str) -> dict[Kind, Storage]:
    """Return both kinds of storage at one of the places in the settings, in use or not."""
    folders: dict[Kind, Path] = {"storage": settings.storage_dir, "sealed": settings.sealed_dir}
    return {kind: _made(place, kind, folder, settings.cache_dir) for kind, folder in folders.items()}


def _present(settings: Settings, kind: Kind, folder: Path) -> Storage:
    new = _made(settings.storage, kind, folder, settings.cache_dir)
    if not settings.storage_before:
        return new
    return MovingStorage(new, _made(settings.storage_before, kind, folder, settings.cache_dir))


def _made(place: str, kind: Kind, folder: Path, cache_dir: Path) -> Storage:
    return FolderStorage(folder) if place == "folder" else _in_bucket(kind, cache_dir)


@lru_cache(maxsize=2)
def _in_bucket(kind: Kind, cache_dir: Path) -> Storage:
    """Return the bucket storage, through a keeper if there is one. Only this function needs its large import."""
    if keeper := os.environ.get(SOCKET_VARIABLE):
        cache = Cache(cache_dir / kind, S3Settings().cache_mebibytes * MEBIBYTE)
        cache.folder.mkdir(parents=True, exist_ok=True)
        return KeeperStorage(keeper, kind, cache)
    from app.base.stores.bucket import Bucket, BucketStorage, Signer

    settings = s3_settings()
    cache = Cache(cache_dir / kind, settings.cache_mebibytes * MEBIBYTE)
    cache.folder.mkdir(parents=True, exist_ok=True)
    prefix = f"{settings.prefix.strip('/')}/{kind}/".lstrip("/")
    signer = Signer(settings) if settings.public_endpoint and kind == "storage" else None
    return BucketStorage(Bucket(settings), prefix, cache, signer)


def bucket_answers() -> bool:
    """Return whether the bucket can be reached now, with a single request and a short timeout."""
    from app.base.errors import StorageAway
    from app.base.stores.bucket import Bucket

    try:
        Bucket(s3_settings().model_copy(update={"timeout_seconds": _ASKED_SECONDS, "tries": 1})).find("anything")
    except StorageAway:
        return False
    return True


def is_bucket_in_use(settings: Settings) -> bool:
    """Return whether files are in a bucket, or were before a move."""
    return "s3" in (settings.storage, settings.storage_before)


def check_bucket_settings() -> None:
    """Raise InvalidSettings if a bucket cannot be used, without connecting to it."""
    s3_settings()
    if find_spec("obstore") is None:
        raise InvalidSettings("Storing files in a bucket needs another package: pip install 'evergold-server[s3]'.")


def s3_settings() -> S3Settings:
    """Return the settings of the bucket. Raises InvalidSettings if they are incomplete."""
    settings = read_settings(S3Settings)
    if not settings.bucket:
        raise InvalidSettings("Invalid settings: EVERGOLD_STORAGE is s3, but EVERGOLD_S3_BUCKET is empty.")
    if bool(settings.access_key_id.get_secret_value()) != bool(settings.secret_access_key.get_secret_value()):
        raise InvalidSettings("Invalid settings: set both EVERGOLD_S3_…_KEY… or neither.")
    if settings.public_endpoint and not settings.access_key_id.get_secret_value():
        raise InvalidSettings(
            "Invalid settings: EVERGOLD_S3_PUBLIC_ENDPOINT: addresses are signed with EVERGOLD_S3_…_KEY…."
        )
    return settings
