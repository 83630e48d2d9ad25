"""Invitations to a role in a competition. Written by `app.people.invitations` only."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.base.db import Base
from app.models.accounts import User
from app.models.competitions import Competition
from app.models.roles import Role


class RoleInvitation(Base):
    """An invitation for the owner of a confirmed address; or, without an address, for everybody with the secret link.

    `ended_at` is when it was accepted, declined or cancelled; a link stays until cancelled or expired.
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
