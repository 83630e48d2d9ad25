"""Decisions of users about their own data: archives, deletions of accounts, consents to publication."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.base.db import Base
from app.models.accounts import User
from app.models.columns import stored_file_unless


class DataArchive(Base):
    """A zip of everything stored about a user, created by a worker. Written only by `app.privacy.archives`.

    ready_at, sha256, size_bytes: set together. The file is below `sealed/`, the only place that workers write to,
    although it is not sealed. ended_at: when its file was deleted, or when workers gave up.
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
    """The deletion of an account: scheduled, and done once `done_at` is set; a cancelled one has no row.

    is_erasing: True only inside the transaction that deletes the account, during which the audit log allows names to be
    replaced (see the migration). Written only by `app.privacy.deletions` and `app.privacy.erasing`.
    """

    __tablename__ = "account_deletions"

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True)
    asked_at: Mapped[datetime]
    due_at: Mapped[datetime] = mapped_column(index=True)
    reminded_at: Mapped[datetime | None]
    told_at: Mapped[datetime | None]  # when the person was notified of obstacles to the due deletion
    is_erasing: Mapped[bool] = mapped_column(default=False)
    done_at: Mapped[datetime | None]

    user: Mapped[User] = relationship(lazy="raise")


class PublicationConsent(Base):
    """A user's consent to the publication of predictions in a competition; revoking it deletes the row.

    Written only by `app.teams.consents`.
    """

    __tablename__ = "publication_consents"

    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True, index=True)
    given_at: Mapped[datetime]
