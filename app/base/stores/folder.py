"""A folder on the local disk as storage: a file gets its name when it is complete and synced."""

from __future__ import annotations

import errno
import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from app.base.errors import EmptyUpload, StorageFull, UploadTooLarge
from app.base.permissions import make_folder, share_file
from app.base.stores.interface import INCOMING, Kept, Storage, StoredFile, stored_name
from app.base.text import readable_size


def local_file(storage: Storage, sha256: str) -> Path:
    """Return a local path from which the file can be read. Raises FileNotFoundError, StorageAway, StorageDamaged."""
    return storage.path(stored_name(sha256), sha256)


def lent_file(storage: Storage, sha256: str) -> AbstractContextManager[Path]:
    """Provide a local path only during the block, without caching, to read thousands of files once."""
    return storage.lent(stored_name(sha256), sha256)


def has_file(storage: Storage, sha256: str) -> bool:
    return storage.find(stored_name(sha256)) is not None


def keep_young(storage: Storage, sha256: str) -> bool:
    """Reset a file's age to zero (see `app.operations.unowned`); return whether it exists."""
    return storage.renew(stored_name(sha256))


def sha256_of(path: Path) -> str:
    """Return the sha256 of a local file, regardless of its name."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def remove_file(storage: Storage, sha256: str) -> None:
    """Delete a file that nothing references."""
    storage.remove(stored_name(sha256))


CHUNK_BYTES = 1024 * 1024
UNLIMITED_BYTES = 2**62
#: A partial upload untouched for this long was left by a dead process.
INTERRUPTED_SECONDS = 24 * 3600
_FULL = {errno.ENOSPC, errno.EDQUOT}


class UploadWriter:
    """Takes a file in chunks and stores it at `finish`; after `discard`, or an error, nothing is left."""

    def __init__(self, storage: Storage, limit_bytes: int, *, name: str | None = None) -> None:
        """Begin an upload into this storage. name: the name in storage, instead of the sha256."""
        self._storage = storage
        self._name = name
        self._limit_bytes = limit_bytes
        self._digest = hashlib.sha256()
        self._size_bytes = 0
        self._path: Path | None = None
        self._file: BinaryIO | None = None
        self._ended = False

    def write(self, chunk: bytes) -> None:
        """Append a chunk; return its length. Raises UploadTooLarge above the limit, StorageFull if the disk is full."""
        self._check_not_ended()
        self._size_bytes += len(chunk)
        if self._size_bytes > self._limit_bytes:
            self.discard()
            raise UploadTooLarge(
                f"The file is larger than the {readable_size(self._limit_bytes)} allowed here.",
                limit_bytes=self._limit_bytes,
            )
        self._digest.update(chunk)
        try:
            self._open().write(chunk)
        except OSError as error:
            self._give_up(error)

    def finish(self) -> StoredFile:
        """Store the file and return it. Raises EmptyUpload if nothing was written, StorageAway if it cannot be stored
        now.
        """
        self._check_not_ended()
        if self._size_bytes == 0:
            self.discard()
            raise EmptyUpload("The file is empty (0 bytes).")
        stored = StoredFile(self._digest.hexdigest(), self._size_bytes)
        try:
            self._storage.keep(self._closed(), self._name or stored_name(stored.sha256), stored)
        except OSError as error:
            self._give_up(error)
        self._path = None
        self._ended = True
        return stored

    def discard(self) -> None:
        """Discard everything; may be called at any time, even after `finish`."""
        self._ended = True
        if self._file is not None:
            with suppress(OSError):  # closing flushes and may fail on a full disk: the file is deleted anyway
                self._file.close()
            self._file = None
        if self._path is not None:
            self._path.unlink(missing_ok=True)
            self._path = None

    def _check_not_ended(self) -> None:
        # A discarded upload stays closed: later pieces must never be stored as the whole file.
        if self._ended:
            raise RuntimeError("this upload has ended")

    def _open(self) -> BinaryIO:
        if self._file is None:
            incoming = self._storage.folder / INCOMING
            make_folder(incoming, self._storage.folder)
            descriptor, name = tempfile.mkstemp(dir=incoming)
            self._path = Path(name)
            self._file = os.fdopen(descriptor, "wb")
        return self._file

    def _closed(self) -> Path:
        self._open().close()
        self._file = None
        if self._path is None:
            raise RuntimeError("nothing was written")
        return self._path

    def _give_up(self, error: OSError) -> None:
        self.discard()
        if error.errno in _FULL:
            raise StorageFull("The server's disk is full. Nothing was stored; please try again later.") from error
        raise error


def store_upload(chunks: Iterable[bytes], storage: Storage, limit_bytes: int) -> StoredFile:
    """Store a stream under its sha256 and return the file; equal content is stored once."""
    writer = UploadWriter(storage, limit_bytes)
    try:
        for chunk in chunks:
            writer.write(chunk)
        return writer.finish()
    finally:
        writer.discard()


def store_file(path: Path, storage: Storage) -> StoredFile:
    """Store a copy of a local file, of any size, and return it."""
    with path.open("rb") as file:
        return store_upload(iter(lambda: file.read(CHUNK_BYTES), b""), storage, UNLIMITED_BYTES)


def clear_interrupted_uploads(folder: Path, now: float) -> int:
    """Delete partial uploads of killed processes; return their number. now: a POSIX timestamp."""
    removed = 0
    for path in (folder / INCOMING).glob("*"):
        with suppress(FileNotFoundError):  # another web process may do the same
            # A folder there belongs to an import, see `app.base.private_folders`.
            if path.is_file() and path.stat().st_mtime < now - INTERRUPTED_SECONDS:
                path.unlink()
                removed += 1
    return removed


class FolderStorage:
    """All files in one folder; machines that share the folder share the storage."""

    rename_keeps_age = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, file: Path, name: str, stored: StoredFile) -> None:
        target = self.folder / name
        with file.open("rb") as content:
            share_file(content.fileno(), self.folder)
            os.fsync(content.fileno())
        if not target.parent.is_dir():
            make_folder(target.parent, self.folder)
            _sync(target.parent.parent)
        file.replace(target)
        _sync(target.parent)

    def path(self, name: str, sha256: str) -> Path:
        path = self.folder / name
        if not path.is_file():
            raise FileNotFoundError(f"{name} is not in {self.folder}")
        return path

    @contextmanager
    def lent(self, name: str, sha256: str) -> Iterator[Path]:
        yield self.path(name, sha256)

    def find(self, name: str) -> Kept | None:
        return _kept(self.folder / name, name)

    def listed(self, prefix: str = "") -> Iterator[Kept]:
        top = self.folder / prefix.rpartition("/")[0]
        for parent, folders, files in os.walk(top):
            folders.sort()
            if Path(parent) == self.folder and INCOMING in folders:
                folders.remove(INCOMING)
            names = (Path(parent, file).relative_to(self.folder).as_posix() for file in sorted(files))
            found = (_kept(self.folder / name, name) for name in names if name.startswith(prefix))
            yield from (kept for kept in found if kept is not None)

    def renew(self, name: str) -> bool:
        try:
            os.utime(self.folder / name)
        except OSError:  # not there, or another user's: storing it again is right in both cases
            return False
        return True

    def rename(self, name: str, to: str) -> Kept | None:
        target = self.folder / to
        make_folder(target.parent, self.folder)
        try:
            (self.folder / name).rename(target)
        except FileNotFoundError:
            return None
        # Only now it is certain which file was moved: an upload may have put a new one there since its age was read.
        return _kept(target, to)

    def remove(self, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)

    def address(self, name: str, filename: str) -> str | None:
        return None


def stored_path(folder: Path, sha256: str) -> Path:
    """Return the path of the file with this sha256 in the folder, whether or not it exists."""
    return folder / stored_name(sha256)


def _kept(path: Path, name: str) -> Kept | None:
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return Kept(name, found.st_size, found.st_mtime)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)  # the new name itself must survive a power cut
    finally:
        os.close(descriptor)
