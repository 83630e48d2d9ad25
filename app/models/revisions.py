"""Every declaration of a competition that was ever in force, with its files; a revision never changes.

Written by `app.declarations.revisions.kept` only.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, BigInteger, ForeignKey, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.base.db import Base
from app.models.columns import NAME_CHARACTERS, STORED_FILE


class RevisionSource(StrEnum):
    """Origin of a declaration."""

    FILE = "file"  # phases.yaml, or a file that it includes
    EDIT = "edit"  # changed on the server: in the browser, by the API, by `evergold set`
    UNDO = "undo"  # an earlier revision, applied again


class Revision(Base):
    """A declaration of a competition at one time; `number` is 1, 2, … per competition.

    - document: as in phases.yaml, with keys in the organiser's order and moments as written (JSON, because JSONB does
      not preserve order).
    - fingerprint: equal for declarations with the same meaning.
    - changes: sentences of `app.declarations.apply.apply`.
    """

    __tablename__ = "revisions"
    __table_args__ = (UniqueConstraint("competition_id", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"))
    number: Mapped[int]
    source: Mapped[RevisionSource] = mapped_column(String(20))
    made_at: Mapped[datetime]
    author_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))  # None: the command line, or the server
    author: Mapped[str] = mapped_column(String(NAME_CHARACTERS))  # by name, as the account was called at that time
    note: Mapped[str] = mapped_column(Text, default="")
    document: Mapped[dict[str, Any]] = mapped_column(JSON())
    fingerprint: Mapped[str] = mapped_column(String(64))
    changes: Mapped[list[Any]]

    files: Mapped[list[RevisionFile]] = relationship(lazy="raise", order_by="RevisionFile.path")


class RevisionFile(Base):
    """A file of a revision by its path there; its content is in storage."""

    __tablename__ = "revision_files"

    revision_id: Mapped[int] = mapped_column(ForeignKey("revisions.id"), primary_key=True)
    path: Mapped[str] = mapped_column(String(300), primary_key=True)
    sha256: Mapped[str] = mapped_column(String(64), info=STORED_FILE, index=True)
    size_bytes: Mapped[int] = mapped_column(BigInteger)
