"""Decisions of people about their own data: archives, deletions of accounts, consents to publication."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.base.db import Base
from app.models.accounts import User
from app.models.columns import stored_file_unless


class DataArchive(Base):
    """A zip of everything stored about a person, made by a worker. Written by `app.privacy.archives` only.

    `ready_at`, `sha256` and `size_bytes` are set together. The file is below `sealed/`, the only place that workers
    write to, though it is not sealed. `ended_at` is when its file was deleted, or when no worker
    could make it.
    """

    __tablename__ = "data_archives"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    asked_at: Mapped[datetime]
    sent_at: Mapped[datetime | None]  # when workers were last notified
    attempts: Mapped[int] = mapped_column(default=0)
    lease_expires_at: Mapped[datetime | None]  # reserved by a worker until then
    ready_at: Mapped[datetime | None]
    sha256: Mapped[str | None] = mapped_column(String(64), info=stored_file_unless("ended_at"))
    size_bytes: Mapped[int | None] = mapped_column(BigInteger)
    ended_at: Mapped[datetime | None] = mapped_column(index=True)

    user: Mapped[User] = relationship(lazy="raise")


class AccountDeletion(Base):
    """A deletion of an account: scheduled, and done once `done_at` is set; an undone one has no row.

    `is_erasing` is True only inside the transaction that erases the account: the audit log lets names be replaced as
    long as it is (see the migration). Written by `app.privacy.deletions` and `app.privacy.erasing` only.
    """

    __tablename__ = "account_deletions"

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True)
    asked_at: Mapped[datetime]
    due_at: Mapped[datetime] = mapped_column(index=True)
    reminded_at: Mapped[datetime | None]
    told_at: Mapped[datetime | None]  # when the person was told at its time what stands in the way
    is_erasing: Mapped[bool] = mapped_column(default=False)
    done_at: Mapped[datetime | None]

    user: Mapped[User] = relationship(lazy="raise")


class PublicationConsent(Base):
    """Consent of a person to the publication of their predictions in a competition; revoking it deletes the row.

    Written by `app.teams.consents` only.
    """

    __tablename__ = "publication_consents"

    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True, index=True)
    given_at: Mapped[datetime]
