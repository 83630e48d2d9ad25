"""Where files lie: named by their sha256, written to a temporary name, synced, then renamed; never changed afterwards.

Nothing is parsed here. A reader sees a whole file or none, also after a power cut or on a full disk.
"""

from __future__ import annotations

import errno
import hashlib
import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from uuid import UUID

from app.base.errors import EmptyUpload, StorageFull, UploadTooLarge
from app.base.permissions import make_folder, share_file

CHUNK_BYTES = 1024 * 1024
#: A half-written upload that nobody touched for so long belongs to a process that is gone.
INTERRUPTED_SECONDS = 24 * 3600
_FULL = {errno.ENOSPC, errno.EDQUOT}


@dataclass(frozen=True, slots=True)
class StoredFile:
    sha256: str
    size_bytes: int


class UploadWriter:
    """Takes a file piece by piece and stores it at `finish`; `discard` (also after an error) leaves nothing behind."""

    def __init__(self, folder: Path, limit_bytes: int, *, target: Path | None = None) -> None:
        """target: where it is to lie, instead of under its sha256."""
        self._folder = folder
        self._target = target
        self._limit_bytes = limit_bytes
        self._digest = hashlib.sha256()
        self._size_bytes = 0
        self._path: Path | None = None
        self._file: BinaryIO | None = None
        self._ended = False

    def write(self, chunk: bytes) -> None:
        """Append; raises UploadTooLarge as soon as the limit is passed, StorageFull when the disk is."""
        self._check_not_ended()
        self._size_bytes += len(chunk)
        if self._size_bytes > self._limit_bytes:
            self.discard()
            raise UploadTooLarge(
                f"The file is larger than the {_readable(self._limit_bytes)} allowed here.",
                limit_bytes=self._limit_bytes,
            )
        self._digest.update(chunk)
        try:
            self._open().write(chunk)
        except OSError as error:
            self._give_up(error)

    def finish(self) -> StoredFile:
        """Store what was written; raises EmptyUpload if that was nothing."""
        self._check_not_ended()
        if self._size_bytes == 0:
            self.discard()
            raise EmptyUpload("The file is empty (0 bytes).")
        stored = StoredFile(self._digest.hexdigest(), self._size_bytes)
        try:
            self._move_to(self._target or stored_path(self._folder, stored.sha256))
        except OSError as error:
            self._give_up(error)
        self._ended = True
        return stored

    def discard(self) -> None:
        """Forget everything; safe to call at any time, also after `finish`."""
        self._ended = True
        if self._file is not None:
            with suppress(OSError):  # closing flushes, and may fail on a full disk: the file goes anyway
                self._file.close()
            self._file = None
        if self._path is not None:
            self._path.unlink(missing_ok=True)
            self._path = None

    def _check_not_ended(self) -> None:
        # What was thrown away stays away: a later piece must never be stored under the name of the whole.
        if self._ended:
            raise RuntimeError("this upload has ended")

    def _open(self) -> BinaryIO:
        if self._file is None:
            incoming = self._folder / "incoming"
            make_folder(incoming, self._folder)
            descriptor, name = tempfile.mkstemp(dir=incoming)
            self._path = Path(name)
            self._file = os.fdopen(descriptor, "wb")
        return self._file

    def _move_to(self, target: Path) -> None:
        file = self._open()
        file.flush()
        share_file(file.fileno(), self._folder)
        os.fsync(file.fileno())
        file.close()
        self._file = None
        _make_folder(target.parent, self._folder)
        if self._path is None:
            raise RuntimeError("nothing was written")
        self._path.replace(target)
        self._path = None
        _sync_folder(target.parent)

    def _give_up(self, error: OSError) -> None:
        self.discard()
        if error.errno in _FULL:
            raise StorageFull("The server's disk is full. Nothing was stored; please try again later.") from error
        raise error


def store_upload(chunks: Iterable[bytes], folder: Path, limit_bytes: int) -> StoredFile:
    """Store a stream under its sha256; the same content twice is one file."""
    writer = UploadWriter(folder, limit_bytes)
    try:
        for chunk in chunks:
            writer.write(chunk)
        return writer.finish()
    finally:
        writer.discard()


def store_file(path: Path, folder: Path) -> StoredFile:
    """Store a copy of a local file, of any size."""
    with path.open("rb") as file:
        return store_upload(iter(lambda: file.read(CHUNK_BYTES), b""), folder, limit_bytes=2**63)


def keep_young(folder: Path, sha256: str) -> bool:
    """Whether this is stored; if so, its age begins anew, as if it had been stored now (see
    `app.operations.unowned`)."""
    try:
        os.utime(stored_path(folder, sha256))
    except OSError:  # not there, or another user's: storing it again is right in both cases
        return False
    return True


def stored_path(folder: Path, sha256: str) -> Path:
    """Where the file with this sha256 lies (or would lie)."""
    if len(sha256) != 64 or not set(sha256) <= set("0123456789abcdef"):
        raise ValueError(f"not a sha256: {sha256!r}")
    return folder / sha256[:2] / sha256


def check_path(folder: Path, validation_id: UUID) -> Path:
    """Where a file that is only checked lies (or would lie) until its check has ended: apart, and for that alone."""
    return folder / "checks" / str(validation_id)


def _make_folder(folder: Path, root: Path) -> None:
    if not folder.is_dir():
        make_folder(folder, root)
        _sync_folder(folder.parent)


def clear_interrupted_uploads(folder: Path, now: float) -> int:
    """Remove what killed processes left half-written; returns how many files. now: in seconds, as files' times are."""
    removed = 0
    for path in (folder / "incoming").glob("*"):
        with suppress(FileNotFoundError):  # another web process may be at the same work
            if path.stat().st_mtime < now - INTERRUPTED_SECONDS:
                path.unlink()
                removed += 1
    return removed


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)  # the new name itself must survive a power cut
    finally:
        os.close(descriptor)


def _readable(size_bytes: int) -> str:
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size_bytes >= size:
            return f"{size_bytes / size:.4g} {unit}"
    return f"{size_bytes} bytes"
