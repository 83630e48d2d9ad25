"""Extensions for one team in one phase. Written by `app.competitions.allowances` only."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.base.db import Base
from app.models.competitions import Phase
from app.models.teams import Team


class Allowance(Base):
    """A later close, more submissions, or both, for each task of the phase; a revoked one is deleted."""

    __tablename__ = "allowances"
    __table_args__ = (UniqueConstraint("phase_id", "team_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    phase_id: Mapped[int] = mapped_column(ForeignKey("phases.id"))
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), index=True)
    until: Mapped[datetime | None]  # close of the phase for this team; None: as for everybody
    is_ranked: Mapped[bool] = mapped_column(default=False)  # whether submissions after the close are ranked
    extra_per_day: Mapped[int] = mapped_column(default=0)
    extra_total: Mapped[int] = mapped_column(default=0)
    reason: Mapped[str] = mapped_column(Text)  # for the team and the organisers
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))  # None: on the command line
    granted_at: Mapped[datetime]

    phase: Mapped[Phase] = relationship(lazy="raise")
    team: Mapped[Team] = relationship(lazy="raise")
