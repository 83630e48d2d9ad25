"""Reading and writing of backups: a folder or a single tar file, accessible to its owner only."""

from __future__ import annotations

import os
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

from app.operations.backup_format import BackupError

_TAR = ".tar"


class Target(Protocol):
    """Takes files by their names in the manifest."""

    def add(self, name: str, path: Path) -> None: ...


class Source(Protocol):
    """Returns files by their names. Raises BackupError if one is missing."""

    def open(self, name: str) -> BinaryIO: ...


@contextmanager
def writing_to(target: Path) -> Iterator[Target]:
    """Open a target, which gets its name once it is complete. Raises BackupError if it exists already."""
    if target.exists():
        raise BackupError(f"{target} exists already; a backup is never written over another.")
    if not target.absolute().parent.is_dir():
        raise BackupError(f"There is no folder {target.absolute().parent}.")
    unfinished = target.with_name(f"{target.name}.unfinished")
    if unfinished.exists():
        raise BackupError(f"{unfinished} is there: another backup is being written, or one was interrupted.")
    try:
        if target.suffix == _TAR:
            with _opened_private(unfinished) as file, tarfile.open(fileobj=file, mode="w") as archive:
                yield _TarTarget(archive)
        else:
            unfinished.mkdir(mode=0o700)
            yield _FolderTarget(unfinished)
        unfinished.rename(target)
    except BaseException:
        if unfinished.is_dir():
            shutil.rmtree(unfinished)
        unfinished.unlink(missing_ok=True)
        raise


@contextmanager
def reading_from(source: Path) -> Iterator[Source]:
    """Open a backup for reading. Raises BackupError if there is none."""
    if source.is_dir():
        yield _FolderSource(source)
        return
    try:
        with tarfile.open(source, "r:") as archive:
            yield _TarSource(archive)
    except FileNotFoundError:
        raise BackupError(f"There is no {source}.") from None
    except tarfile.TarError as error:
        raise BackupError(f"{source} is no backup, or not a whole one: {error}.") from None


def _opened_private(path: Path) -> BinaryIO:
    return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


class _FolderTarget:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, name: str, path: Path) -> None:
        copy = self._folder / name
        for inside in reversed(Path(name).parents):
            (self._folder / inside).mkdir(mode=0o700, exist_ok=True)
        shutil.copyfile(path, copy)
        copy.chmod(0o600)


class _TarTarget:
    def __init__(self, archive: tarfile.TarFile) -> None:
        self._archive = archive

    def add(self, name: str, path: Path) -> None:
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode = path.stat().st_size, 0o600
        with path.open("rb") as content:
            self._archive.addfile(entry, content)


class _FolderSource:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self, name: str) -> BinaryIO:
        try:
            return (self._folder / name).open("rb")
        except (FileNotFoundError, NotADirectoryError):
            raise BackupError(f"{name} is missing") from None


class _TarSource:
    def __init__(self, archive: tarfile.TarFile) -> None:
        self._archive = archive

    def open(self, name: str) -> BinaryIO:
        try:
            content = self._archive.extractfile(name)
        except KeyError:
            content = None
        if content is None:
            raise BackupError(f"{name} is missing")
        return content  # type: ignore[return-value]  # an IO[bytes]
