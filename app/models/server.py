"""Data shared by the server's processes: outgoing mail, heartbeats, settings changed while it runs, announcements."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.base.db import Base, Json
from app.models.columns import NAME_CHARACTERS


class SelfCheck(StrEnum):
    """The result of a worker's self-check; workers without BERTScore have none."""

    RUNNING = "running"
    PASSED = "passed"
    UNRECORDED = "unrecorded"  # no recorded results to compare its encoders with
    REFUSED = "refused"  # it takes no BERTScore work: results differ, or something is missing


class Worker(Base):
    """A worker that is alive, or was recently: it reports regularly, and the sweep removes silent ones."""

    __tablename__ = "workers"
    __table_args__ = (Index("ix_workers_seen_at", "seen_at"),)

    name: Mapped[str] = mapped_column(String(200), primary_key=True)
    host: Mapped[str] = mapped_column(String(200))
    processes: Mapped[int]  # number of submissions scored at a time
    queues: Mapped[list[Any]]  # current ones: "cpu", "gpu"
    device: Mapped[str | None] = mapped_column(String(40))  # device of its encoders; None: no torch
    versions: Mapped[dict[str, Any]]  # {"python": "3.11.9", "torch": "2.13.0", …}
    models: Mapped[list[Any]]  # names of the encoders on its machine
    self_check: Mapped[SelfCheck | None] = mapped_column(String(20))
    self_check_words: Mapped[list[Any]]  # sentences: why it was refused, or what could not be compared
    #: Results of the comparison with the package bert-score: {"model": …, "package": …, "pairs": …, "difference": …,
    #: "in_its_batches": …}
    comparisons: Mapped[list[Any]] = mapped_column(default=list)
    self_checked_at: Mapped[datetime | None]
    started_at: Mapped[datetime]
    seen_at: Mapped[datetime]


ADDRESS_CHARACTERS = 320


class MailLink(StrEnum):
    """The purpose of the secret link in a mail."""

    PASSWORD = "password"  # noqa: S105 - what it is for, no password
    ADDRESS = "address"
    LOGIN = "login"  # links a log-in with a provider to the account of this address


class OutgoingMail(Base):
    """A mail, written in the transaction that causes it and sent later; only `app.people.mail` changes it.

    It contains no secret: the link described by `link` is created on delivery. Its text is deleted once sent; a
    given-up mail keeps it for a while, to be sent again.
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
    """The last round of a part of the server, and its total counts: {"requeued": 3}."""

    __tablename__ = "heartbeats"

    name: Mapped[str] = mapped_column(String(60), primary_key=True)
    beat_at: Mapped[datetime]
    counts: Mapped[dict[str, Any]] = mapped_column(default=dict)


class ServerSetting(Base):
    """A setting that an administrator changed while the server runs; without a row the environment applies.

    Written only by `app.administration.live`; `app.base.live_settings` defines the settings.
    """

    __tablename__ = "server_settings"

    key: Mapped[str] = mapped_column(String(60), primary_key=True)
    value: Mapped[Any] = mapped_column(Json)
    changed_at: Mapped[datetime]
    changed_by: Mapped[str] = mapped_column(String(NAME_CHARACTERS))  # by name, or the command line


class Severity(StrEnum):
    """The severity of an announcement to the whole server."""

    INFO = "info"
    WARNING = "warning"
    URGENT = "urgent"


class ServerAnnouncement(Base):
    """An announcement to everybody on this server, shown on every page from `starts_at` until `ends_at`."""

    __tablename__ = "server_announcements"

    id: Mapped[int] = mapped_column(primary_key=True)
    text: Mapped[str] = mapped_column(Text)
    severity: Mapped[Severity] = mapped_column(String(20))
    starts_at: Mapped[datetime]
    ends_at: Mapped[datetime | None] = mapped_column(index=True)  # None: until an administrator ends it
    created_at: Mapped[datetime]
    created_by: Mapped[str] = mapped_column(String(NAME_CHARACTERS))  # by name, or the command line


class LiveRevision(Base):
    """The number of changes to settings and announcements so far, in a single row, by which processes notice them."""

    __tablename__ = "live_revision"

    id: Mapped[int] = mapped_column(primary_key=True)
    number: Mapped[int]
