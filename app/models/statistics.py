"""Statistics of boards and runs, computed by workers, and tasks waiting for them.

Written by `app.boards.statistics_work`, `run_statistics` and `power` only. Only workers see their inputs: per-item
outcomes are sealed.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.base.db import Base


class BoardStatistics(Base):
    """Statistics of the entries on a board of a phase at a worker's last computation.

    For `document` see `app.boards.statistics`.
    """

    __tablename__ = "board_statistics"

    phase_task_id: Mapped[int] = mapped_column(ForeignKey("phase_tasks.id"), primary_key=True)
    board_id: Mapped[int] = mapped_column(ForeignKey("boards.id"), primary_key=True)
    document: Mapped[dict[str, Any]]


class RunStatistics(Base):
    """Statistics of one run, on a board or not.

    `key` identifies the inputs; `before` are the team's runs it was compared with, so that only new ones are computed.
    For `document` see `app.boards.run_statistics`.
    """

    __tablename__ = "run_statistics"

    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    key: Mapped[str] = mapped_column(String(64))
    before: Mapped[list[Any]]
    document: Mapped[dict[str, Any]]


class GoldPower(Base):
    """Statistical power of a task's gold, for organisers.

    `gold` identifies the gold and `key` the inputs; for `document` see `app.boards.power`.
    """

    __tablename__ = "gold_power"

    phase_task_id: Mapped[int] = mapped_column(ForeignKey("phase_tasks.id"), primary_key=True)
    gold: Mapped[str] = mapped_column(String(300))
    key: Mapped[str] = mapped_column(String(64))
    document: Mapped[dict[str, Any]]


class StatisticsWork(Base):
    """State of the statistics of a task in a phase, relative to its boards.

    Versions are those of the boards, followed by that of the phase whose entries are carried over: `17`, `17-5`.
    """

    __tablename__ = "statistics_work"

    phase_task_id: Mapped[int] = mapped_column(ForeignKey("phase_tasks.id"), primary_key=True)
    computed_for: Mapped[str | None] = mapped_column(String(50))  # versions of the boards in the statistics
    seen: Mapped[str] = mapped_column(String(50))  # versions at the sweep's last check …
    seen_at: Mapped[datetime]  # … and since when they are unchanged
    waiting_since: Mapped[datetime | None]  # first change not yet computed; None: up to date
    sent_at: Mapped[datetime | None]  # when workers were last notified
    lease_expires_at: Mapped[datetime | None]  # reserved by a worker until then
    attempts: Mapped[int] = mapped_column(default=0)  # for the versions in `seen`
    failure: Mapped[str | None] = mapped_column(Text)  # for organisers: why there are no statistics yet
