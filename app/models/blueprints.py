"""Declarations that are being written in the browser: not complete yet, applied by nobody.

Written by `app.declarations.blueprints.kept` only.
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
    """A declaration at work. competition_id, base: of the competition that it changes, and the revision that it began
    with; None: it becomes a new one. version: rises with each change, so that nobody writes over what they did not see.
    """

    __tablename__ = "blueprints"

    id: Mapped[int] = mapped_column(primary_key=True)
    owner_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    competition_id: Mapped[int | None] = mapped_column(ForeignKey("competitions.id"))
    base: Mapped[int | None]
    document: Mapped[dict[str, Any]] = mapped_column(JSON())  # keys keep their order, as in a revision
    version: Mapped[int] = mapped_column(default=1)
    made_at: Mapped[datetime]
    changed_at: Mapped[datetime]
    warned_at: Mapped[datetime | None]  # when its owner was told that it will be cleared; saved since: not any more

    files: Mapped[list[BlueprintFile]] = relationship(lazy="raise", order_by="BlueprintFile.path")
    competition: Mapped[Competition | None] = relationship(lazy="raise")


class BlueprintFile(Base):
    """A file that was uploaded for it, by its path there; the content lies in storage."""

    __tablename__ = "blueprint_files"

    blueprint_id: Mapped[int] = mapped_column(ForeignKey("blueprints.id"), primary_key=True)
    path: Mapped[str] = mapped_column(String(300), primary_key=True)
    sha256: Mapped[str] = mapped_column(String(64), info=STORED_FILE, index=True)
    size_bytes: Mapped[int] = mapped_column(BigInteger)
