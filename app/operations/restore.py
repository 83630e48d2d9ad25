"""Restoring a backup to an empty server: everything is checked before anything is changed.

Tables are created in the backup's revision, filled, and then migrated to this version.
"""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util.exc import CommandError
from pydantic import ValidationError
from sqlalchemy import Connection, func, inspect, select, table as named_table, text

from app.base.config import Settings
from app.base.db import get_engine, in_batches
from app.base.storage import (
    CHUNK_BYTES,
    UNLIMITED_BYTES,
    Storage,
    remove_file,
    sealed_storage_of,
    storage_of,
    store_upload,
)
from app.operations.backup import Source, reading_from
from app.operations.backup_format import MANIFEST, BackupError, BackupFile, BackupTable, Manifest, insertable, read_row
from app.operations.migrate import alembic_config, migrating, upgrade_to
from evergold.value_words import fault_words

ROWS_AT_ONCE = 500
PROBLEMS_SHOWN = 20


def restore_backup(settings: Settings, source: Path) -> Manifest:
    """Fill an empty server and return the manifest. Raises BackupError with all problems, without having changed
    anything.
    """
    with reading_from(source) as backup:
        manifest = _read_manifest(backup, source)
        _check_revision(manifest)
        _check_whole(backup, manifest)
        _check_empty(settings, manifest)
        stored: list[tuple[Storage, str]] = []
        try:
            for file in manifest.files:
                stored.append(_store(backup, file, settings))
            _fill_database(settings, backup, manifest)
        except BaseException:
            for storage, sha256 in stored:
                remove_file(storage, sha256)
            raise
    return manifest


# -------------------------------------------------------------------------------------------------------------- checks


def _read_manifest(backup: Source, source: Path) -> Manifest:
    try:
        with backup.open(MANIFEST) as file:
            return Manifest.model_validate_json(file.read())
    except BackupError:
        raise BackupError(f"{source} is not a backup, or is incomplete: it has no {MANIFEST}.") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "it"
        fault = f"{where} {fault_words(first, shows_value=False)}"
        raise BackupError(f"{MANIFEST} of {source} is not of this version, or damaged: {fault}.") from None


def _check_revision(manifest: Manifest) -> None:
    try:
        known = ScriptDirectory.from_config(alembic_config()).get_revision(manifest.revision)
    except CommandError:
        known = None
    if known is None:
        raise BackupError(
            f"The backup was made by a newer version of Evergold ({manifest.app_version}); please restore it with that."
        )


def _check_whole(backup: Source, manifest: Manifest) -> None:
    """Check size and sha256 of every file against the manifest. Raises BackupError with all differences."""
    problems = []
    parts: list[BackupTable | BackupFile] = [*manifest.tables, *manifest.files]
    for part in parts:
        try:
            with backup.open(part.file) as file:
                digest, size_bytes = hashlib.sha256(), 0
                while chunk := file.read(CHUNK_BYTES):
                    digest.update(chunk)
                    size_bytes += len(chunk)
        except BackupError as error:
            problems.append(str(error))
            continue
        if (digest.hexdigest(), size_bytes) != (part.sha256, part.size_bytes):
            problems.append(f"{part.file} is damaged")
    if problems:
        shown = "\n".join(f"  {problem}" for problem in problems[:PROBLEMS_SHOWN])
        more = len(problems) - PROBLEMS_SHOWN
        raise BackupError(
            f"The backup is damaged; nothing was changed:\n{shown}" + (f"\n  and {more} more" if more > 0 else "")
        )


def _check_empty(settings: Settings, manifest: Manifest) -> None:
    """Raise BackupError unless the server is empty, because a restore never merges two servers."""
    for name, storage in (("storage", storage_of(settings)), ("sealed", sealed_storage_of(settings))):
        if next(iter(storage.listed()), None):
            raise BackupError(f"{name} already contains files: a backup can only be restored into an empty server.")
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    with get_engine(settings.database_address).connect() as connection:
        for name in _tables(connection):
            if connection.scalar(select(func.count()).select_from(named_table(name))):
                raise BackupError(
                    f"The database already has rows, in {name}: a backup can only be restored into an empty server."
                )
        revision = MigrationContext.configure(connection).get_current_revision()
        if revision not in (None, manifest.revision):
            raise BackupError("The database has tables of another version; please use an empty database.")


def _tables(connection: Connection) -> list[str]:
    return [name for name in inspect(connection).get_table_names() if name != "alembic_version"]


# --------------------------------------------------------------------------------------------------------------- files


def _store(backup: Source, file: BackupFile, settings: Settings) -> tuple[Storage, str]:
    storage = storage_of(settings) if file.folder == "storage" else sealed_storage_of(settings)
    with backup.open(file.file) as content:
        stored = store_upload(iter(lambda: content.read(CHUNK_BYTES), b""), storage, UNLIMITED_BYTES)
    if stored.sha256 != file.sha256:
        remove_file(storage, stored.sha256)
        raise BackupError(f"{file.file} has changed while it was read.")
    return storage, stored.sha256


# ------------------------------------------------------------------------------------------------------------ database


def _fill_database(settings: Settings, backup: Source, manifest: Manifest) -> None:
    """Create tables, insert rows, migrate, and set sequences, in one transaction."""
    with migrating(get_engine(settings.database_address)) as connection:
        upgrade_to(connection, manifest.revision)
        for table in reversed(manifest.tables):  # rows inserted by migrations are in the backup, too
            connection.execute(insertable(table).delete())
        for table in manifest.tables:
            _fill(connection, backup, table)
        upgrade_to(connection, "head")
        if connection.dialect.name == "postgresql":
            _continue_numbering(connection)


def _fill(connection: Connection, backup: Source, table: BackupTable) -> None:
    into, filled = insertable(table), 0
    with backup.open(table.file) as file, io.TextIOWrapper(file, encoding="utf-8", newline="\n") as lines:
        for batch in in_batches(lines, ROWS_AT_ONCE):
            try:
                rows = [read_row(table.columns, line) for line in batch]
            except (ValueError, TypeError, AttributeError) as error:
                raise BackupError(f"{table.file}, about line {filled + 1}: {error}") from None
            connection.execute(into.insert(), rows)
            filled += len(rows)
    if filled != table.rows:
        raise BackupError(f"{table.file} has {filled} rows, not the {table.rows} of the manifest.")


def _continue_numbering(connection: Connection) -> None:
    """Advance PostgreSQL's sequences past the restored ids."""
    for name in _tables(connection):
        keys = inspect(connection).get_pk_constraint(name)["constrained_columns"]
        for key in keys:
            sequence = connection.scalar(
                text("SELECT pg_get_serial_sequence(:table, :column)"), {"table": f'"{name}"', "column": key}
            )
            if sequence is not None:
                highest = select(func.coalesce(func.max(text(f'"{key}"')), 0) + 1).select_from(named_table(name))
                connection.execute(select(func.setval(sequence, highest.scalar_subquery(), False)))
