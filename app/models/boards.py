"""Inputs of boards besides scores: chosen entries, and frozen boards.

Written by `app.submissions.choices` and `app.boards.snapshots` only.
"""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.base.db import Base


class EntryChoice(Base):
    """The submission a team chose as its entry on one board of a phase; the last choice counts."""

    __tablename__ = "entry_choices"

    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), primary_key=True)
    phase_task_id: Mapped[int] = mapped_column(ForeignKey("phase_tasks.id"), primary_key=True)
    board_id: Mapped[int] = mapped_column(ForeignKey("boards.id"), primary_key=True)
    submission_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("submissions.id"), index=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    chosen_at: Mapped[datetime]


class Snapshot(Base):
    """A board frozen after its phase had ended and everything was scored; it never changes.

    A reopened phase gets another one when it closes; `number` is 1, 2, … for this board in this phase. `document` is
    the whole board as organisers see it, see `app.boards.snapshots`.
    """

    __tablename__ = "snapshots"
    __table_args__ = (UniqueConstraint("phase_id", "board_id", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    phase_id: Mapped[int] = mapped_column(ForeignKey("phases.id"))
    board_id: Mapped[int] = mapped_column(ForeignKey("boards.id"))
    number: Mapped[int]
    closed_at: Mapped[datetime]  # the end of the phase
    made_at: Mapped[datetime]
    note: Mapped[str] = mapped_column(Text, default="")  # the reason for another one
    document: Mapped[dict[str, Any]]
