"""Copies of a gold folder for the user of the sandbox, if that is not the worker's user.

They are in memory (/dev/shm) during a run. The next run removes those of killed workers.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from workers.sandbox.settings import sandbox_settings
from workers.sandbox.terms import SandboxUnavailable

_PREFIX = "evergold-run-"
_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of random name there, for its owner alone


@contextmanager
def readable_copy(folder: Path, uid: int | None) -> Iterator[Path]:
    """Yield a folder that this user can read: the given one if the process runs as that user, or else a temporary copy.

    Only root can give a copy to another user. Otherwise everybody may read it, but nobody can reach it: the folder
    above belongs to the worker, and only the sandbox's mount has access. Raises ValueError if it contains anything but
    files and folders.
    """
    if uid is None:
        yield folder
        return
    place = sandbox_settings().dir or (_MEMORY if _MEMORY.is_dir() else Path(tempfile.gettempdir()))
    _clear(place)
    try:
        private = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=place))
    except OSError as error:
        raise SandboxUnavailable(f"{place} cannot be written ({error.strerror}): set EVERGOLD_SANDBOX_DIR") from None
    try:
        owner = uid if os.geteuid() == 0 else None
        copy = private / "gold"
        copy.mkdir()
        _copy(folder, copy, owner)
        _hand_over(private, 0o700, owner)
        yield copy
    finally:
        shutil.rmtree(private, ignore_errors=True)


def _copy(folder: Path, into: Path, owner: int | None) -> None:
    with os.scandir(folder) as entries:
        for entry in entries:
            target = into / entry.name
            mode = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode):
                target.mkdir()
                _copy(Path(entry.path), target, owner)
            elif stat.S_ISREG(mode):
                shutil.copyfile(entry.path, target)
                _hand_over(target, 0o444, owner)
            else:
                raise ValueError(f"{entry.name} is neither a file nor a folder")
    _hand_over(into, 0o755, owner)


def _hand_over(path: Path, mode: int, owner: int | None) -> None:
    path.chmod(mode)
    if owner is not None:
        os.chown(path, owner, owner)


def _clear(place: Path) -> None:
    """Remove the copies of workers that no longer run."""
    for left in place.glob(f"{_PREFIX}*"):
        pid = left.name.removeprefix(_PREFIX).partition("-")[0]
        if pid.isdigit() and not Path("/proc", pid).exists():
            with suppress(OSError):
                shutil.rmtree(left)
