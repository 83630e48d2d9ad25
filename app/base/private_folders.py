"""Private folders for a bundle that is being imported; its gold is unsealed there, in memory if possible.

The process that uses a folder holds a lock on it (`flock`), which ends with the process however it ends. A folder
without a lock was left by a killed process; it is removed at the start of a web process and by the sweep.
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
    """Yield a new folder that only its owner can access, locked during the block; remove it with its contents at the
    end.

    prefix: of its name, before the id of this process.
    """
    folder, lock = _locked(place, f"{prefix}{os.getpid()}-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def clear_left_folders(settings: Settings) -> int:
    """Remove the folders of bundles that no running process holds; return their number."""
    return clear_unlocked(_place(settings), _PREFIX)


def clear_unlocked(place: Path, prefix: str) -> int:
    """Remove the folders of `locked_folder` that no running process holds; return their number.

    Folders of other users are not touched.
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
    """Create a folder and lock it; create another one if it was removed before it was locked. Return path and
    descriptor.
    """
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
        with suppress(FileNotFoundError):
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if folder.is_dir():
                return folder, lock
            os.close(lock)
