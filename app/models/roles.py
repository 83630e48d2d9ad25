"""Who may do more in a competition than take part. Written by `app.people.roles` only; administrators need no row."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.base.db import Base
from app.models.accounts import User


class Role(StrEnum):
    ORGANISER = "organiser"  # sees and does everything in this competition
    ANNOTATOR = "annotator"  # may be asked to judge; sees no more of the competition than everybody
    TESTER = "tester"  # sees it while it is a draft, and takes part as anybody would
    GUEST = "guest"  # sees it while it is private


class CompetitionRole(Base):
    __tablename__ = "competition_roles"

    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True, index=True)
    role: Mapped[Role] = mapped_column(String(20), primary_key=True)
    granted_at: Mapped[datetime]

    user: Mapped[User] = relationship(lazy="raise")
