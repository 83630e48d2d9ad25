"""The workers that are there: what each takes, on what machine, and whether it passed its self-check."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.base.db import Base


class SelfCheck(StrEnum):
    """How a worker's self-check ended; a worker that was never asked for BERTScore has none."""

    RUNNING = "running"
    PASSED = "passed"
    UNRECORDED = "unrecorded"  # nothing was recorded that its encoders could be compared with
    REFUSED = "refused"  # it takes no BERTScore work: numbers differ, or something is missing


class Worker(Base):
    """A worker that lives, or did until a moment ago: it says so again and again, and the sweep forgets the silent."""

    __tablename__ = "workers"
    __table_args__ = (Index("ix_workers_seen_at", "seen_at"),)

    name: Mapped[str] = mapped_column(String(200), primary_key=True)
    host: Mapped[str] = mapped_column(String(200))
    processes: Mapped[int]  # how many submissions it scores at a time
    queues: Mapped[list[Any]]  # those it listens to now: "cpu", "gpu"
    device: Mapped[str | None] = mapped_column(String(40))  # where it encodes; None: it has no torch
    versions: Mapped[dict[str, Any]]  # {"python": "3.11.9", "torch": "2.13.0", …}
    models: Mapped[list[Any]]  # names of the encoders on its machine
    self_check: Mapped[SelfCheck | None] = mapped_column(String(20))
    self_check_words: Mapped[list[Any]]  # why it was refused, or what could not be compared; a sentence each
    #: With the package bert-score: {"model": …, "package": …, "pairs": …, "difference": …, "in_its_batches": …}
    comparisons: Mapped[list[Any]] = mapped_column(default=list)
    self_checked_at: Mapped[datetime | None]
    started_at: Mapped[datetime]
    seen_at: Mapped[datetime]
