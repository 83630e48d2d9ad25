"""Submissions and their related data: systems, cards, validations, downloads, signs of hill climbing."""

from __future__ import annotations

import uuid
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, LargeBinary, String, Text, UniqueConstraint, Uuid, text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.base.db import Base
from app.models.accounts import User
from app.models.columns import NAME_CHARACTERS, stored_file_unless
from app.models.competitions import PhaseTask
from app.models.teams import Team


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

    document: written by `app.cards.form`. Without a version, runs of a system have the method sent with their file.
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
    """The status that organisers give a row; unmarked rows have none."""

    UNRANKED = "unranked"  # in its position without a rank, with a footnote
    DISQUALIFIED = "disqualified"  # below the others without rank and scores, with the reason
    HIDDEN = "hidden"  # visible to organisers and its own team only


class RowMark(Base):
    """The mark of a team on a task in a phase, or of one of its submissions; deleted if removed."""

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


class ValidationStatus(StrEnum):
    """The status of a validation: queued -> running -> valid | invalid | failed; running -> queued again if its worker
    was lost.
    """

    QUEUED = "queued"
    RUNNING = "running"
    VALID = "valid"  # final: the file can be scored
    INVALID = "invalid"  # final: as a submission it would be rejected
    FAILED = "failed"  # final: our fault


CHECKED = frozenset({ValidationStatus.VALID, ValidationStatus.INVALID, ValidationStatus.FAILED})


class Validation(Base):
    """A file that a worker validates like a submission. It belongs to its sender, not to a team."""

    __tablename__ = "validations"
    __table_args__ = (
        UniqueConstraint("user_id", "idempotency_key"),
        Index("ix_validations_status_asked_at", "status", "asked_at"),
    )

    id: Mapped[uuid.UUID] = mapped_column(Uuid, primary_key=True, default=uuid.uuid4)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    # Removing a task without submissions deletes its validations.
    phase_task_id: Mapped[int] = mapped_column(ForeignKey("phase_tasks.id", ondelete="CASCADE"), index=True)
    sha256: Mapped[str] = mapped_column(String(64))  # stored separately, see `app.base.stores.interface.check_name`
    size_bytes: Mapped[int]
    filename: Mapped[str] = mapped_column(String(200), default="")
    idempotency_key: Mapped[str | None] = mapped_column(String(200))
    status: Mapped[ValidationStatus] = mapped_column(String(20), default=ValidationStatus.QUEUED)
    attempts: Mapped[int] = mapped_column(default=0)
    asked_at: Mapped[datetime]
    sent_at: Mapped[datetime | None]  # when the sweep last sent it to Celery again
    not_before: Mapped[datetime | None]  # earliest time of the next attempt
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    claim_token: Mapped[str | None] = mapped_column(String(64))  # authorises recording; changes with every claim
    worker: Mapped[str | None] = mapped_column(String(200))
    lease_expires_at: Mapped[datetime | None]
    problems: Mapped[list[Any]] = mapped_column(default=list)  # errors of an invalid file, warnings of a valid one
    problems_omitted: Mapped[int] = mapped_column(default=0)
    failure: Mapped[str | None] = mapped_column(Text)  # why it was requeued or failed; not for participants

    user: Mapped[User] = relationship(lazy="raise")
    phase_task: Mapped[PhaseTask] = relationship(lazy="raise")


class LineChange(Base):
    """The lines changed since the team's previous submission. changed, of_lines: None if not comparable."""

    __tablename__ = "line_changes"

    submission_id: Mapped[uuid.UUID] = mapped_column(Uuid, ForeignKey("submissions.id"), primary_key=True)
    previous_id: Mapped[uuid.UUID | None] = mapped_column(Uuid, ForeignKey("submissions.id"))
    changed: Mapped[int | None]
    of_lines: Mapped[int | None]


class ClimbingAlert(Base):
    """An alert on a team whose files repeatedly differ by few lines; one per team and task in a phase."""

    __tablename__ = "climbing_alerts"

    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), primary_key=True)
    phase_task_id: Mapped[int] = mapped_column(ForeignKey("phase_tasks.id"), primary_key=True)
    times: Mapped[int]
    at: Mapped[datetime]

    team: Mapped[Team] = relationship(lazy="raise")
    phase_task: Mapped[PhaseTask] = relationship(lazy="raise")


class FileDownload(Base):
    """One download, with the names at that time, since phases and files may have been redeclared."""

    __tablename__ = "file_downloads"
    __table_args__ = (
        Index("ix_file_downloads_competition_id_id", "competition_id", "id"),
        Index("ix_file_downloads_competition_id_file", "competition_id", "file"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    phase: Mapped[str] = mapped_column(String(NAME_CHARACTERS))
    task: Mapped[str] = mapped_column(String(NAME_CHARACTERS))
    file: Mapped[str] = mapped_column(String(200))
    sha256: Mapped[str] = mapped_column(String(64))  # of the content sent, which may no longer be stored
    downloaded_at: Mapped[datetime]

    user: Mapped[User] = relationship(lazy="raise")


class RunStatus(StrEnum):
    """The status of a run: queued -> running -> scored | rejected | failed; running -> queued again if its worker was
    lost.
    """

    QUEUED = "queued"
    RUNNING = "running"
    SCORED = "scored"  # terminal
    REJECTED = "rejected"  # terminal: the participant's file is wrong; costs no quota
    FAILED = "failed"  # terminal: our fault; costs no quota


TERMINAL = frozenset({RunStatus.SCORED, RunStatus.REJECTED, RunStatus.FAILED})


class Submission(Base):
    """A submitted file, unchanged after acceptance, with a few exceptions.

    The file of a rejected one may be deleted; its team may withdraw it, assign a system later, or merge into another
    team.
    """

    __tablename__ = "submissions"
    __table_args__ = (
        UniqueConstraint("user_id", "idempotency_key"),
        Index("ix_submissions_team_id_phase_task_id_submitted_at", "team_id", "phase_task_id", "submitted_at"),
        Index("ix_submissions_phase_task_id_submitted_at", "phase_task_id", "submitted_at"),
    )

    id: Mapped[uuid.UUID] = mapped_column(Uuid, primary_key=True, default=uuid.uuid4)
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    phase_task_id: Mapped[int] = mapped_column(ForeignKey("phase_tasks.id"))
    sha256: Mapped[str] = mapped_column(String(64), info=stored_file_unless("file_cleared_at"))
    size_bytes: Mapped[int]
    filename: Mapped[str] = mapped_column(String(200), default="")
    track: Mapped[str | None] = mapped_column(String(NAME_CHARACTERS))  # None: the competition had no tracks
    system_id: Mapped[int | None] = mapped_column(ForeignKey("systems.id"), index=True)  # None: unknown
    method: Mapped[str] = mapped_column(String(200), default="")
    description: Mapped[str] = mapped_column(Text, default="")
    idempotency_key: Mapped[str | None] = mapped_column(String(200))
    submitted_at: Mapped[datetime]
    file_cleared_at: Mapped[datetime | None]  # when the file of a rejected submission was deleted
    is_late: Mapped[bool] = mapped_column(default=False)  # accepted after the close; see app.competitions.allowances
    withdrawn_at: Mapped[datetime | None]  # when its team withdrew it from boards
    # The original team if it has merged into `team`, for charging quotas when its members leave.
    sent_for_id: Mapped[int | None] = mapped_column(ForeignKey("teams.id"))

    team: Mapped[Team] = relationship(lazy="raise", foreign_keys=[team_id])
    system: Mapped[System | None] = relationship(lazy="raise")
    user: Mapped[User] = relationship(lazy="raise")
    phase_task: Mapped[PhaseTask] = relationship(lazy="raise")
    runs: Mapped[list[ScoringRun]] = relationship(lazy="raise", order_by="ScoringRun.id")


class ScoringRun(Base):
    """One scoring of a submission with one gold; exactly one run of a submission is current.

    Runs of a rescoring set coexist with it until the set is published.
    """

    __tablename__ = "runs"
    __table_args__ = (
        Index(
            "uq_runs_current",
            "submission_id",
            unique=True,
            sqlite_where=text("is_current"),
            postgresql_where=text("is_current"),
        ),
        Index("ix_runs_status_is_current_queued_at", "status", "is_current", "queued_at"),
        UniqueConstraint("rescoring_id", "submission_id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    submission_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("submissions.id"), index=True)
    is_current: Mapped[bool] = mapped_column(default=True)
    status: Mapped[RunStatus] = mapped_column(String(20), default=RunStatus.QUEUED)
    gold: Mapped[str] = mapped_column(String(300))  # name of the gold at creation
    gold_version_id: Mapped[int | None] = mapped_column(ForeignKey("gold_versions.id"))  # set when claimed; None: plain
    task_version: Mapped[int | None]  # set by the worker that scored it
    attempts: Mapped[int] = mapped_column(default=0)
    queued_at: Mapped[datetime]
    sent_at: Mapped[datetime | None]  # when the sweep last sent it to Celery again
    not_before: Mapped[datetime | None]  # earliest time of the next attempt
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None] = mapped_column(index=True)
    checked_at: Mapped[datetime | None]  # for long runs: when the file was validated and scoring began
    items_done: Mapped[int | None]  # of items_total; None: unknown
    items_total: Mapped[int | None]
    seconds_left: Mapped[int | None]  # estimated from the pace so far
    claim_token: Mapped[str | None] = mapped_column(String(64))  # authorises recording; changes with every claim
    worker: Mapped[str | None] = mapped_column(String(200))
    lease_expires_at: Mapped[datetime | None]
    problems: Mapped[list[Any]] = mapped_column(default=list)  # errors of a rejected file, warnings of a scored one
    problems_omitted: Mapped[int] = mapped_column(default=0)
    failure: Mapped[str | None] = mapped_column(Text)  # for organisers; participants are not shown the reason
    report: Mapped[bytes | None] = mapped_column(LargeBinary)  # scores, aggregates, texts: zlib-compressed JSON
    # Results per item, unsealed, only if gold is public; see app.runs.report. Loaded only on request.
    item_results: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True, deferred_raiseload=True)
    # The log of the organisers' own program; loaded only by `app.runs.program_logs`, for authorised viewers.
    program_log: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True, deferred_raiseload=True)
    # Of the private part of the items; loaded only by `app.runs.private_scores`, for authorised viewers.
    private_scores: Mapped[list[Any] | None] = mapped_column(deferred=True, deferred_raiseload=True)
    outcomes_id: Mapped[int | None] = mapped_column(ForeignKey("sealed_files.id"))  # per item; only workers can open it
    rescoring_id: Mapped[int | None] = mapped_column(ForeignKey("rescorings.id"))  # the set it belongs to
    replaced_id: Mapped[int | None] = mapped_column(ForeignKey("runs.id"))  # the run it replaced; see app.rescoring

    submission: Mapped[Submission] = relationship(lazy="raise", overlaps="runs")


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
