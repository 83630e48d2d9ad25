"""Who may do more in a competition than take part. Written by `app.people.roles` only; administrators need no row."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.base.db import Base
from app.models.accounts import User


class Role(StrEnum):
    ORGANISER = "organiser"  # sees and does in this competition what their rights say
    ANNOTATOR = "annotator"  # may be asked to judge; sees no more of the competition than everybody
    TESTER = "tester"  # sees it while it is a draft, and takes part as anybody would
    GUEST = "guest"  # sees it while it is private


class Right(StrEnum):
    """What an organiser may see and do; `app.people.rights` decides by them."""

    EDIT = "edit"  # what is declared, its life, who has to do with it
    SUBMISSIONS = "submissions"  # what teams send, and what it came to, before others see it
    GOLD = "gold"
    MESSAGES = "messages"  # announcements, and questions to the organisers


ALL_RIGHTS = frozenset(Right)


def rights_text(rights: Iterable[Right]) -> str:
    """As a column holds them: their names, with spaces between."""
    held = frozenset(rights)
    return " ".join(right for right in Right if right in held)


def rights_in(text: str) -> frozenset[Right]:
    """What such a column holds."""
    return frozenset(Right(name) for name in text.split())


class CompetitionRole(Base):
    __tablename__ = "competition_roles"

    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True, index=True)
    role: Mapped[Role] = mapped_column(String(20), primary_key=True)
    rights: Mapped[str] = mapped_column(String(80), default="")  # of organisers: `rights_text`
    granted_at: Mapped[datetime]

    user: Mapped[User] = relationship(lazy="raise")
