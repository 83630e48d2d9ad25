"""Downloads of files restricted to participants. Written by `app.submissions.download_log` only."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.base.db import Base
from app.models.accounts import User
from app.models.columns import NAME_CHARACTERS


class FileDownload(Base):
    """One download. Names are those of that time, as phases and files may have been redeclared since."""

    __tablename__ = "file_downloads"
    __table_args__ = (
        Index("ix_file_downloads_competition_id_id", "competition_id", "id"),
        Index("ix_file_downloads_competition_id_file", "competition_id", "file"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    phase: Mapped[str] = mapped_column(String(NAME_CHARACTERS))
    task: Mapped[str] = mapped_column(String(NAME_CHARACTERS))
    file: Mapped[str] = mapped_column(String(200))
    sha256: Mapped[str] = mapped_column(String(64))  # of the content sent, which may no longer be stored
    downloaded_at: Mapped[datetime]

    user: Mapped[User] = relationship(lazy="raise")
