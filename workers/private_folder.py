"""A folder for gold in clear while a task type reads it: in memory if there is room, private to this user.

It is removed at once; the next process that needs such a folder removes those that killed processes left.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PREFIX = "evergold-gold-"
_MEMORY = Path("/dev/shm")  # noqa: S108 - private folders are made in it, by mkdtemp
#: Room for the content and for what is unpacked from it.
_TIMES = 3


@contextmanager
def private_folder(content_bytes: int) -> Iterator[Path]:
    """Yield an empty folder, mode 0700, with room for this much content and what is unpacked from it."""
    place = _place(content_bytes * _TIMES)
    _clear_leftovers(place)
    folder, lock = _locked_folder(place)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _locked_folder(place: Path) -> tuple[Path, int]:
    """Return a new folder and the descriptor that locks it."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place))
        with suppress(OSError):  # a cleaner took it for a leftover before it was locked
            lock = os.open(folder, os.O_RDONLY)
            with suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if folder.exists():
                    return folder, lock
            os.close(lock)


def _place(needed_bytes: int) -> Path:
    with suppress(OSError):
        if os.access(_MEMORY, os.W_OK | os.X_OK) and shutil.disk_usage(_MEMORY).free > needed_bytes:
            return _MEMORY
    return Path(tempfile.gettempdir())


def _clear_leftovers(place: Path) -> None:
    """Remove leftovers: a folder in use is locked, that of a dead process is not."""
    for folder in place.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
