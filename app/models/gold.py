"""Gold: versions, sealed files, keys, checks; and the sets in which runs are rescored."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, LargeBinary, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.base.db import Base
from app.models.accounts import User
from app.models.columns import STORED_FILE
from app.models.competitions import PhaseTask

KEY_ID_CHARACTERS = 16


class SealedKind(StrEnum):
    """The content of a sealed file; a file of one kind is never accepted as another."""

    GOLD = "gold"
    OUTCOMES = "outcomes"  # per item of a run


class GoldCheck(StrEnum):
    """The result of a worker's check of a gold version: readable by the task type, and consistent with the items."""

    WAITING = "waiting"
    VALID = "valid"
    INVALID = "invalid"


class WorkerKey(Base):
    """A public key of the workers. New files are sealed to every key that is not retired."""

    __tablename__ = "worker_keys"

    id: Mapped[int] = mapped_column(primary_key=True)
    key_id: Mapped[str] = mapped_column(String(KEY_ID_CHARACTERS), unique=True)  # derived from the public key
    public_key: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[datetime]
    retired_at: Mapped[datetime | None]


class SealedFile(Base):
    """A file below `sealed/`, named after the sha256 of its ciphertext; it never changes."""

    __tablename__ = "sealed_files"

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[SealedKind] = mapped_column(String(20))
    sha256: Mapped[str] = mapped_column(String(64), info=STORED_FILE, unique=True)
    size_bytes: Mapped[int] = mapped_column(BigInteger)
    sealed_at: Mapped[datetime]

    keys: Mapped[list[SealedKey]] = relationship(lazy="raise", order_by="SealedKey.id")


class SealedKey(Base):
    """A file's key, sealed to one public key of the workers: a rotation replaces these rows, not the files."""

    __tablename__ = "sealed_keys"
    __table_args__ = (UniqueConstraint("sealed_file_id", "key_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    sealed_file_id: Mapped[int] = mapped_column(ForeignKey("sealed_files.id"))
    key_id: Mapped[str] = mapped_column(String(KEY_ID_CHARACTERS), index=True)
    sealed_key: Mapped[bytes] = mapped_column(LargeBinary)


class GoldVersion(Base):
    """A gold version of a task in a phase: never changed, never deleted. Runs use the latest published version.

    A worker checks it before use; the result is in `check_state` and the columns after it.
    """

    __tablename__ = "gold_versions"
    __table_args__ = (UniqueConstraint("phase_task_id", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    phase_task_id: Mapped[int] = mapped_column(ForeignKey("phase_tasks.id"))
    number: Mapped[int]  # 1, 2, … within its phase task
    commitment: Mapped[str] = mapped_column(String(64))  # sha256 of salt and content; reveals nothing without the salt
    filename: Mapped[str] = mapped_column(String(200))  # original name, for organisers
    content_bytes: Mapped[int] = mapped_column(BigInteger)
    sealed_file_id: Mapped[int] = mapped_column(ForeignKey("sealed_files.id"))
    created_by_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))  # None: the command line
    created_at: Mapped[datetime]
    published_at: Mapped[datetime | None]  # None: prepared, not in use
    is_public: Mapped[bool] = mapped_column(default=False)  # as declared by the uploader; workers do not trust it
    publish_when_valid: Mapped[bool] = mapped_column(default=False)  # as soon as a worker has validated it
    check_state: Mapped[GoldCheck] = mapped_column(String(20), default=GoldCheck.WAITING)
    checked_at: Mapped[datetime | None]
    check_attempts: Mapped[int] = mapped_column(default=0)
    check_sent_at: Mapped[datetime | None]  # when workers were last notified
    check_failure: Mapped[str | None] = mapped_column(Text)  # why no worker could check it so far
    problems: Mapped[list[Any]] = mapped_column(default=list)  # as `Problem.as_dict`, without any gold
    problems_omitted: Mapped[int] = mapped_column(default=0)
    # The problems with values, sealed to the uploader's key; where the uploader asked for it, columns as JSON instead.
    explanation: Mapped[str | None] = mapped_column(Text)

    phase_task: Mapped[PhaseTask] = relationship(lazy="raise")
    sealed_file: Mapped[SealedFile] = relationship(lazy="raise")

    @property
    def description(self) -> str | None:
        """The columns of the gold as JSON, if a worker was allowed to report them."""
        return self.explanation if (self.explanation or "").startswith("{") else None

    @property
    def sealed_explanation(self) -> str | None:
        """The problems with their values, sealed to the uploader's key."""
        return None if self.description else self.explanation

    created_by: Mapped[User | None] = relationship(lazy="raise")


class RescoringState(StrEnum):
    """The state of a rescoring set: open -> published | dropped."""

    OPEN = "open"
    PUBLISHED = "published"
    DROPPED = "dropped"


class Rescoring(Base):
    """A set of runs next to the current ones, to replace them all at once or never.

    difference: changes of ranks and scores, stored at publication; see `app.rescoring.difference`.
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
    """A task in a phase of a rescoring set, with all inputs of its runs, which later changes do not affect."""

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
