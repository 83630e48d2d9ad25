"""Method cards, and organisers' marks of rows. Written by `app.cards.edits` and `app.boards.marks` only."""

from __future__ import annotations

import uuid
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from app.base.db import Base


class System(Base):
    """A system that a team built for a task, by its name; see `app.cards.systems`."""

    __tablename__ = "systems"
    __table_args__ = (UniqueConstraint("team_id", "task_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"))
    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id"))
    name: Mapped[str] = mapped_column(String(200))
    created_at: Mapped[datetime]


class CardVersion(Base):
    """A version of a system's method card, written by a team member; exactly one is current.

    `document` is written by `app.cards.form`. Without a version, runs of a system have the method sent with their file.
    """

    __tablename__ = "method_cards"
    __table_args__ = (
        UniqueConstraint("system_id", "number"),
        Index(
            "uq_method_cards_current",
            "system_id",
            unique=True,
            sqlite_where=text("is_current"),
            postgresql_where=text("is_current"),
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    system_id: Mapped[int] = mapped_column(ForeignKey("systems.id"))
    number: Mapped[int]  # 1, 2, … per system
    is_current: Mapped[bool] = mapped_column(default=True)
    document: Mapped[dict[str, Any]]
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    changed_at: Mapped[datetime]


class RowStatus(StrEnum):
    """Status of a row set by organisers; unmarked rows have none."""

    UNRANKED = "unranked"  # in its position without a rank, with a footnote
    DISQUALIFIED = "disqualified"  # below the others without rank and scores, with the reason
    HIDDEN = "hidden"  # visible to organisers and its own team only


class RowMark(Base):
    """Status of a team on a task in a phase, or of one of its submissions; a removed one is deleted."""

    __tablename__ = "row_marks"
    __table_args__ = (
        Index(
            "uq_row_marks_team",
            "phase_task_id",
            "team_id",
            unique=True,
            sqlite_where=text("submission_id IS NULL"),
            postgresql_where=text("submission_id IS NULL"),
        ),
        Index(
            "uq_row_marks_submission",
            "submission_id",
            unique=True,
            sqlite_where=text("submission_id IS NOT NULL"),
            postgresql_where=text("submission_id IS NOT NULL"),
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    phase_task_id: Mapped[int] = mapped_column(ForeignKey("phase_tasks.id"), index=True)
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"))
    submission_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("submissions.id"))  # None: the whole team
    status: Mapped[RowStatus] = mapped_column(String(20))
    note: Mapped[str] = mapped_column(Text, default="")  # the footnote or reason on boards
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))  # None: on the command line
    set_at: Mapped[datetime]
