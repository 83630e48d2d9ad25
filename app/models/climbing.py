"""Data on hill climbing: changes between submissions, and alerts sent to organisers."""

from __future__ import annotations

import uuid
from datetime import datetime

from sqlalchemy import ForeignKey, Uuid
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.base.db import Base
from app.models.competitions import PhaseTask
from app.models.teams import Team


class LineChange(Base):
    """Lines changed from the team's previous submission; `changed` and `of_lines` are None if not comparable."""

    __tablename__ = "line_changes"

    submission_id: Mapped[uuid.UUID] = mapped_column(Uuid, ForeignKey("submissions.id"), primary_key=True)
    previous_id: Mapped[uuid.UUID | None] = mapped_column(Uuid, ForeignKey("submissions.id"))
    changed: Mapped[int | None]
    of_lines: Mapped[int | None]


class ClimbingAlert(Base):
    """Alert on a team whose files repeatedly differ by few lines; one for each team and task of a phase."""

    __tablename__ = "climbing_alerts"

    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), primary_key=True)
    phase_task_id: Mapped[int] = mapped_column(ForeignKey("phase_tasks.id"), primary_key=True)
    times: Mapped[int]
    at: Mapped[datetime]

    team: Mapped[Team] = relationship(lazy="raise")
    phase_task: Mapped[PhaseTask] = relationship(lazy="raise")
