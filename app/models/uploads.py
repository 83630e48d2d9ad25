"""Files that came before the submission that they are for, as clients of Codabench send them."""

from __future__ import annotations

import uuid
from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, String, Uuid
from sqlalchemy.orm import Mapped, mapped_column

from app.base.db import Base
from app.models.columns import STORED_FILE


class HeldUpload(Base):
    """An announced upload: its sender may submit it by its key for a day.

    Only the hash of the secret in its address is stored. `sha256` and `size_bytes` are None until the file is there.
    """

    __tablename__ = "held_uploads"

    key: Mapped[uuid.UUID] = mapped_column(Uuid, primary_key=True, default=uuid.uuid4)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    filename: Mapped[str] = mapped_column(String(200), default="")
    announced_at: Mapped[datetime] = mapped_column(index=True)
    sha256: Mapped[str | None] = mapped_column(String(64), info=STORED_FILE)
    size_bytes: Mapped[int | None] = mapped_column(BigInteger)
