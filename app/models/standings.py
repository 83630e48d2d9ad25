"""Current entries of teams on each board, stored so that the cost of a board depends on what it shows.

Derived from runs, scores, marks and choices. Written by `app.standings` only.
"""

from __future__ import annotations

from sqlalchemy import ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.base.db import Base


class Standing(Base):
    """A team's entry on one board of a phase.

    - is_whole: chosen among all candidates there. If they were scored against several golds, each gold has another row:
      other phases show what was scored against theirs.
    - gold: that of the candidates; None for several.
    - facts: unchanging data of the run for a row, from `app.standings.facts`, so that a board reads this table only.
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
    entries: Mapped[int]  # number of the team's candidates here
    ladder_value: Mapped[float | None]  # with `ladder`: the revealed ranking score
    system_id: Mapped[int | None] = mapped_column(ForeignKey("systems.id"))  # of the submission; may be set later
    facts: Mapped[str] = mapped_column(Text)


class KeptBoard(Base):
    """A board of a phase with stored standings.

    `rules` were used to choose them; if they differ now, these are invalid.
    """

    __tablename__ = "kept_boards"

    phase_task_id: Mapped[int] = mapped_column(ForeignKey("phase_tasks.id"), primary_key=True)
    board_id: Mapped[int] = mapped_column(ForeignKey("boards.id"), primary_key=True)
    rules: Mapped[str] = mapped_column(String(32))


class Tally(Base):
    """Number of a team's scored submissions in a task of a phase, without hidden and withdrawn ones."""

    __tablename__ = "tallies"

    phase_task_id: Mapped[int] = mapped_column(ForeignKey("phase_tasks.id"), primary_key=True)
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), primary_key=True)
    runs: Mapped[int]
