"""Log-ins with providers, second factors, known devices, and pending log-ins."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.base.db import Base
from app.models.accounts import User

LABEL_CHARACTERS = 200


class Identity(Base):
    """An identity at a provider that opens its owner's account here. subject: never changes there; label may."""

    __tablename__ = "identities"
    __table_args__ = (UniqueConstraint("issuer", "subject"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    provider: Mapped[str] = mapped_column(String(40))  # its name in the settings, when the identity was linked
    issuer: Mapped[str] = mapped_column(String(300))
    subject: Mapped[str] = mapped_column(String(255))
    label: Mapped[str] = mapped_column(String(LABEL_CHARACTERS))  # how people recognise it, such as an address
    created_at: Mapped[datetime]
    last_used_at: Mapped[datetime | None]

    user: Mapped[User] = relationship(lazy="raise")


class ProviderLogin(Base):
    """A pending log-in with a provider, in one browser, whose cookie has the secret.

    proved: None until the provider has responded, then its description of the person. Of all secrets, also that of a
    mailed link that proves an account's address, only hashes are stored.
    """

    __tablename__ = "provider_logins"

    id: Mapped[int] = mapped_column(primary_key=True)
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    provider: Mapped[str] = mapped_column(String(40))
    state_hash: Mapped[str | None] = mapped_column(String(64))  # None: the provider has responded
    nonce: Mapped[str] = mapped_column(String(64))
    verifier: Mapped[str] = mapped_column(String(128))
    following: Mapped[str] = mapped_column(String(2000))  # where to continue afterwards
    linking_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)  # the user who links it
    proved: Mapped[dict[str, Any] | None]
    mailed_to_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)  # the recipient of the link
    mailed_hash: Mapped[str | None] = mapped_column(String(64))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)


class Authenticator(Base):
    """An app that shows codes (TOTP); one per user. Codes are computed from its secret, which is stored unhashed."""

    __tablename__ = "authenticators"

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True)
    secret: Mapped[str] = mapped_column(String(64))
    created_at: Mapped[datetime]
    confirmed_at: Mapped[datetime | None]  # None: no code was entered yet, so it does not count
    last_step: Mapped[int | None]  # time step of the last code; each code is accepted only once


class Passkey(Base):
    """A passkey, or another key for WebAuthn; only its public half is stored."""

    __tablename__ = "passkeys"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    credential: Mapped[str] = mapped_column(String(1400), unique=True)  # its id, in base64url
    public_key: Mapped[bytes]
    sign_count: Mapped[int] = mapped_column(BigInteger)
    name: Mapped[str] = mapped_column(String(100))
    created_at: Mapped[datetime]
    last_used_at: Mapped[datetime | None]


class RecoveryCode(Base):
    """A code that replaces the second factor once; only its hash is stored."""

    __tablename__ = "recovery_codes"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    code_hash: Mapped[str] = mapped_column(String(64))
    used_at: Mapped[datetime | None]


class SecondStep(Base):
    """A log-in between its two factors: the first was verified in the browser whose cookie has the secret."""

    __tablename__ = "second_steps"

    id: Mapped[int] = mapped_column(primary_key=True)
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    following: Mapped[str] = mapped_column(String(2000))
    way: Mapped[str] = mapped_column(String(60))
    challenge: Mapped[str] = mapped_column(String(100))
    tries: Mapped[int] = mapped_column(default=0)
    expires_at: Mapped[datetime] = mapped_column(index=True)


class KnownDevice(Base):
    """A browser in which the user has logged in before; its cookie has the secret."""

    __tablename__ = "known_devices"
    __table_args__ = (UniqueConstraint("user_id", "secret_hash"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    secret_hash: Mapped[str] = mapped_column(String(64))
    seen_at: Mapped[datetime]
