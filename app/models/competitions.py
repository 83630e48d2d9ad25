"""Declared objects: competition, task, phase, board. Written only by `app.declarations.apply.apply`."""

from __future__ import annotations

import secrets
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    ColumnElement,
    ForeignKey,
    Index,
    String,
    Text,
    UniqueConstraint,
    column,
    select,
    table,
)
from sqlalchemy.orm import Mapped, column_property, mapped_column, relationship

from app.base.db import Base
from app.models.columns import NAME_CHARACTERS, STORED_FILE
from app.models.teams import Team

#: The option that has the sha256 of a task's program; filled in from the task, never declared.
PROGRAM = "program_sha256"


class EntryRule(StrEnum):
    """Rule that selects a team's entry among its scored submissions in a phase."""

    BEST = "best"
    LAST = "last"
    ALL = "all"
    CHOSEN = "chosen"  # chosen by the team for each board
    LADDER = "ladder"  # the record, revealed in steps; see evergold.scoring.ladder


class RankingBy(StrEnum):
    MEAN_RANK = "mean_rank"
    MEAN_SCORE = "mean_score"


class MissingEntry(StrEnum):
    """The value counted for a team that has no rank on one of the boards."""

    LEFT_OUT = "left_out"  # the team is not in the ranking
    WORST = "worst"  # the rank after the last; the lowest of the ranked scores
    ZERO = "zero"  # for mean scores


class BoardShown(StrEnum):
    """Visible part of a board for viewers who are not organisers."""

    HIDDEN = "hidden"
    RANKS_ONLY = "ranks_only"
    PUBLIC = "public"


class OwnScores(StrEnum):
    """When a team sees the scores of its own submissions. Faults in a file are always reported immediately."""

    NEVER = "never"
    AFTER_CLOSE = "after_close"
    AT_ONCE = "at_once"


class Slices(StrEnum):
    """Scores visible to viewers who are not organisers.

    `none`: only those that rank a board; `columns`: also those in other columns of a board; `all`: all of them.
    `ranked` means `none` until the phase ends and `all` from then on.
    """

    NONE = "none"
    RANKED = "ranked"
    COLUMNS = "columns"
    ALL = "all"


class Stage(StrEnum):
    """The audience of a competition as a whole, used by `app.competitions.access`."""

    DRAFT = "draft"  # organisers and testers
    PRIVATE = "private"  # also guests and participants
    PUBLISHED = "published"  # everybody


class Halt(StrEnum):
    """Suspension of activity in a competition."""

    NONE = "none"
    PAUSED = "paused"  # no uploads
    ARCHIVED = "archived"  # read-only


def new_salt() -> str:
    """Return a salt that makes the neutral names of a competition's teams differ from those of any other."""
    return secrets.token_hex(16)


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
    method_card: Mapped[dict[str, Any]] = mapped_column(default=dict)  # fields of its cards; app.cards.form
    registration: Mapped[dict[str, Any]] = mapped_column(default=dict)  # who may take part, as declared
    rankings: Mapped[list[Any]] = mapped_column(default=list)  # across tasks, as declared; app.boards.rankings
    citation: Mapped[dict[str, Any]] = mapped_column(default=dict)  # authors, licence, paper; app.boards.citations
    teams: Mapped[dict[str, Any]] = mapped_column(default=dict)  # maximum size, and until when they can be renamed
    images: Mapped[dict[str, Any]] = mapped_column(default=dict)  # of its texts, by path; app.declarations.apply.apply
    position: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime]
    neutral_salt: Mapped[str] = mapped_column(String(64), default=new_salt)  # see app.boards.view; never shown
    stage: Mapped[Stage] = mapped_column(String(20), default=Stage.PUBLISHED)
    halt: Mapped[Halt] = mapped_column(String(20), default=Halt.NONE)
    halt_reason: Mapped[str] = mapped_column(Text, default="")  # one line, for everybody
    life_version: Mapped[int] = mapped_column(default=0)  # increases with every change of these
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)  # None: the server
    delete_at: Mapped[datetime | None]  # when it is deleted for good, unless cancelled

    tasks: Mapped[list[CompetitionTask]] = relationship(lazy="raise", order_by="CompetitionTask.position")
    phases: Mapped[list[Phase]] = relationship(lazy="raise", order_by="Phase.position")
    boards: Mapped[list[Board]] = relationship(lazy="raise", order_by="Board.position")


class ImageFile(Base):
    """Stored images in `Competition.images`, which pages read without another query."""

    __tablename__ = "image_files"

    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"), primary_key=True)
    sha256: Mapped[str] = mapped_column(String(64), primary_key=True, info=STORED_FILE, index=True)


class CompetitionTask(Base):
    """A task of a competition: a task type of `evergold.scoring.tasks` with the organiser's options."""

    __tablename__ = "tasks"
    __table_args__ = (UniqueConstraint("competition_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"))
    name: Mapped[str] = mapped_column(String(NAME_CHARACTERS))
    task_type: Mapped[str] = mapped_column(String(NAME_CHARACTERS))
    title: Mapped[str] = mapped_column(String(200))
    description: Mapped[str] = mapped_column(Text, default="")
    options: Mapped[dict[str, Any]] = mapped_column(default=dict)
    # The organisers' own scoring program, packed; only for task types that run one. Never offered for download.
    program_sha256: Mapped[str | None] = mapped_column(String(64), info=STORED_FILE)
    position: Mapped[int] = mapped_column(default=0)


class Phase(Base):
    """A span of time [starts_at, ends_at) with its limits. ends_at: None for a phase that is always open."""

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
    choose_until: Mapped[datetime | None]  # with `chosen`; None: until the phase ends
    without_choice: Mapped[EntryRule] = mapped_column(String(20), default=EntryRule.LAST)  # with `chosen`: best or last
    ladder_step: Mapped[float | None]  # with `ladder`
    visibility: Mapped[dict[str, Any]] = mapped_column(default=dict)  # as declared; app.competitions.visibility
    carry_over: Mapped[str | None] = mapped_column(String(NAME_CHARACTERS))  # phase whose entries are shown here too
    has_snapshot: Mapped[bool] = mapped_column(default=True)  # whether the boards are frozen after its end
    submissions_per_day: Mapped[int | None]  # per team and task, UTC days; None: no limit
    submissions_per_week: Mapped[int | None]  # UTC weeks, from Monday
    submissions_per_month: Mapped[int | None]  # UTC months
    submissions_total: Mapped[int | None]
    rejected_per_hour: Mapped[int]
    upload_limit_bytes: Mapped[int]
    position: Mapped[int] = mapped_column(default=0)

    competition: Mapped[Competition] = relationship(lazy="raise", overlaps="phases")
    phase_tasks: Mapped[list[PhaseTask]] = relationship(lazy="raise", order_by="PhaseTask.id")


def _newest_gold_is_public(phase_task_id: Mapped[int]) -> ColumnElement[bool]:
    """Return the expression for whether the sealed gold version in use is public, as uploaded or revealed; null without
    one.
    """
    names = ("phase_task_id", "number", "published_at")
    versions = table("gold_versions", *map(column, names), column("is_public", Boolean))
    own = versions.c.phase_task_id == phase_task_id, versions.c.published_at.is_not(None)
    newest = select(versions.c.is_public).where(*own).order_by(versions.c.number.desc()).limit(1)
    return newest.correlate_except(versions).scalar_subquery()


class PhaseTask(Base):
    """A task in one phase: its items, its gold's name, its downloads, and the version of its boards."""

    __tablename__ = "phase_tasks"
    __table_args__ = (UniqueConstraint("phase_id", "task_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    phase_id: Mapped[int] = mapped_column(ForeignKey("phases.id"))
    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id"), index=True)
    gold: Mapped[str | None] = mapped_column(String(300))  # a name that only workers can resolve; None: no gold yet
    items_sha256: Mapped[str | None] = mapped_column(
        String(64), info=STORED_FILE
    )  # the blind file that predictions are checked against
    gold_version: Mapped[str] = mapped_column(String(NAME_CHARACTERS), default="")  # name of this gold on boards
    options: Mapped[dict[str, Any]] = mapped_column(default=dict)  # overrides of the task's options in this phase
    entry: Mapped[dict[str, Any]] = mapped_column(default=dict)  # overrides of the phase: entry, choose_until, …
    limits: Mapped[dict[str, Any]] = mapped_column(default=dict)  # overrides of the phase: per_day, total, …
    visibility: Mapped[dict[str, Any]] = mapped_column(default=dict)  # overrides of the phase, key by key
    files_from: Mapped[dict[str, Any]] = mapped_column(default=dict)  # by file name: "now" or a moment; else the start
    files_for: Mapped[dict[str, Any]] = mapped_column(default=dict)  # by file name: an Audience; else by the rules
    gold_is_public: Mapped[bool] = mapped_column(default=False)  # anybody may have it: see app.runs.report
    ranked_baselines: Mapped[list[Any]] = mapped_column(default=list)  # ids of baseline teams with a rank
    private_part: Mapped[dict[str, Any]] = mapped_column(default=dict)  # as declared; app.competitions.private_part
    board_version: Mapped[int] = mapped_column(default=0)  # increases with every change that a board could show
    sealed_gold_is_public: Mapped[bool | None] = column_property(_newest_gold_is_public(id))

    phase: Mapped[Phase] = relationship(lazy="raise", overlaps="phase_tasks")
    task: Mapped[CompetitionTask] = relationship(lazy="raise")
    files: Mapped[list[PublicFile]] = relationship(lazy="raise", order_by="PublicFile.position")

    def options_of(self, task: CompetitionTask) -> dict[str, Any]:
        """Return the options used for scoring: the task's, overridden by those of this phase, and the program."""
        options = {**task.options, **self.options}
        return options if task.program_sha256 is None else {**options, PROGRAM: task.program_sha256}


class Audience(StrEnum):
    """Audience of a file, once available."""

    EVERYONE = "everyone"
    PARTICIPANTS = "participants"


class PublicFile(Base):
    """A file to download: blind input, template, public gold of a practice phase.

    `PhaseTask.files_from` and `files_for` have its time and audience; `app.submissions.downloads` applies them.
    """

    __tablename__ = "public_files"
    __table_args__ = (UniqueConstraint("phase_task_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    phase_task_id: Mapped[int] = mapped_column(ForeignKey("phase_tasks.id"))
    name: Mapped[str] = mapped_column(String(200))  # the file name for downloads
    title: Mapped[str] = mapped_column(String(200))
    sha256: Mapped[str] = mapped_column(String(64), info=STORED_FILE)
    size_bytes: Mapped[int]
    position: Mapped[int] = mapped_column(default=0)


class Board(Base):
    """A leaderboard of one task, shown in every phase with this task.

    columns: [{"metric", "split", "title", "decimals", "percent"}]; rank_metric, rank_split: name one of them.
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
    track: Mapped[str | None] = mapped_column(String(NAME_CHARACTERS))  # only submissions of this track; None: all
    position: Mapped[int] = mapped_column(default=0)

    task: Mapped[CompetitionTask] = relationship(lazy="raise")


#: Among the scores of a published result its rank there; names of scores have a space.
PUBLISHED_RANK = "rank"


class HistoricRow(Base):
    """A published result from elsewhere (a paper, CodaLab's list): shown next to live rows, marked, never ranked by us.

    scores: {"metric split": value}, as published (rounded), with PUBLISHED_RANK if the publication has a rank. method:
    one line next to the name; paper, code: links; all three may be empty.
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
    method: Mapped[str] = mapped_column(Text, default="")
    paper: Mapped[str] = mapped_column(Text, default="")
    code: Mapped[str] = mapped_column(Text, default="")


class Allowance(Base):
    """An extension for one team: a later close, more submissions, or both, for each task of the phase; deleted if
    revoked.
    """

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


class RevisionSource(StrEnum):
    """The origin of a declaration."""

    FILE = "file"  # phases.yaml, or a file that it includes
    EDIT = "edit"  # changed on the server: in the browser, by the API, by `evergold set`
    UNDO = "undo"  # an earlier revision, applied again
    MERGE = "merge"  # of a file, which is the revision before, with what was edited on the server


class Revision(Base):
    """A declaration of a competition at one time. number: 1, 2, … per competition.

    - document: as in phases.yaml, with keys in the organiser's order and times as written (JSON, because JSONB does not
      preserve order).
    - fingerprint: equal for declarations with the same meaning.
    - changes: sentences of `app.declarations.apply.apply`.
    """

    __tablename__ = "revisions"
    __table_args__ = (UniqueConstraint("competition_id", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"))
    number: Mapped[int]
    source: Mapped[RevisionSource] = mapped_column(String(20))
    made_at: Mapped[datetime]
    author_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))  # None: the command line, or the server
    author: Mapped[str] = mapped_column(String(NAME_CHARACTERS))  # by name, as the account was called at that time
    note: Mapped[str] = mapped_column(Text, default="")
    document: Mapped[dict[str, Any]] = mapped_column(JSON())
    fingerprint: Mapped[str] = mapped_column(String(64))
    changes: Mapped[list[Any]]

    files: Mapped[list[RevisionFile]] = relationship(lazy="raise", order_by="RevisionFile.path")


class RevisionFile(Base):
    """A file of a revision, by its path in the declaration; its content is in storage."""

    __tablename__ = "revision_files"

    revision_id: Mapped[int] = mapped_column(ForeignKey("revisions.id"), primary_key=True)
    path: Mapped[str] = mapped_column(String(300), primary_key=True)
    sha256: Mapped[str] = mapped_column(String(64), info=STORED_FILE, index=True)
    size_bytes: Mapped[int] = mapped_column(BigInteger)
