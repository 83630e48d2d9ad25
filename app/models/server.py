"""Data shared by the server's processes: outgoing mail and heartbeats."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.base.db import Base

ADDRESS_CHARACTERS = 320


class MailLink(StrEnum):
    """Purpose of the secret link in a mail."""

    PASSWORD = "password"  # noqa: S105 - what it is for, no password
    ADDRESS = "address"


class OutgoingMail(Base):
    """A mail, written in the transaction that causes it and sent later; only `app.people.mail` changes it.

    It contains no secret: the link described by `link` is created on delivery. Its text is erased once sent; a given-up
    mail retains it for a while, to be sent again.
    """

    __tablename__ = "outgoing_mail"
    __table_args__ = (Index("ix_outgoing_mail_status_next_attempt_at", "status", "next_attempt_at"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    recipient: Mapped[str] = mapped_column(String(ADDRESS_CHARACTERS))
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)  # owner of the address at that time
    competition_id: Mapped[int | None] = mapped_column(ForeignKey("competitions.id"), index=True)  # subject of the mail
    link: Mapped[MailLink | None] = mapped_column(String(20))
    subject: Mapped[str] = mapped_column(String(200))
    body: Mapped[str] = mapped_column(Text)
    status: Mapped[str] = mapped_column(String(20))  # waiting -> sent | given_up | dropped
    attempts: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime]
    next_attempt_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    last_error: Mapped[str | None] = mapped_column(Text)
    unsubscribe: Mapped[str | None] = mapped_column(String(500))  # address for unsubscribing; erased as well


class Heartbeat(Base):
    """Last round of a part of the server, and its total counts: {"requeued": 3}."""

    __tablename__ = "heartbeats"

    name: Mapped[str] = mapped_column(String(60), primary_key=True)
    beat_at: Mapped[datetime]
    counts: Mapped[dict[str, Any]] = mapped_column(default=dict)
