"""Declarations being written in the browser: incomplete, not applied.

Written only by `app.declarations.blueprints.kept`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.base.db import Base
from app.models.columns import STORED_FILE
from app.models.competitions import Competition


class Blueprint(Base):
    """A declaration being written.

    competition_id, base: the competition to change and the revision that it started from, None for a new competition.
    version: increases with each change, to detect concurrent edits.
    """

    __tablename__ = "blueprints"

    id: Mapped[int] = mapped_column(primary_key=True)
    owner_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    competition_id: Mapped[int | None] = mapped_column(ForeignKey("competitions.id"))
    base: Mapped[int | None]
    document: Mapped[dict[str, Any]] = mapped_column(JSON())  # preserves the order of keys, as in a revision
    version: Mapped[int] = mapped_column(default=1)
    made_at: Mapped[datetime]
    changed_at: Mapped[datetime]
    warned_at: Mapped[datetime | None]  # when the owner was warned of deletion; obsolete once saved

    files: Mapped[list[BlueprintFile]] = relationship(lazy="raise", order_by="BlueprintFile.path")
    competition: Mapped[Competition | None] = relationship(lazy="raise")


class BlueprintFile(Base):
    """An uploaded file by its path in the declaration; its content is in storage."""

    __tablename__ = "blueprint_files"

    blueprint_id: Mapped[int] = mapped_column(ForeignKey("blueprints.id"), primary_key=True)
    path: Mapped[str] = mapped_column(String(300), primary_key=True)
    sha256: Mapped[str] = mapped_column(String(64), info=STORED_FILE, index=True)
    size_bytes: Mapped[int] = mapped_column(BigInteger)
