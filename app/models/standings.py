"""Which run each team stands with on each board, kept so that a board costs as much as it shows.

Follows from runs, scores, marks and choices. Written by `app.standings` only.
"""

from __future__ import annotations

from sqlalchemy import ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.base.db import Base


class Standing(Base):
    """The run that a team stands with on one board of a phase.

    is_whole: among all its tries there; another row for each gold, where they were scored against several: other phases
    show what was scored against theirs. gold: that of the tries that were looked at, None: several. facts: what a row
    shows of the run that never changes, as `app.standings.facts` writes it, so that a board reads this table alone.
    """

    __tablename__ = "standings"
    __table_args__ = (
        Index("ix_standings_phase_task_id_board_id_team_id", "phase_task_id", "board_id", "team_id"),
        Index("ix_standings_phase_task_id_team_id", "phase_task_id", "team_id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    phase_task_id: Mapped[int] = mapped_column(ForeignKey("phase_tasks.id"))
    board_id: Mapped[int] = mapped_column(ForeignKey("boards.id"))
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"))
    is_whole: Mapped[bool]
    gold: Mapped[str | None] = mapped_column(String(300))
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id"))
    entries: Mapped[int]  # how many tries the team has here
    ladder_value: Mapped[float | None]  # with `ladder`: the ranking score as it is told
    system_id: Mapped[int | None] = mapped_column(ForeignKey("systems.id"))  # of the submission: may come later
    facts: Mapped[str] = mapped_column(Text)


class KeptBoard(Base):
    """A board of a phase whose standings are kept. rules: what chose them; declared otherwise now, they say nothing."""

    __tablename__ = "kept_boards"

    phase_task_id: Mapped[int] = mapped_column(ForeignKey("phase_tasks.id"), primary_key=True)
    board_id: Mapped[int] = mapped_column(ForeignKey("boards.id"), primary_key=True)
    rules: Mapped[str] = mapped_column(String(32))


class Tally(Base):
    """How many scored submissions a team has in a task of a phase, without hidden and withdrawn ones."""

    __tablename__ = "tallies"

    phase_task_id: Mapped[int] = mapped_column(ForeignKey("phase_tasks.id"), primary_key=True)
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), primary_key=True)
    runs: Mapped[int]
