"""People, their log-ins and tokens, and the teams they form in a competition."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from sqlalchemy import ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.base.db import Base
from app.models.columns import NAME_CHARACTERS


class TeamKind(StrEnum):
    TEAM = "team"
    BASELINE = "baseline"  # the organiser's own system: a named row without a rank


class TokenScope(StrEnum):
    """What a token may be used for; its owner's rights bound it as well."""

    READ = "read"
    SUBMIT = "submit"
    ORGANISE = "organise"


class User(Base):
    __tablename__ = "users"

    id: Mapped[int] = mapped_column(primary_key=True)
    username: Mapped[str] = mapped_column(String(NAME_CHARACTERS), unique=True)  # lower case
    email: Mapped[str] = mapped_column(String(320), unique=True)  # lower case
    display_name: Mapped[str] = mapped_column(String(NAME_CHARACTERS))
    password_hash: Mapped[str | None] = mapped_column(String(200))  # argon2; None: cannot log in (baselines)
    is_administrator: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime]


class LoginSession(Base):
    """A log-in on the pages: the cookie holds the secret, the table its hash, so that logging out really ends it."""

    __tablename__ = "login_sessions"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    csrf_token: Mapped[str] = mapped_column(String(64))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]

    user: Mapped[User] = relationship(lazy="raise")


class ApiToken(Base):
    """`evg_<secret>`, shown once; only its hash and the first characters are kept."""

    __tablename__ = "api_tokens"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    name: Mapped[str] = mapped_column(String(NAME_CHARACTERS))
    prefix: Mapped[str] = mapped_column(String(12))
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    scopes: Mapped[str] = mapped_column(String(100))  # names of TokenScope, with spaces between
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]  # None: never; only tokens from before there was an expiry
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]

    user: Mapped[User] = relationship(lazy="raise")


class PasswordReset(Base):
    """A link that lets its holder set a new password once; only the hash of its secret is kept.

    For a name that nobody has there is a row, too, without a user: asking takes the same work either way.
    """

    __tablename__ = "password_resets"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]  # used, or made worthless by a newer password or address

    user: Mapped[User | None] = relationship(lazy="raise")


class Team(Base):
    """Who submits to a competition and owns the quota; a person alone is a team of one, made at first need."""

    __tablename__ = "teams"
    __table_args__ = (UniqueConstraint("competition_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"))
    name: Mapped[str] = mapped_column(String(NAME_CHARACTERS))
    kind: Mapped[TeamKind] = mapped_column(String(20), default=TeamKind.TEAM)
    captain_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))  # see app.teams.find.captain_of
    created_at: Mapped[datetime]


class TeamMember(Base):
    """One team per person and competition."""

    __tablename__ = "team_members"
    __table_args__ = (UniqueConstraint("competition_id", "user_id"),)

    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"))
    joined_at: Mapped[datetime | None]  # None: from the team's beginning

    team: Mapped[Team] = relationship(lazy="raise")
    user: Mapped[User] = relationship(lazy="raise")
