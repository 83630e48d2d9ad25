"""A size-limited cache of a bucket's files on the local disk, by name; evicts the least recently used first."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from app.base.permissions import make_folder, share_file
from app.base.stores.interface import INCOMING

#: Files used this recently are kept regardless of the limit: a run that requested one may be about to open it.
USED_SECONDS = 600.0
#: Measuring the cache takes time: repeated after a process has added this fraction of the limit.
_COUNTED_EVERY = 16


class Cache:
    """A folder of cached files that any process may shrink at any time; files that a run is about to read are not
    removed.
    """

    def __init__(self, folder: Path, limit_bytes: int) -> None:
        self.folder = folder
        self._limit_bytes = limit_bytes
        self._uncounted_bytes = limit_bytes  # the size left by earlier processes is unknown

    def path(self, name: str) -> Path | None:
        """Return the path of the copy and mark it as used now; None if there is none."""
        path = self.folder / name
        try:
            os.utime(path)
        except FileNotFoundError:
            return None
        except PermissionError:  # another user's: its own uses keep it fresh
            return path
        return path

    def take(self, file: Path, name: str, *, is_used: bool = True) -> Path:
        """Move a complete file into the cache; return its path. is_used: it is about to be read; otherwise it may be
        evicted.
        """
        target = self.folder / name
        make_folder(target.parent, self.folder)
        with file.open("rb") as content:
            share_file(content.fileno(), self.folder)
            size_bytes = os.fstat(content.fileno()).st_size
        used_at = time.time() - (0 if is_used else USED_SECONDS)
        os.utime(file, (used_at, used_at))
        file.replace(target)
        self._uncounted_bytes += size_bytes
        if self._uncounted_bytes >= self._limit_bytes / _COUNTED_EVERY:
            self._uncounted_bytes = 0
            self.shrink(time.time())
        return target

    def forget(self, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)

    def shrink(self, now: float) -> int:
        """Remove the least recently used files until the limit is met; return their number."""
        copies = sorted(self._copies())
        excess, removed = sum(size for _, size, _ in copies) - self._limit_bytes, 0
        for used_at, size_bytes, path in copies:
            if excess <= 0 or used_at > now - USED_SECONDS:
                break
            path.unlink(missing_ok=True)
            excess -= size_bytes
            removed += 1
        return removed

    def _copies(self) -> list[tuple[float, int, Path]]:
        """List the copies as (time of last use, size, path)."""
        found = []
        for path in self.folder.rglob("*"):
            with suppress(FileNotFoundError):
                if path.is_file() and INCOMING not in path.parts:
                    status = path.stat()
                    found.append((status.st_mtime, status.st_size, path))
        return found
