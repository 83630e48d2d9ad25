"""How sure the numbers of boards and runs are, as workers computed it, and which tasks wait for that.

Written by `app.boards.statistics_work`, `run_statistics` and `power` only. Workers alone see what these follow from:
per-item outcomes are sealed.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.base.db import Base


class BoardStatistics(Base):
    """Of the runs that stood on a board of a phase when a worker last looked. document: see `app.boards.statistics`."""

    __tablename__ = "board_statistics"

    phase_task_id: Mapped[int] = mapped_column(ForeignKey("phase_tasks.id"), primary_key=True)
    board_id: Mapped[int] = mapped_column(ForeignKey("boards.id"), primary_key=True)
    document: Mapped[dict[str, Any]]


class RunStatistics(Base):
    """Of one run, on a board or not. key: what they were computed with; before: the team's runs that it was compared
    with, so that only what is new is computed. document: see `app.boards.run_statistics`."""

    __tablename__ = "run_statistics"

    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    key: Mapped[str] = mapped_column(String(64))
    before: Mapped[list[Any]]
    document: Mapped[dict[str, Any]]


class GoldPower(Base):
    """What a task's gold can tell apart, for organisers. gold: which one; key: what it was computed with; document: see
    `app.boards.power`."""

    __tablename__ = "gold_power"

    phase_task_id: Mapped[int] = mapped_column(ForeignKey("phase_tasks.id"), primary_key=True)
    gold: Mapped[str] = mapped_column(String(300))
    key: Mapped[str] = mapped_column(String(64))
    document: Mapped[dict[str, Any]]


class StatisticsWork(Base):
    """Whether the boards of a task in a phase have changed since their statistics were computed.

    Versions are those of the boards, with that of the phase whose entries are carried over: `17`, `17-5`.
    """

    __tablename__ = "statistics_work"

    phase_task_id: Mapped[int] = mapped_column(ForeignKey("phase_tasks.id"), primary_key=True)
    computed_for: Mapped[str | None] = mapped_column(String(50))  # the versions that the statistics belong to
    seen: Mapped[str] = mapped_column(String(50))  # the versions when the sweep last looked …
    seen_at: Mapped[datetime]  # … and since when they are so
    waiting_since: Mapped[datetime | None]  # the first change that is not computed yet; None: nothing waits
    sent_at: Mapped[datetime | None]  # when workers were last told
    lease_expires_at: Mapped[datetime | None]  # a worker is at it until then
    attempts: Mapped[int] = mapped_column(default=0)  # for the versions that were seen
    failure: Mapped[str | None] = mapped_column(Text)  # for organisers: why there is nothing yet
