"""phases.yaml as pydantic models: what an organiser may declare, strict and complete.

Reading with line numbers, and checks of more than one field, live in `app.check`; the database side in `app.apply`.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from app.config import MEBIBYTE
from app.models import EntryRule
from app.times import parse_moment

#: Names stand in URLs: lower-case letters, digits, single hyphens.
Name = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)]
Moment = Annotated[datetime, BeforeValidator(parse_moment)]


def _inside_folder(path: str) -> str:
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or "\\" in path:
        raise ValueError("a path stays inside the folder of its file: no leading '/', no '..', no backslash")
    return path


RelativePath = Annotated[str, AfterValidator(_inside_folder)]


class Declaration(BaseModel):
    """Root of everything declared: unknown keys are errors, so that a typing slip never passes silently."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ColumnDeclaration(Declaration):
    """A column of a board: one score of its task."""

    metric: str
    split: str
    title: str | None = Field(None, description="heading; default: the task type's own", max_length=60)
    decimals: int = Field(4, ge=0, le=10, description="digits shown")
    percent: bool = Field(False, description="show the value times 100")


class HistoricDeclaration(Declaration):
    """Published results to show beside live rows: a CSV with the columns team,date,metric,split,value."""

    phase: Name
    file: RelativePath
    source: str = Field(min_length=1, description="where the numbers were published, shown with every row")


class BoardDeclaration(Declaration):
    """A leaderboard of one task; it appears in every phase that asks the task."""

    name: Name
    title: str = Field(min_length=1, max_length=200)
    description: str = ""
    task: Name
    rank_by: ColumnDeclaration | None = Field(None, description="the ranking column; default: the first column")
    columns: tuple[ColumnDeclaration, ...] = Field(min_length=1)
    historic: tuple[HistoricDeclaration, ...] = ()


class TaskDeclaration(Declaration):
    """A task: a task type with options."""

    name: Name
    type: str = Field(description="task type, one of `python -m scoring --list`")
    title: str = Field(min_length=1, max_length=200)
    description: str = Field("", description="Markdown")
    options: dict[str, Any] = Field(default_factory=dict, description="options of the task type")


class DownloadDeclaration(Declaration):
    """A file that everybody may download."""

    file: RelativePath
    title: str = Field(min_length=1, max_length=200)


class BaselineDeclaration(Declaration):
    """A prediction of the organisers', scored like any other and shown as a named row without a rank."""

    name: str = Field(min_length=1, max_length=100)
    file: RelativePath
    method: str = Field("", max_length=200)
    description: str = ""


class PhaseTaskDeclaration(Declaration):
    """A task as it is asked in one phase."""

    gold: str | None = Field(None, description="the gold's name in the workers' gold folder; absent: not there yet")
    items: RelativePath | None = Field(None, description="the blind file that predictions are checked against")
    downloads: tuple[DownloadDeclaration, ...] = ()
    baselines: tuple[BaselineDeclaration, ...] = ()


class LimitsDeclaration(Declaration):
    """Per team and task of this phase; rejected and failed submissions do not count."""

    per_day: int | None = Field(None, ge=1, description="days of UTC; absent: no limit")
    total: int | None = Field(None, ge=1, description="absent: no limit")
    rejected_per_hour: int = Field(60, ge=1, description="malformed uploads, in any 60 minutes")
    upload_bytes: int = Field(16 * MEBIBYTE, ge=1)


class PhaseDeclaration(Declaration):
    """A span of time, start included, end excluded."""

    name: Name
    title: str = Field(min_length=1, max_length=200)
    description: str = ""
    start: Moment = Field(description="'2026-01-10 12:00 UTC', '… +02:00', '… AoE' or ISO 8601 with an offset")
    end: Moment | None = Field(None, description="absent: open for ever")
    entry: EntryRule = Field(EntryRule.BEST, description="which of a team's submissions stands on the board")
    limits: LimitsDeclaration = LimitsDeclaration()
    tasks: dict[Name, PhaseTaskDeclaration] = Field(min_length=1)


class CompetitionDeclaration(Declaration):
    """A competition: tasks, boards, phases."""

    name: Name
    title: str = Field(min_length=1, max_length=200)
    summary: str = Field("", max_length=500, description="one or two sentences for lists")
    description: str = Field("", description="Markdown")
    website: str = ""
    contact: str = ""
    tasks: tuple[TaskDeclaration, ...] = Field(min_length=1)
    boards: tuple[BoardDeclaration, ...] = Field(min_length=1)
    phases: tuple[PhaseDeclaration, ...] = Field(min_length=1)


class PhasesFile(Declaration):
    """The whole of phases.yaml. `include` names further files of the same form, relative to this one; globs allowed."""

    version: Literal[1]
    include: tuple[RelativePath, ...] = ()
    competitions: tuple[CompetitionDeclaration, ...] = ()
