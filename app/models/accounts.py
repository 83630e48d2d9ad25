"""People, their log-ins and tokens, and the teams they form in a competition."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.base.db import Base
from app.models.columns import NAME_CHARACTERS

ACTION_CHARACTERS = 60
SUBJECT_CHARACTERS = 300
#: Stored instead of a hash: no password opens the account, but its owner logs in by other means.
NO_PASSWORD = "!"  # noqa: S105 - no password
#: The domain of placeholders for missing addresses (RFC 2606).
NO_ADDRESS = "address.invalid"


class AuditEntry(Base):
    """One action. The actor's name at that time is stored as well."""

    __tablename__ = "audit_log"
    __table_args__ = (Index("ix_audit_log_subject", "subject"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    actor_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))  # None: the command line, or the server
    actor: Mapped[str] = mapped_column(String(NAME_CHARACTERS))
    action: Mapped[str] = mapped_column(String(ACTION_CHARACTERS))  # `thing.deed`, such as `token.create`
    subject: Mapped[str] = mapped_column(String(SUBJECT_CHARACTERS))  # the object of the action, such as `user ada`
    details: Mapped[dict[str, Any]] = mapped_column(default=dict)  # never a secret
    request_id: Mapped[str | None] = mapped_column(String(64))


class TokenScope(StrEnum):
    """Permitted uses of a token, which the rights of its owner limit further."""

    READ = "read"
    SUBMIT = "submit"
    CREATE = "create"
    ORGANISE = "organise"


class User(Base):
    __tablename__ = "users"

    id: Mapped[int] = mapped_column(primary_key=True)
    username: Mapped[str] = mapped_column(String(NAME_CHARACTERS), unique=True)  # lower case
    email: Mapped[str] = mapped_column(String(320), unique=True)  # lower case
    email_confirmed_at: Mapped[datetime | None]  # None: not confirmed
    display_name: Mapped[str] = mapped_column(String(NAME_CHARACTERS))
    password_hash: Mapped[str | None] = mapped_column(String(200))  # argon2, or NO_PASSWORD; None: cannot log in at all
    is_administrator: Mapped[bool] = mapped_column(default=False)
    is_approved_organiser: Mapped[bool] = mapped_column(default=False)  # see app.competitions.organisers
    is_barred_organiser: Mapped[bool] = mapped_column(default=False)  # never; overrides the server's rule
    competitions_limit: Mapped[int | None]  # the user's own limit; None: the server's
    mebibytes_limit: Mapped[int | None]
    blocked_at: Mapped[datetime | None]  # None: not blocked; see app.people.account_blocks
    blocked_reason: Mapped[str] = mapped_column(Text, default="")  # shown to the person; "": none
    orcid: Mapped[str | None] = mapped_column(String(19))  # shown to everybody; None: not wanted, or not proved
    created_at: Mapped[datetime]

    @property
    def has_password(self) -> bool:
        """True if the account can be opened with a password."""
        return self.password_hash not in (None, NO_PASSWORD)

    @property
    def has_address(self) -> bool:
        """True if `email` is an address, not the placeholder for one that another account took over."""
        return not self.email.endswith(f"@{NO_ADDRESS}")

    @property
    def is_blocked(self) -> bool:
        """True if the account is blocked by an administrator."""
        return self.blocked_at is not None

    @property
    def email_confirmed(self) -> bool:
        """True if the user has confirmed the address."""
        return self.email_confirmed_at is not None


class LoginSession(Base):
    """A log-in on the pages: the cookie has the secret, the table only its hash, and logging out deletes the row."""

    __tablename__ = "login_sessions"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    csrf_token: Mapped[str] = mapped_column(String(64))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    way: Mapped[str] = mapped_column(String(60), default="")  # how the first factor was proved, in words
    device: Mapped[str] = mapped_column(String(100), default="")  # browser and system, in words; no address
    seen_at: Mapped[datetime | None]  # to a quarter of an hour
    second_at: Mapped[datetime | None]  # when the second factor was proved; None: the account has none
    challenge: Mapped[str | None] = mapped_column(String(100))  # of a passkey that is being added

    user: Mapped[User] = relationship(lazy="raise")


class ApiToken(Base):
    """An API token, `evg_<secret>`, shown only once; only its hash and first characters are stored."""

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

    email: where it was mailed, so that using it confirms the address; None if it was handed over in person.
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
