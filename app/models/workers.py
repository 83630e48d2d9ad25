"""Running workers: their queues, machine, and self-check."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.base.db import Base


class SelfCheck(StrEnum):
    """Result of a worker's self-check; workers without BERTScore have none."""

    RUNNING = "running"
    PASSED = "passed"
    UNRECORDED = "unrecorded"  # no recorded results to compare its encoders with
    REFUSED = "refused"  # it takes no BERTScore work: results differ, or something is missing


class Worker(Base):
    """A worker that is alive, or was a moment ago: it reports regularly, and the sweep removes silent ones."""

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
    #: With the package bert-score: {"model": …, "package": …, "pairs": …, "difference": …, "in_its_batches": …}
    comparisons: Mapped[list[Any]] = mapped_column(default=list)
    self_checked_at: Mapped[datetime | None]
    started_at: Mapped[datetime]
    seen_at: Mapped[datetime]
