"""Rescoring as a set: runs next to the current ones. Written by `app.rescoring` only."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.base.db import Base
from app.models.accounts import User
from app.models.columns import STORED_FILE
from app.models.competitions import PhaseTask
from app.models.gold import GoldVersion


class RescoringState(StrEnum):
    """open -> published | dropped."""

    OPEN = "open"
    PUBLISHED = "published"
    DROPPED = "dropped"


class Rescoring(Base):
    """A set of runs next to the current ones, to replace them all at once or never.

    `difference` is who moved by how much, stored at publication; see `app.rescoring.difference`.
    """

    __tablename__ = "rescorings"

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"), index=True)
    state: Mapped[RescoringState] = mapped_column(String(20), default=RescoringState.OPEN)
    note: Mapped[str] = mapped_column(Text)  # the reason; shown to teams and with official results once published
    with_rejected: Mapped[bool] = mapped_column(default=False)  # whether rejected files are scored again as well
    created_by_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))  # None: the command line
    created_at: Mapped[datetime]
    told_at: Mapped[datetime | None]  # when organisers were notified that it is ready
    ended_at: Mapped[datetime | None]
    difference: Mapped[dict[str, Any] | None]

    created_by: Mapped[User | None] = relationship(lazy="raise")
    tasks: Mapped[list[RescoredTask]] = relationship(lazy="raise", order_by="RescoredTask.phase_task_id")


class RescoredTask(Base):
    """A task of a phase in a set, with all inputs of its runs, which later changes do not affect."""

    __tablename__ = "rescored_tasks"

    rescoring_id: Mapped[int] = mapped_column(ForeignKey("rescorings.id"), primary_key=True)
    phase_task_id: Mapped[int] = mapped_column(ForeignKey("phase_tasks.id"), primary_key=True, index=True)
    gold: Mapped[str] = mapped_column(String(300))  # the name of plain gold
    gold_version_id: Mapped[int | None] = mapped_column(ForeignKey("gold_versions.id"))  # None: plain gold
    options: Mapped[dict[str, Any]]  # of the task, with the overrides of its phase
    items_sha256: Mapped[str | None] = mapped_column(String(64), info=STORED_FILE)
    private_part: Mapped[dict[str, Any]] = mapped_column(default=dict)  # of the items, as declared

    phase_task: Mapped[PhaseTask] = relationship(lazy="raise")
    gold_version: Mapped[GoldVersion | None] = relationship(lazy="raise")
