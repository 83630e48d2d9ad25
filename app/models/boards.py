"""Boards, their stored standings, and statistics of their runs."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.base.db import Base


class Standing(Base):
    """A team's entry on one board in a phase.

    - is_whole: chosen among all candidates there. If they were scored with several golds, each gold has another row,
      because other phases show what was scored with theirs.
    - gold: of the candidates; None for several.
    - value: the ranking value of the team, rounded as for ranking; None if undefined.
    - facts: unchanging data of the run for a row, from `app.standings.entry`, so that a board reads only this table.
    """

    __tablename__ = "standings"
    __table_args__ = (
        Index("ix_standings_phase_task_id_board_id_team_id", "phase_task_id", "board_id", "team_id"),
        Index("ix_standings_phase_task_id_team_id", "phase_task_id", "team_id"),
        # Everything that counting places looks at.
        Index("ix_standings_place_value", "phase_task_id", "board_id", "value", "is_whole", "gold"),
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
    value: Mapped[float | None]


class KeptBoard(Base):
    """A board in a phase with stored standings.

    rules: used to choose them; if they differ from the current ones, the standings are invalid.
    """

    __tablename__ = "kept_boards"

    phase_task_id: Mapped[int] = mapped_column(ForeignKey("phase_tasks.id"), primary_key=True)
    board_id: Mapped[int] = mapped_column(ForeignKey("boards.id"), primary_key=True)
    rules: Mapped[str] = mapped_column(String(32))


class Tally(Base):
    """The number of a team's scored submissions to a task in a phase, without hidden and withdrawn ones."""

    __tablename__ = "tallies"

    phase_task_id: Mapped[int] = mapped_column(ForeignKey("phase_tasks.id"), primary_key=True)
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), primary_key=True)
    runs: Mapped[int]


class BoardStatistics(Base):
    """Statistics of the entries on a board in a phase, as last computed by a worker.

    `app.boards.statistics` describes `document`.
    """

    __tablename__ = "board_statistics"

    phase_task_id: Mapped[int] = mapped_column(ForeignKey("phase_tasks.id"), primary_key=True)
    board_id: Mapped[int] = mapped_column(ForeignKey("boards.id"), primary_key=True)
    document: Mapped[dict[str, Any]]


class RunStatistics(Base):
    """Statistics of one run, on a board or not.

    key: identifies the inputs. before: the team's runs with which it was compared, so that only new ones have to be.
    `app.boards.run_statistics` describes `document`.
    """

    __tablename__ = "run_statistics"

    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    key: Mapped[str] = mapped_column(String(64))
    before: Mapped[list[Any]]
    document: Mapped[dict[str, Any]]


class GoldPower(Base):
    """The statistical power of a task's gold, for organisers.

    gold, key: identify the gold and the inputs. `app.boards.power` describes `document`.
    """

    __tablename__ = "gold_power"

    phase_task_id: Mapped[int] = mapped_column(ForeignKey("phase_tasks.id"), primary_key=True)
    gold: Mapped[str] = mapped_column(String(300))
    key: Mapped[str] = mapped_column(String(64))
    document: Mapped[dict[str, Any]]


class StatisticsWork(Base):
    """The state of the statistics of a task in a phase, relative to its boards.

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


class EntryChoice(Base):
    """The submission that a team chose as its entry on one board in a phase; the last choice counts."""

    __tablename__ = "entry_choices"

    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), primary_key=True)
    phase_task_id: Mapped[int] = mapped_column(ForeignKey("phase_tasks.id"), primary_key=True)
    board_id: Mapped[int] = mapped_column(ForeignKey("boards.id"), primary_key=True)
    submission_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("submissions.id"), index=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    chosen_at: Mapped[datetime]


class Snapshot(Base):
    """A board frozen after its phase had ended and everything was scored; it never changes.

    A reopened phase gets another one when it closes; number: 1, 2, … for this board in this phase. document: the whole
    board as organisers see it, see `app.boards.snapshots`.
    """

    __tablename__ = "snapshots"
    __table_args__ = (UniqueConstraint("phase_id", "board_id", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    phase_id: Mapped[int] = mapped_column(ForeignKey("phases.id"))
    board_id: Mapped[int] = mapped_column(ForeignKey("boards.id"))
    number: Mapped[int]
    closed_at: Mapped[datetime]  # the end of the phase
    made_at: Mapped[datetime]
    note: Mapped[str] = mapped_column(Text, default="")  # the reason for a further version
    document: Mapped[dict[str, Any]]
