"""People, their log-ins and tokens, and the teams they form in a competition."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.base.db import Base
from app.models.columns import NAME_CHARACTERS


class TokenScope(StrEnum):
    """Permitted uses of a token, which the rights of its owner limit as well."""

    READ = "read"
    SUBMIT = "submit"
    ORGANISE = "organise"


class User(Base):
    __tablename__ = "users"

    id: Mapped[int] = mapped_column(primary_key=True)
    username: Mapped[str] = mapped_column(String(NAME_CHARACTERS), unique=True)  # lower case
    email: Mapped[str] = mapped_column(String(320), unique=True)  # lower case
    email_confirmed_at: Mapped[datetime | None]  # None: not confirmed
    display_name: Mapped[str] = mapped_column(String(NAME_CHARACTERS))
    password_hash: Mapped[str | None] = mapped_column(String(200))  # argon2; None: cannot log in (baselines)
    is_administrator: Mapped[bool] = mapped_column(default=False)
    is_approved_organiser: Mapped[bool] = mapped_column(default=False)  # see app.competitions.organisers
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
    """`evg_<secret>`, shown once; only its hash and first characters are stored."""

    __tablename__ = "api_tokens"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    name: Mapped[str] = mapped_column(String(NAME_CHARACTERS))
    prefix: Mapped[str] = mapped_column(String(12))
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    scopes: Mapped[str] = mapped_column(String(100))  # names of TokenScope, separated by spaces
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]  # None: never; only tokens created before expiry was introduced
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]

    user: Mapped[User] = relationship(lazy="raise")


class PasswordReset(Base):
    """A link for setting a new password once; only the hash of its secret is stored.

    `email` is where it was mailed, so that using it confirms the address; None if it was handed over in person.
    """

    __tablename__ = "password_resets"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    email: Mapped[str | None] = mapped_column(String(320))
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]  # used, or invalidated by a newer password or address

    user: Mapped[User] = relationship(lazy="raise")
