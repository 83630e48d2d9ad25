"""Stored files that nothing names: uploads that were refused after their last byte, and what was replaced since.

They are set aside when they are a day old, and removed a week later; whatever turns out to be named is put back.
Uploads need no lock for it: storing a file, also one that is there already, makes its age begin anew, and what is young
stays (decision 008).
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Column, ColumnElement, Engine, select, true
from sqlalchemy.orm import Session

import app.models  # noqa: F401 - fills Base.metadata
from app.base.db import Base, reading
from app.base.permissions import make_folder
from app.base.storage import stored_path

#: Younger files may belong to an upload, or to an `evergold apply`, that has not committed yet.
YOUNG_SECONDS = 24 * 3600
#: Time to notice a mistake, and to take the file back.
ASIDE_SECONDS = 7 * 24 * 3600
FOLDER = "unowned"
_BATCH = 500

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Cleared:
    """How many files."""

    set_aside: int = 0
    put_back: int = 0
    removed: int = 0


def clear_unowned(engine: Engine, folder: Path, now: float) -> Cleared:
    """Go through a folder of stored files once. now: in seconds, as files' times are."""
    put_back, removed = _look_again(engine, folder, now)
    set_aside = 0
    for digests in _batches(_old_files(folder, now)):
        unnamed = set(digests) - named_in_tables(engine, digests)
        aside = [path for digest in sorted(unnamed) if (path := _set_aside(folder, digest, now))]
        still_named = named_in_tables(engine, [_digest(path) for path in aside])
        back = [path for path in aside if _digest(path) in still_named and _put_back(folder, path, now)]
        set_aside += len(aside) - len(back)
    return Cleared(set_aside, put_back, removed)


def naming_columns() -> list[Column[str]]:
    """Every column of every table that says of itself that it names a stored file (`models.columns.STORED_FILE`)."""
    columns = (column for table in Base.metadata.sorted_tables for column in table.columns)
    return [column for column in columns if column.info.get("stored_file")]


def named_in_tables(engine: Engine, digests: Iterable[str]) -> set[str]:
    """Those of these sha256 that some row names."""
    wanted = list(digests)
    if not wanted:
        return set()
    with reading(engine) as session:
        return {digest for column in naming_columns() for digest in _named(session, column, wanted)}


def still_names(column: Column[str]) -> ColumnElement[bool]:
    """For a row: that it has not given its file up."""
    given_up_at = column.info.get("unless")
    return true() if given_up_at is None else column.table.columns[given_up_at].is_(None)


def _named(session: Session, column: Column[str], digests: list[str]) -> Iterable[str]:
    return session.scalars(select(column).where(column.in_(digests), still_names(column)).distinct())


# --------------------------------------------------------------------------------------------------------------- files


def _old_files(folder: Path, now: float) -> Iterator[str]:
    for path in folder.glob("[0-9a-f][0-9a-f]/" + 64 * "[0-9a-f]"):
        with suppress(FileNotFoundError):
            if not _is_young(path, now):
                yield path.name


def _set_aside(folder: Path, digest: str, now: float) -> Path | None:
    """Where the file lies now; None if it is gone, or was stored anew at this very moment and is back in its place."""
    aside = folder / FOLDER / f"{digest}.{int(now)}.{secrets.token_hex(4)}"
    make_folder(aside.parent, folder)
    try:
        stored_path(folder, digest).rename(aside)
    except FileNotFoundError:  # another sweep was here
        return None
    # Only now it is sure which file was moved: an upload may have put a new one there since its age was looked at.
    if _is_young(aside, now):
        _put_back(folder, aside, now)
        return None
    return aside


def _look_again(engine: Engine, folder: Path, now: float) -> tuple[int, int]:
    """At what was set aside: (put back, removed)."""
    put_back = removed = 0
    for paths in _batches(sorted((folder / FOLDER).glob("*.*.*"))):
        named = named_in_tables(engine, {_digest(path) for path in paths})
        for path in paths:
            with suppress(FileNotFoundError):  # another sweep was here
                moved_at = float(path.name.split(".")[1])
                # Young when it was moved: that sweep was killed before it could look.
                if _digest(path) in named or _is_young(path, moved_at):
                    put_back += _put_back(folder, path, now)
                elif now - moved_at > ASIDE_SECONDS:
                    path.unlink()
                    removed += 1
    return put_back, removed


def _put_back(folder: Path, aside: Path, now: float) -> bool:
    """To where it was, as a young file, so that the next sweep leaves it alone; the same content may be there again."""
    try:
        os.utime(aside, (now, now))
        aside.rename(stored_path(folder, _digest(aside)))
    except FileNotFoundError:  # another sweep was here
        return False
    return True


def _is_young(path: Path, now: float) -> bool:
    return path.stat().st_mtime > now - YOUNG_SECONDS


def _digest(aside: Path) -> str:
    return aside.name.split(".")[0]


def _batches(things: Iterable[T]) -> Iterator[list[T]]:
    iterator = iter(things)
    while batch := list(islice(iterator, _BATCH)):
        yield batch
