"""Backup of a running server: a snapshot of the database, then every stored file that it references.

Stored files never change and are copied after the rows are read, so all referenced files exist. Private keys and plain
gold are not included.
"""

from __future__ import annotations

import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Protocol

from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, Engine, Table, select

import app.models  # noqa: F401 - fills Base.metadata
from app.base.config import Settings
from app.base.db import Base, get_engine
from app.base.errors import StorageDamaged
from app.base.storage import Storage, lent_file, sealed_storage_of, sha256_of, storage_of
from app.operations.backup_format import (
    MANIFEST,
    BackupColumn,
    BackupError,
    BackupFile,
    BackupTable,
    Folder,
    Manifest,
    kind_of,
    written,
)
from app.operations.unowned import IN_SEALED, naming_columns, still_names
from evergold.version import VERSION

_TAR = ".tar"


class Target(Protocol):
    """A destination for files by their names in the manifest."""

    def add(self, name: str, path: Path) -> None: ...


class Source(Protocol):
    """Provides files by their names. Raises BackupError if one is missing."""

    def open(self, name: str) -> BinaryIO: ...


@contextmanager
def writing_to(target: Path) -> Iterator[Target]:
    """Open a new backup, which gets its name when it is complete. Raises BackupError if the name exists already."""
    if target.exists():
        raise BackupError(f"{target} exists already; a backup is never written over another.")
    if not target.absolute().parent.is_dir():
        raise BackupError(f"There is no folder {target.absolute().parent}.")
    unfinished = target.with_name(f"{target.name}.unfinished")
    if unfinished.exists():
        raise BackupError(
            f"{unfinished} exists: another backup is being written, or one was interrupted. If none is running, "
            "delete it."
        )
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
        raise BackupError(f"{source} is not a backup, or is incomplete: {error}.") from None


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


ROWS_AT_ONCE = 500

#: Referenced sha256, by the folder of the files.
Named = dict[Folder, set[str]]


def make_backup(settings: Settings, target: Path, *, now: datetime) -> Manifest:
    """Write everything to `target`, a new .tar file or folder; return the manifest. Raises BackupError, OSError.

    Damaged or missing stored files are left out and listed in the manifest, so that everything else is saved.
    """
    engine = get_engine(settings.database_address)
    with writing_to(target) as into, tempfile.TemporaryDirectory(dir=target.absolute().parent) as place:
        named: Named = {"storage": set(), "sealed": set()}
        with _snapshot(engine) as connection:
            revision = MigrationContext.configure(connection).get_current_revision()
            tables = [_dump(connection, table, Path(place), into, named) for table in Base.metadata.sorted_tables]
        if revision is None:
            raise BackupError("The database has no tables yet.")
        files, missing = _copy_files(settings, named, into)
        manifest = Manifest(
            format=1, made_at=now, app_version=VERSION, revision=revision, tables=tables, files=files, missing=missing
        )
        whole = Path(place) / MANIFEST
        whole.write_text(manifest.model_dump_json(indent=1), encoding="utf-8")
        into.add(MANIFEST, whole)
    return manifest


@contextmanager
def _snapshot(engine: Engine) -> Iterator[Connection]:
    """Open a consistent snapshot of all tables despite concurrent writes; on SQLite, any transaction is one (WAL)."""
    options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    reader = engine.execution_options(**options) if engine.dialect.name == "postgresql" else engine
    with reader.connect() as connection, connection.begin():
        yield connection


def _dump(connection: Connection, table: Table, place: Path, into: Target, named: Named) -> BackupTable:
    """Write the rows of a table, collect the files that they reference, and return its description."""
    columns = [BackupColumn(name=column.name, kind=kind_of(column)) for column in table.columns]
    naming = [(index, column) for index, column in enumerate(table.columns) if column in _NAMING]
    path, rows = place / f"{table.name}.jsonl", 0
    are_null = (column.is_(None) for column in table.columns)
    names = (still_names(column) for _, column in naming)
    query = select(*table.columns, *are_null, *names).order_by(*table.primary_key)
    with path.open("w", encoding="utf-8", newline="\n") as lines:
        for row in connection.execution_options(yield_per=ROWS_AT_ONCE).execute(query):
            values, nulls, named_here = (
                row[: len(columns)],
                row[len(columns) : 2 * len(columns)],
                row[2 * len(columns) :],
            )
            lines.write(written(columns, values, nulls))
            named["sealed" if table.name in IN_SEALED else "storage"].update(
                values[index]
                for (index, _), is_named in zip(naming, named_here, strict=True)
                if is_named and values[index] is not None
            )
            rows += 1
    described = BackupTable(
        name=table.name, columns=columns, rows=rows, sha256=sha256_of(path), size_bytes=path.stat().st_size
    )
    into.add(described.file, path)
    path.unlink()
    return described


_NAMING = frozenset(naming_columns())


def _copy_files(settings: Settings, named: Named, into: Target) -> tuple[list[BackupFile], list[str]]:
    """Copy the intact files; return them, and the names of the others."""
    files, missing = [], []
    storages: dict[Folder, Storage] = {"storage": storage_of(settings), "sealed": sealed_storage_of(settings)}
    for folder, digests in named.items():
        for sha256 in sorted(digests):
            try:
                with lent_file(storages[folder], sha256) as path:
                    files.append(_copy(folder, sha256, path, into))
            except (FileNotFoundError, StorageDamaged):
                missing.append(f"{folder}/{sha256}")
    return files, missing


def _copy(folder: Folder, sha256: str, path: Path, into: Target) -> BackupFile:
    if sha256_of(path) != sha256:
        raise StorageDamaged(f"{folder}/{sha256} is damaged")
    copied = BackupFile(folder=folder, sha256=sha256, size_bytes=path.stat().st_size)
    into.add(copied.file, path)
    return copied
