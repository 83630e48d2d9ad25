"""A bucket as storage: files are fetched into a cache and used only if they match their sha256."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.base.errors import StorageDamaged
from app.base.logs import log
from app.base.permissions import make_folder
from app.base.stores.bucket import Bucket
from app.base.stores.cache import Cache
from app.base.stores.names import ASIDE, INCOMING, Kept, StoredFile, digest_of
from app.base.stores.presigned import Signer

#: Number of attempts to fetch a body that does not match its name, since it may have been damaged in transit.
FETCHES = 3


class BucketStorage:
    """Files of one kind below a prefix of a bucket."""

    rename_keeps_age = False

    def __init__(self, bucket: Bucket, prefix: str, cache: Cache, signer: Signer | None = None) -> None:
        """prefix: ends with a slash. signer: None if downloads go through the server."""
        self._bucket = bucket
        self._prefix = prefix
        self._cache = cache
        self._signer = signer

    @property
    def folder(self) -> Path:
        return self._cache.folder

    def keep(self, file: Path, name: str, stored: StoredFile) -> None:
        self._bucket.put(self._prefix + name, file, stored.size_bytes)
        self._cache.take(file, name, is_used=False)

    def path(self, name: str, sha256: str) -> Path:
        return self._cache.path(name) or self._cache.take(self._fetched(name, sha256), name)

    @contextmanager
    def lent(self, name: str, sha256: str) -> Iterator[Path]:
        file = self._fetched(name, sha256)
        try:
            yield file
        finally:
            file.unlink(missing_ok=True)

    def find(self, name: str) -> Kept | None:
        kept = self._bucket.find(self._prefix + name)
        return self._named(kept) if kept else None

    def listed(self, prefix: str = "") -> Iterator[Kept]:
        folder = prefix.rpartition("/")[0]
        for kept in self._bucket.listed(self._prefix + (f"{folder}/" if folder else "")):
            found = self._named(kept)
            if found.name.startswith(prefix):
                yield found

    def renew(self, name: str) -> bool:
        # An existing file needs no new age: if it is just being set aside, its reader moves it back (`_fetched`).
        return self.find(name) is not None

    def rename(self, name: str, to: str) -> Kept | None:
        kept = self.find(name)
        if kept is None or not self._bucket.copy(self._prefix + name, self._prefix + to):
            return None
        self._bucket.delete(self._prefix + name)
        self._cache.forget(name)
        return Kept(to, kept.size_bytes, kept.kept_at)

    def remove(self, name: str) -> None:
        self._bucket.delete(self._prefix + name)
        self._cache.forget(name)

    def address(self, name: str, filename: str) -> str | None:
        return self._signer.address(self._prefix + name, filename) if self._signer else None

    def _named(self, kept: Kept) -> Kept:
        return Kept(kept.name.removeprefix(self._prefix), kept.size_bytes, kept.kept_at)

    def _fetched(self, name: str, sha256: str) -> Path:
        """Fetch a verified copy under a temporary name. Raises FileNotFoundError, StorageAway, StorageDamaged."""
        for _ in range(FETCHES):
            try:
                file, digest = self._copied(name)
            except FileNotFoundError:
                if not self._taken_back(name):
                    raise FileNotFoundError(f"{self._prefix}{name} is not in bucket {self._bucket.name}") from None
                continue
            if digest == sha256:
                return file
            file.unlink()
            log.error("stored_file_damaged", key=self._prefix + name, sha256=digest)
        raise StorageDamaged(
            "The server's storage does not give this file as it was stored; please contact the organisers."
        )

    def _copied(self, name: str) -> tuple[Path, str]:
        """Copy the object as it is and return its sha256."""
        incoming, digest = self.folder / INCOMING, hashlib.sha256()
        make_folder(incoming, self.folder)
        with tempfile.NamedTemporaryFile(dir=incoming, delete=False) as copy:
            file = Path(copy.name)
            try:
                for piece in self._bucket.pieces(self._prefix + name):
                    digest.update(piece)
                    copy.write(piece)
            except BaseException:
                file.unlink()
                raise
        return file, digest.hexdigest()

    def _taken_back(self, name: str) -> bool:
        """Return whether the sweep had set the file aside while it was stored again; move it back if so.

        A bucket cannot move a file atomically and return its age, so readers who miss a file look there.
        """
        digest = digest_of(name)
        aside = [kept.name for kept in self.listed(f"{ASIDE}/{digest}.")] if digest else []
        return any(self.rename(one, name) for one in aside)
