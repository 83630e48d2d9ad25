"""Streaming writes: to a temporary name on the local disk, then to the storage as a whole.

Nothing is parsed here. Readers see a complete file or none, also after a power cut or on a full disk.
"""

from __future__ import annotations

import errno
import hashlib
import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from app.base.errors import EmptyUpload, StorageFull, UploadTooLarge
from app.base.permissions import make_folder
from app.base.stores.interface import Storage
from app.base.stores.names import INCOMING, StoredFile, stored_name
from app.base.text import readable_size

CHUNK_BYTES = 1024 * 1024
UNLIMITED_BYTES = 2**62
#: A partial upload untouched for this long was left by a dead process.
INTERRUPTED_SECONDS = 24 * 3600
_FULL = {errno.ENOSPC, errno.EDQUOT}


class UploadWriter:
    """Takes a file in pieces and stores it at `finish`; `discard` (also after an error) leaves nothing behind."""

    def __init__(self, storage: Storage, limit_bytes: int, *, name: str | None = None) -> None:
        """name: the name in storage, instead of the sha256."""
        self._storage = storage
        self._name = name
        self._limit_bytes = limit_bytes
        self._digest = hashlib.sha256()
        self._size_bytes = 0
        self._path: Path | None = None
        self._file: BinaryIO | None = None
        self._ended = False

    def write(self, chunk: bytes) -> None:
        """Append a chunk. Raises UploadTooLarge above the limit, StorageFull if the disk is full."""
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
        """Store the file. Raises EmptyUpload if nothing was written, StorageAway if it cannot be stored now."""
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
        """Discard everything; safe at any time, also after `finish`."""
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
    """Store a stream under its sha256; equal content is stored once."""
    writer = UploadWriter(storage, limit_bytes)
    try:
        for chunk in chunks:
            writer.write(chunk)
        return writer.finish()
    finally:
        writer.discard()


def store_file(path: Path, storage: Storage) -> StoredFile:
    """Store a copy of a local file, of any size."""
    with path.open("rb") as file:
        return store_upload(iter(lambda: file.read(CHUNK_BYTES), b""), storage, UNLIMITED_BYTES)


def clear_interrupted_uploads(folder: Path, now: float) -> int:
    """Delete partial uploads of killed processes; return how many. now: a POSIX timestamp."""
    removed = 0
    for path in (folder / INCOMING).glob("*"):
        with suppress(FileNotFoundError):  # another web process may do the same
            if path.stat().st_mtime < now - INTERRUPTED_SECONDS:
                path.unlink()
                removed += 1
    return removed
