"""Uploads that clients of Codabench announce before they send them: submissions, and bundles of competitions."""

from __future__ import annotations

import uuid
from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, String, Text, Uuid
from sqlalchemy.orm import Mapped, mapped_column

from app.base.db import Base
from app.models.columns import STORED_FILE


class HeldUpload(Base):
    """An announced upload: its sender may submit it by its key for a day.

    Only the hash of the secret in its address is stored. sha256, size_bytes: None until the file has arrived.
    """

    __tablename__ = "held_uploads"

    key: Mapped[uuid.UUID] = mapped_column(Uuid, primary_key=True, default=uuid.uuid4)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    filename: Mapped[str] = mapped_column(String(200), default="")
    announced_at: Mapped[datetime] = mapped_column(index=True)
    sha256: Mapped[str | None] = mapped_column(String(64), info=STORED_FILE)
    size_bytes: Mapped[int | None] = mapped_column(BigInteger)


class BundleUpload(Base):
    """An announced bundle of another platform; sending it to its address creates a competition.

    claimed_at: when its bytes arrive. finished_at: when a competition was created or refused. competition: name of the
    draft. details: open questions, or why there is no draft. The bundle itself, which contains gold, is never stored.
    """

    __tablename__ = "bundle_uploads"

    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[uuid.UUID] = mapped_column(Uuid, unique=True, default=uuid.uuid4)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    announced_at: Mapped[datetime] = mapped_column(index=True)
    claimed_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    competition: Mapped[str | None] = mapped_column(String(60))
    details: Mapped[str] = mapped_column(Text, default="")
