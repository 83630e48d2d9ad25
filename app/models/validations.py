"""Files uploaded for validation only. Written by `app.submissions.validations` only; deleted after a day."""

from __future__ import annotations

import uuid
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint, Uuid
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.base.db import Base
from app.models.accounts import User
from app.models.competitions import PhaseTask


class ValidationStatus(StrEnum):
    """queued -> running -> valid | invalid | failed; running -> queued again when its worker was lost."""

    QUEUED = "queued"
    RUNNING = "running"
    VALID = "valid"  # final: the file can be scored
    INVALID = "invalid"  # final: as a submission it would be rejected
    FAILED = "failed"  # final: our fault


CHECKED = frozenset({ValidationStatus.VALID, ValidationStatus.INVALID, ValidationStatus.FAILED})


class Validation(Base):
    """A file that a worker validates like a submission. It belongs to its sender, and to no team."""

    __tablename__ = "validations"
    __table_args__ = (
        UniqueConstraint("user_id", "idempotency_key"),
        Index("ix_validations_status_asked_at", "status", "asked_at"),
    )

    id: Mapped[uuid.UUID] = mapped_column(Uuid, primary_key=True, default=uuid.uuid4)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    # Removing a task without submissions deletes its validations.
    phase_task_id: Mapped[int] = mapped_column(ForeignKey("phase_tasks.id", ondelete="CASCADE"), index=True)
    sha256: Mapped[str] = mapped_column(String(64))  # stored separately, see `app.base.stores.names.check_name`
    size_bytes: Mapped[int]
    filename: Mapped[str] = mapped_column(String(200), default="")
    idempotency_key: Mapped[str | None] = mapped_column(String(200))
    status: Mapped[ValidationStatus] = mapped_column(String(20), default=ValidationStatus.QUEUED)
    attempts: Mapped[int] = mapped_column(default=0)
    asked_at: Mapped[datetime]
    sent_at: Mapped[datetime | None]  # when the sweep last sent it to Celery again
    not_before: Mapped[datetime | None]  # earliest time of the next attempt
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    claim_token: Mapped[str | None] = mapped_column(String(64))  # authorises recording; changes with every claim
    worker: Mapped[str | None] = mapped_column(String(200))
    lease_expires_at: Mapped[datetime | None]
    problems: Mapped[list[Any]] = mapped_column(default=list)  # errors of an invalid file, warnings of a valid one
    problems_omitted: Mapped[int] = mapped_column(default=0)
    failure: Mapped[str | None] = mapped_column(Text)  # why it was requeued or failed; not for participants

    user: Mapped[User] = relationship(lazy="raise")
    phase_task: Mapped[PhaseTask] = relationship(lazy="raise")
