"""A folder on the local disk as storage: a file gets its name once it is complete and synced."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.base.permissions import make_folder, share_file
from app.base.stores.names import INCOMING, Kept, StoredFile, stored_name


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
    """Return the path of the file with this sha256 in such a folder, whether it exists or not."""
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
