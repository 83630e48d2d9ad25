"""Unreferenced stored files: uploads refused after their last byte, and files replaced since.

They are set aside when they are a day old and deleted a week later; files that turn out to be referenced are moved
back.
Uploads need no lock for this: storing a file, even an existing one, resets its age, and young files are kept (decision
008).
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlalchemy import Column, ColumnElement, Engine, select, true
from sqlalchemy.orm import Session

import app.models  # noqa: F401 - fills Base.metadata
from app.base.db import Base, in_batches, reading
from app.base.storage import ASIDE, Kept, Storage, aside_digest, aside_name, digest_of, stored_name

#: Younger files may belong to an upload, or to an `evergold apply`, that has not committed yet.
YOUNG_SECONDS = 24 * 3600
#: Time to notice a mistake and move the file back.
ASIDE_SECONDS = 7 * 24 * 3600
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Cleared:
    """The numbers of files set aside, moved back and removed."""

    set_aside: int = 0
    put_back: int = 0
    removed: int = 0


def clear_unowned(engine: Engine, storage: Storage, now: float) -> Cleared:
    """Process a storage once; return the numbers. now: a POSIX timestamp."""
    put_back, removed = _look_again(engine, storage, now)
    set_aside = 0
    for digests in in_batches(_old_files(storage, now), _BATCH):
        unnamed = set(digests) - named_in_tables(engine, digests)
        aside = [name for digest in sorted(unnamed) if (name := _set_aside(storage, digest, now))]
        still_named = named_in_tables(engine, [_digest(name) for name in aside])
        back = [name for name in aside if _digest(name) in still_named and _put_back(storage, name)]
        set_aside += len(aside) - len(back)
    return Cleared(set_aside, put_back, removed)


def naming_columns() -> list[Column[str]]:
    """List every column, of all tables, marked as the name of a stored file (`models.columns.STORED_FILE`)."""
    columns = (column for table in Base.metadata.sorted_tables for column in table.columns)
    return [column for column in columns if column.info.get("stored_file")]


def named_in_tables(engine: Engine, digests: Iterable[str]) -> set[str]:
    """Return those of these sha256 that any row references."""
    wanted = list(digests)
    if not wanted:
        return set()
    with reading(engine) as session:
        return {digest for column in naming_columns() for digest in _named(session, column, wanted)}


#: Tables whose files workers write, below `sealed/`: they cannot write anywhere else.
IN_SEALED = frozenset({"data_archives", "sealed_files"})


def still_names(column: Column[str]) -> ColumnElement[bool]:
    """Return the condition for rows that have not released their file."""
    given_up_at = column.info.get("unless")
    return true() if given_up_at is None else column.table.columns[given_up_at].is_(None)


def _named(session: Session, column: Column[str], digests: list[str]) -> Iterable[str]:
    return session.scalars(select(column).where(column.in_(digests), still_names(column)).distinct())


# --------------------------------------------------------------------------------------------------------------- files


def _old_files(storage: Storage, now: float) -> Iterator[str]:
    for kept in storage.listed():
        if (digest := digest_of(kept.name)) and not _is_young(kept, now):
            yield digest


def _set_aside(storage: Storage, digest: str, now: float) -> str | None:
    """Rename a file aside; return its new name, or None if the file is gone, or was stored again and moved back."""
    aside = storage.rename(stored_name(digest), aside_name(digest, now, secrets.token_hex(4)))
    if aside is None:  # another sweep was faster
        return None
    # Only now it is certain which file was moved: an upload may have put a new one there since its age was read.
    if _is_young(aside, now):
        _put_back(storage, aside.name)
        return None
    return aside.name


def _look_again(engine: Engine, storage: Storage, now: float) -> tuple[int, int]:
    """Check the files set aside; return the numbers of those moved back and deleted."""
    put_back = removed = 0
    asides = (kept for kept in storage.listed(f"{ASIDE}/") if aside_digest(kept.name))
    for files in in_batches(asides, _BATCH):
        named = named_in_tables(engine, {_digest(kept.name) for kept in files})
        for kept in files:
            moved_at = float(kept.name.split(".")[1])
            # Young when it was moved: that sweep was killed before it could check.
            if _digest(kept.name) in named or (storage.rename_keeps_age and _is_young(kept, moved_at)):
                put_back += _put_back(storage, kept.name)
            elif now - moved_at > ASIDE_SECONDS:
                storage.remove(kept.name)
                removed += 1
    return put_back, removed


def _put_back(storage: Storage, aside: str) -> bool:
    """Move a file back as a young one, which the next sweep ignores; return False if another sweep was faster."""
    storage.renew(aside)
    return storage.rename(aside, stored_name(_digest(aside))) is not None  # None: another sweep was faster


def _is_young(kept: Kept, now: float) -> bool:
    return kept.kept_at > now - YOUNG_SECONDS


def _digest(aside: str) -> str:
    return aside.rpartition("/")[2].split(".")[0]
