"""Roles in a competition, and invitations to them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum

from sqlalchemy import ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.base.db import Base
from app.models.accounts import User
from app.models.columns import NAME_CHARACTERS
from app.models.competitions import Competition


class Role(StrEnum):
    ORGANISER = "organiser"  # with the access given by their rights
    ANNOTATOR = "annotator"  # can be assigned to judge; sees no more than everybody
    TESTER = "tester"  # sees it as a draft, and participates like anybody
    GUEST = "guest"  # sees it while it is private


class Right(StrEnum):
    """A right of an organiser, used by `app.people.rights`."""

    EDIT = "edit"  # the declaration, status and roles
    SUBMISSIONS = "submissions"  # submissions and their results, before others see them
    GOLD = "gold"
    MESSAGES = "messages"  # announcements, and questions to the organisers


ALL_RIGHTS = frozenset(Right)


def rights_text(rights: Iterable[Right]) -> str:
    """Return rights as text for a column: their names, separated by spaces."""
    held = frozenset(rights)
    return " ".join(right for right in Right if right in held)


def rights_in(text: str) -> frozenset[Right]:
    """Return the rights in a column's text."""
    return frozenset(Right(name) for name in text.split())


class CompetitionRole(Base):
    __tablename__ = "competition_roles"

    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True, index=True)
    role: Mapped[Role] = mapped_column(String(20), primary_key=True)
    rights: Mapped[str] = mapped_column(String(80), default="")  # of organisers: `rights_text`
    granted_at: Mapped[datetime]

    user: Mapped[User] = relationship(lazy="raise")


class OrganisingRequest(Base):
    """A user's request to create competitions, and its answer; each user has at most one open request.

    Written only by `app.people.organising_requests`.
    """

    __tablename__ = "organising_requests"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    text: Mapped[str] = mapped_column(Text)
    asked_at: Mapped[datetime]
    answered_at: Mapped[datetime | None] = mapped_column(index=True)
    answered_by: Mapped[str | None] = mapped_column(String(NAME_CHARACTERS))  # by name, or the command line
    is_approved: Mapped[bool | None]
    answer: Mapped[str] = mapped_column(Text, default="")

    user: Mapped[User] = relationship(lazy="raise")


class RoleInvitation(Base):
    """An invitation for the owner of a confirmed address or, without an address, for everybody with the secret link.

    ended_at: when it was accepted, declined or cancelled; a link stays open until cancelled or expired.
    """

    __tablename__ = "role_invitations"

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"), index=True)
    role: Mapped[Role] = mapped_column(String(20))
    rights: Mapped[str] = mapped_column(String(80), default="")  # of an organiser, as in `CompetitionRole`
    address: Mapped[str | None] = mapped_column(String(320), index=True)  # lower case
    secret_hash: Mapped[str | None] = mapped_column(String(64), unique=True)
    invited_by_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))  # None: on the server's command line
    invited_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]

    competition: Mapped[Competition] = relationship(lazy="raise")
    invited_by: Mapped[User | None] = relationship(lazy="raise")
