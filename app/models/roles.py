"""Roles in a competition beyond participation. Written by `app.people.roles` only; administrators need no row."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.base.db import Base
from app.models.accounts import User


class Role(StrEnum):
    ORGANISER = "organiser"  # with the access given by their rights
    ANNOTATOR = "annotator"  # can be assigned to judge; sees no more than everybody
    TESTER = "tester"  # sees it as a draft, and participates like anybody
    GUEST = "guest"  # sees it while it is private


class Right(StrEnum):
    """Right of an organiser, used by `app.people.rights`."""

    EDIT = "edit"  # the declaration, status and roles
    SUBMISSIONS = "submissions"  # submissions and their results, before others see them
    GOLD = "gold"
    MESSAGES = "messages"  # announcements, and questions to the organisers


ALL_RIGHTS = frozenset(Right)


def rights_text(rights: Iterable[Right]) -> str:
    """Format rights for a column: their names, separated by spaces."""
    held = frozenset(rights)
    return " ".join(right for right in Right if right in held)


def rights_in(text: str) -> frozenset[Right]:
    """Parse the rights in a column."""
    return frozenset(Right(name) for name in text.split())


class CompetitionRole(Base):
    __tablename__ = "competition_roles"

    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True, index=True)
    role: Mapped[Role] = mapped_column(String(20), primary_key=True)
    rights: Mapped[str] = mapped_column(String(80), default="")  # of organisers: `rights_text`
    granted_at: Mapped[datetime]

    user: Mapped[User] = relationship(lazy="raise")
