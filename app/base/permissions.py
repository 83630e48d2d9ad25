"""File permissions: files are private to the server's user, except those that web, workers and sweep share in a group.

A storage folder with the setgid bit is shared: folders created in it are writable by its group, files readable. All
other files, above all the workers' key and plain gold, are private to the user who wrote them.
"""

from __future__ import annotations

import grp
import os
import stat
from contextlib import suppress
from pathlib import Path

from app.base.config import InvalidSettings, Settings

PRIVATE_UMASK = 0o077
SHARED_FOLDER, SHARED_FILE = 0o2770, 0o640
_OTHERS = 0o077


def keep_private() -> None:
    """Make files of this process and its children private to this user."""
    os.umask(PRIVATE_UMASK)


def prepare_folders(settings: Settings) -> None:
    """Share folders with EVERGOLD_FILES_GROUP and restrict files that older versions left readable. Raises
    InvalidSettings.
    """
    keep_private()
    group = _own_group(settings.files_group) if settings.files_group else None
    data = settings.data_dir
    data.mkdir(parents=True, exist_ok=True)
    for folder in (data, settings.storage_dir, settings.sealed_dir, *_caches(settings)):
        folder.mkdir(parents=True, exist_ok=True)
        if group is not None and _is_ours(folder):
            _share(folder, group, 0o2750 if folder == data else SHARED_FOLDER)
    for path in (data, *(data / f"evergold.db{part}" for part in ("", "-wal", "-shm"))):
        _close(path)


def _caches(settings: Settings) -> list[Path]:
    """Return the cache folders for files from a bucket; empty if files are stored in a folder."""
    if "s3" not in (settings.storage, settings.storage_before):
        return []
    return [settings.cache_dir, settings.cache_dir / "storage", settings.cache_dir / "sealed"]


def is_shared(folder: Path) -> bool:
    """Return whether the group may read the contents of this folder."""
    return bool(folder.stat().st_mode & stat.S_ISGID)


def make_folder(folder: Path, root: Path) -> None:
    """Create a folder inside a storage folder, shared with the group if the root is."""
    folder.mkdir(parents=True, exist_ok=True)
    if is_shared(root) and _is_ours(folder):
        folder.chmod(SHARED_FOLDER)


def share_file(descriptor: int, root: Path) -> None:
    """Let the group read a file that was just written into a storage folder, if the root is shared."""
    if is_shared(root):
        os.fchmod(descriptor, SHARED_FILE)


def _share(folder: Path, group: int, mode: int) -> None:
    try:
        os.chown(folder, -1, group)
        folder.chmod(mode)
    except OSError as error:
        raise InvalidSettings(
            f"EVERGOLD_FILES_GROUP: {folder} cannot be given to the group: {error.strerror}."
        ) from None


def _close(path: Path) -> None:
    with suppress(FileNotFoundError):
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & _OTHERS and not mode & stat.S_ISGID and _is_ours(path):
            path.chmod(mode & ~_OTHERS)


def _is_ours(path: Path) -> bool:
    return path.stat().st_uid == os.geteuid()


def group_number(name: str) -> int:
    """Return the id of a group of this machine, given by name or id. Raises InvalidSettings."""
    try:
        return int(name) if name.isdigit() else grp.getgrnam(name).gr_gid
    except KeyError:
        raise InvalidSettings(f"EVERGOLD_FILES_GROUP: there is no group '{name}' on this machine.") from None


def _own_group(name: str) -> int:
    number = group_number(name)
    if os.geteuid() != 0 and number not in (*os.getgroups(), os.getegid()):
        raise InvalidSettings(f"EVERGOLD_FILES_GROUP: this user is not a member of the group '{name}'.")
    return number
