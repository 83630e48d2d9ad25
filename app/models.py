"""The tables. What an organiser declares (competition, task, phase, board) is written by `app.apply` only;
what happens (submission, run, score) is written by `app.submissions` and `app.runs` only.

Relationships are lazy="raise": a query says what it loads.
"""

from __future__ import annotations

import uuid
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    CheckConstraint,
    ForeignKey,
    Index,
    LargeBinary,
    String,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.db import Base

NAME_CHARACTERS = 100


class RunStatus(StrEnum):
    """queued -> running -> scored | rejected | failed; running -> queued again when its worker was lost."""

    QUEUED = "queued"
    RUNNING = "running"
    SCORED = "scored"  # terminal
    REJECTED = "rejected"  # terminal: the participant's file is wrong; costs no quota
    FAILED = "failed"  # terminal: our fault; costs no quota


TERMINAL = frozenset({RunStatus.SCORED, RunStatus.REJECTED, RunStatus.FAILED})


class TeamKind(StrEnum):
    TEAM = "team"
    BASELINE = "baseline"  # the organiser's own system: a named row without a rank


class EntryRule(StrEnum):
    """Which of a team's scored submissions stands on a phase's boards."""

    BEST = "best"
    LAST = "last"
    ALL = "all"


# ---------------------------------------------------------------------------------------------------------- accounts


class User(Base):
    __tablename__ = "users"

    id: Mapped[int] = mapped_column(primary_key=True)
    username: Mapped[str] = mapped_column(String(NAME_CHARACTERS), unique=True)  # lower case
    email: Mapped[str] = mapped_column(String(320), unique=True)  # lower case
    display_name: Mapped[str] = mapped_column(String(NAME_CHARACTERS))
    password_hash: Mapped[str | None] = mapped_column(String(200))  # argon2; None: cannot log in (baselines)
    is_administrator: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime]


class LoginSession(Base):
    """A log-in on the pages: the cookie holds the secret, the table its hash, so that logging out really ends it."""

    __tablename__ = "login_sessions"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    csrf_token: Mapped[str] = mapped_column(String(64))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]

    user: Mapped[User] = relationship(lazy="raise")


class ApiToken(Base):
    """`evg_<secret>`, shown once; only its hash and the first characters are kept."""

    __tablename__ = "api_tokens"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    name: Mapped[str] = mapped_column(String(NAME_CHARACTERS))
    prefix: Mapped[str] = mapped_column(String(12))
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    created_at: Mapped[datetime]
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]

    user: Mapped[User] = relationship(lazy="raise")


class Team(Base):
    """Who submits to a competition and owns the quota; a person alone is a team of one, made at first need."""

    __tablename__ = "teams"
    __table_args__ = (UniqueConstraint("competition_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"))
    name: Mapped[str] = mapped_column(String(NAME_CHARACTERS))
    kind: Mapped[TeamKind] = mapped_column(String(20), default=TeamKind.TEAM)
    created_at: Mapped[datetime]


class TeamMember(Base):
    """One team per person and competition."""

    __tablename__ = "team_members"
    __table_args__ = (UniqueConstraint("competition_id", "user_id"),)

    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"))

    team: Mapped[Team] = relationship(lazy="raise")


# ------------------------------------------------------------------------------------------------- what is declared


class Competition(Base):
    __tablename__ = "competitions"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(NAME_CHARACTERS), unique=True)  # in URLs
    title: Mapped[str] = mapped_column(String(200))
    summary: Mapped[str] = mapped_column(Text, default="")
    description: Mapped[str] = mapped_column(Text, default="")  # Markdown
    website: Mapped[str] = mapped_column(String(500), default="")
    contact: Mapped[str] = mapped_column(String(320), default="")
    tracks: Mapped[list[Any]] = mapped_column(default=list)  # [{"name", "title", "description"}]; a submission has one
    position: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime]

    tasks: Mapped[list[CompetitionTask]] = relationship(lazy="raise", order_by="CompetitionTask.position")
    phases: Mapped[list[Phase]] = relationship(lazy="raise", order_by="Phase.position")
    boards: Mapped[list[Board]] = relationship(lazy="raise", order_by="Board.position")


class CompetitionTask(Base):
    """A task of a competition: a task type of `scoring.tasks` with the organiser's options."""

    __tablename__ = "tasks"
    __table_args__ = (UniqueConstraint("competition_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"))
    name: Mapped[str] = mapped_column(String(NAME_CHARACTERS))
    task_type: Mapped[str] = mapped_column(String(NAME_CHARACTERS))
    title: Mapped[str] = mapped_column(String(200))
    description: Mapped[str] = mapped_column(Text, default="")
    options: Mapped[dict[str, Any]] = mapped_column(default=dict)
    position: Mapped[int] = mapped_column(default=0)


class Phase(Base):
    """A span of time [starts_at, ends_at) with its limits; ends_at None: open for ever."""

    __tablename__ = "phases"
    __table_args__ = (
        UniqueConstraint("competition_id", "name"),
        CheckConstraint("ends_at IS NULL OR starts_at < ends_at", name="ends_after_start"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"))
    name: Mapped[str] = mapped_column(String(NAME_CHARACTERS))
    title: Mapped[str] = mapped_column(String(200))
    description: Mapped[str] = mapped_column(Text, default="")
    starts_at: Mapped[datetime]
    ends_at: Mapped[datetime | None]
    entry_rule: Mapped[EntryRule] = mapped_column(String(20))
    submissions_per_day: Mapped[int | None]  # per team and task, days of UTC; None: no limit
    submissions_total: Mapped[int | None]
    rejected_per_hour: Mapped[int]
    upload_limit_bytes: Mapped[int]
    position: Mapped[int] = mapped_column(default=0)

    competition: Mapped[Competition] = relationship(lazy="raise", overlaps="phases")
    phase_tasks: Mapped[list[PhaseTask]] = relationship(lazy="raise", order_by="PhaseTask.id")


class PhaseTask(Base):
    """A task as it is asked in one phase: its items, its gold's name, its downloads, and the version of its boards."""

    __tablename__ = "phase_tasks"
    __table_args__ = (UniqueConstraint("phase_id", "task_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    phase_id: Mapped[int] = mapped_column(ForeignKey("phases.id"))
    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id"), index=True)
    gold: Mapped[str | None] = mapped_column(String(300))  # a name that only workers can resolve; None: not there yet
    items_sha256: Mapped[str | None] = mapped_column(String(64))  # the blind file that predictions are checked against
    options: Mapped[dict[str, Any]] = mapped_column(default=dict)  # what this phase sets otherwise than the task does
    board_version: Mapped[int] = mapped_column(default=0)  # rises with every change that a board could show

    phase: Mapped[Phase] = relationship(lazy="raise", overlaps="phase_tasks")
    task: Mapped[CompetitionTask] = relationship(lazy="raise")
    files: Mapped[list[PublicFile]] = relationship(lazy="raise", order_by="PublicFile.position")


class PublicFile(Base):
    """A file that everybody may download: blind input, template, public gold of a practice phase."""

    __tablename__ = "public_files"
    __table_args__ = (UniqueConstraint("phase_task_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    phase_task_id: Mapped[int] = mapped_column(ForeignKey("phase_tasks.id"))
    name: Mapped[str] = mapped_column(String(200))  # the file name people get
    title: Mapped[str] = mapped_column(String(200))
    sha256: Mapped[str] = mapped_column(String(64))
    size_bytes: Mapped[int]
    position: Mapped[int] = mapped_column(default=0)


class Board(Base):
    """A leaderboard of one task, shown in every phase that asks this task.

    columns: [{"metric", "split", "title", "decimals", "percent"}]; rank_by: one of them, as "metric split".
    """

    __tablename__ = "boards"
    __table_args__ = (UniqueConstraint("competition_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"))
    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id"))
    name: Mapped[str] = mapped_column(String(NAME_CHARACTERS))
    title: Mapped[str] = mapped_column(String(200))
    description: Mapped[str] = mapped_column(Text, default="")
    rank_metric: Mapped[str] = mapped_column(String(NAME_CHARACTERS))
    rank_split: Mapped[str] = mapped_column(String(NAME_CHARACTERS))
    columns: Mapped[list[Any]]
    track: Mapped[str | None] = mapped_column(String(NAME_CHARACTERS))  # shows submissions of this track; None: of all
    position: Mapped[int] = mapped_column(default=0)

    task: Mapped[CompetitionTask] = relationship(lazy="raise")


class HistoricRow(Base):
    """A published result from elsewhere (a paper, CodaLab's list): shown beside live rows, marked, never ranked by us.

    scores: {"metric split": value}; values stand as published (rounded), with their source.
    """

    __tablename__ = "historic_rows"
    __table_args__ = (Index("ix_historic_rows_phase_id_board_id", "phase_id", "board_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    phase_id: Mapped[int] = mapped_column(ForeignKey("phases.id"))
    board_id: Mapped[int] = mapped_column(ForeignKey("boards.id"))
    team: Mapped[str] = mapped_column(String(200))
    achieved_at: Mapped[datetime | None]
    scores: Mapped[dict[str, Any]]
    source: Mapped[str] = mapped_column(Text)


# ----------------------------------------------------------------------------------------------------- what happens


class Submission(Base):
    """The file that was sent; never changes after it was accepted."""

    __tablename__ = "submissions"
    __table_args__ = (
        UniqueConstraint("user_id", "idempotency_key"),
        Index("ix_submissions_team_id_phase_task_id_submitted_at", "team_id", "phase_task_id", "submitted_at"),
    )

    id: Mapped[uuid.UUID] = mapped_column(Uuid, primary_key=True, default=uuid.uuid4)
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    phase_task_id: Mapped[int] = mapped_column(ForeignKey("phase_tasks.id"), index=True)
    sha256: Mapped[str] = mapped_column(String(64))
    size_bytes: Mapped[int]
    filename: Mapped[str] = mapped_column(String(200), default="")
    track: Mapped[str | None] = mapped_column(String(NAME_CHARACTERS))  # None where the competition had no tracks
    method: Mapped[str] = mapped_column(String(200), default="")
    description: Mapped[str] = mapped_column(Text, default="")
    idempotency_key: Mapped[str | None] = mapped_column(String(200))
    submitted_at: Mapped[datetime]

    team: Mapped[Team] = relationship(lazy="raise")
    user: Mapped[User] = relationship(lazy="raise")
    phase_task: Mapped[PhaseTask] = relationship(lazy="raise")
    runs: Mapped[list[ScoringRun]] = relationship(lazy="raise", order_by="ScoringRun.id")


class ScoringRun(Base):
    """One scoring of a submission against one gold; exactly one run of a submission is `current`."""

    __tablename__ = "runs"
    __table_args__ = (
        Index(
            "uq_runs_current",
            "submission_id",
            unique=True,
            sqlite_where=text("is_current"),
            postgresql_where=text("is_current"),
        ),
        Index("ix_runs_status_queued_at", "status", "queued_at"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    submission_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("submissions.id"), index=True)
    is_current: Mapped[bool] = mapped_column(default=True)
    status: Mapped[RunStatus] = mapped_column(String(20), default=RunStatus.QUEUED)
    gold: Mapped[str] = mapped_column(String(300))  # the gold's name when this run was made
    task_version: Mapped[int | None]  # set by the worker that scored it
    attempts: Mapped[int] = mapped_column(default=0)
    queued_at: Mapped[datetime]
    sent_at: Mapped[datetime | None]  # when the sweep last told Celery again
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    claim_token: Mapped[str | None] = mapped_column(String(64))  # whoever holds it may record; changes with every claim
    worker: Mapped[str | None] = mapped_column(String(200))
    lease_expires_at: Mapped[datetime | None]
    problems: Mapped[list[Any]] = mapped_column(default=list)  # errors of a rejected file, warnings of a scored one
    problems_omitted: Mapped[int] = mapped_column(default=0)
    failure: Mapped[str | None] = mapped_column(Text)  # for organisers; participants only learn that it was our fault
    report: Mapped[bytes | None] = mapped_column(LargeBinary)  # scores, aggregates, texts: zlib-compressed JSON

    submission: Mapped[Submission] = relationship(lazy="raise", overlaps="runs")
    scores: Mapped[list[ScoreRow]] = relationship(lazy="raise", order_by="ScoreRow.id")


class ScoreRow(Base):
    """One score that a board may show: a value, or None with the reason."""

    __tablename__ = "scores"
    __table_args__ = (
        UniqueConstraint("run_id", "metric", "split"),
        CheckConstraint("(value IS NULL) != (reason IS NULL)", name="value_or_reason"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id"))
    metric: Mapped[str] = mapped_column(String(NAME_CHARACTERS))
    split: Mapped[str] = mapped_column(String(NAME_CHARACTERS))
    value: Mapped[float | None]
    reason: Mapped[str | None] = mapped_column(String(200))
    signature: Mapped[str] = mapped_column(Text)
