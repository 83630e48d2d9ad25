"""Private folders for a bundle that is being imported: gold lies there in clear, in memory where that is possible.

The process that uses a folder holds a lock on it (`flock`), which ends with the process however it ends: what nobody
holds was left by a process that was killed, and is removed at the start of a web process and by the sweep.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from app.base.config import Settings
from app.base.storage import storage_of
from app.base.stores.interface import INCOMING

_PREFIX = "evergold-import-"
MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of random name there, for its owner alone


@contextmanager
def private_folder(settings: Settings) -> Iterator[Path]:
    """Yield a new folder for one bundle; remove it with its contents at the end of the block."""
    with locked_folder(_place(settings), _PREFIX) as folder:
        yield folder


@contextmanager
def locked_folder(place: Path, prefix: str) -> Iterator[Path]:
    """Yield a new folder for its owner alone, locked during the block; remove it with its contents at the end.

    prefix: of its name, before the number of this process.
    """
    folder, lock = _locked(place, f"{prefix}{os.getpid()}-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def clear_left_folders(settings: Settings) -> int:
    """Remove the folders of bundles that no living process holds; return how many."""
    return clear_unlocked(_place(settings), _PREFIX)


def clear_unlocked(place: Path, prefix: str) -> int:
    """Remove the folders of `locked_folder` that no living process holds; return how many.

    Folders of other users are left to them.
    """
    removed = 0
    for folder in place.glob(f"{prefix}*"):
        with suppress(OSError):  # removed by another process meanwhile, or held
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)
                removed += 1
            finally:
                os.close(lock)
    return removed


def _place(settings: Settings) -> Path:
    return MEMORY if MEMORY.is_dir() else storage_of(settings).folder.absolute() / INCOMING


def _locked(place: Path, prefix: str) -> tuple[Path, int]:
    """Make a folder and lock it; another one if it was removed in the moment before it was locked."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
        with suppress(FileNotFoundError):
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if folder.is_dir():
                return folder, lock
            os.close(lock)
