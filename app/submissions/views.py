"""API schemas for submitting: a task in a phase, its downloads, and the submissions and validations for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Self
from uuid import UUID

from pydantic import Field

from app.base import api_links, links
from app.base.answers import ApiModel, Moment, Named, example
from app.base.config import Settings
from app.competitions import limits
from app.competitions.entry_rules import entry_settings
from app.competitions.limits import PhaseState, phase_state
from app.competitions.tracks import tracks_of
from app.competitions.views import (
    EXAMPLE_LIMITS,
    EXAMPLE_TRACK,
    EXAMPLE_VISIBILITY,
    Limits,
    Quota,
    TrackOut,
    VisibilityOut,
    describe_limits,
    describe_quota,
    describe_visibility,
)
from app.competitions.visibility import View
from app.models import (
    Audience,
    Board,
    EntryRule,
    Halt,
    PhaseTask,
    RowStatus,
    RunStatus,
    TeamKind,
    Validation,
    ValidationStatus,
)
from app.submissions.downloads import FileAccess
from app.submissions.validations import KEPT

_EXAMPLE_FILE = {
    "name": "items.csv",
    "title": "Blind input",
    "size_bytes": 18321,
    "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "available_from": "2026-01-10T12:00:00Z",
    "audience": "everyone",
    "is_open": True,
    "link": "/api/v1/competitions/demo/phases/evaluation/tasks/idiom-detection/files/items.csv",
}


class Download(ApiModel):
    """A downloadable file of a task."""

    name: str
    title: str
    size_bytes: int
    sha256: str | None = Field(description="null: you may not download the file")
    available_from: Moment | None = Field(description="null: it was available at once")
    audience: Audience
    is_open: bool = Field(description="whether you may download it now")
    link: str


class PhaseTaskOut(Named):
    """A task in one phase."""

    model_config = example(
        {
            "competition": "demo",
            "phase": "evaluation",
            "name": "idiom-detection",
            "title": "Idiom detection",
            "type": "idiom-detection",
            "description": "Markdown.",
            "state": "open",
            "accepts_submissions": True,
            "entry_rule": "best",
            "choose_until": None,
            "visibility": EXAMPLE_VISIBILITY,
            "tracks": [EXAMPLE_TRACK],
            "limits": EXAMPLE_LIMITS,
            "quota": {
                "used_today": 2,
                "used_total": 5,
                "rejected_last_hour": 0,
                "remaining": 8,
                "day_ends_at": "2026-01-12T00:00:00Z",
            },
            "downloads": [_EXAMPLE_FILE],
            "boards": [{"name": "zero-shot", "title": "Zero-shot"}],
            "link": "/api/v1/competitions/demo/phases/evaluation/tasks/idiom-detection",
            "submissions_link": "/api/v1/competitions/demo/phases/evaluation/tasks/idiom-detection/submissions",
        }
    )

    competition: str
    phase: str
    type: str
    description: str = Field(description="Markdown")
    state: PhaseState
    accepts_submissions: bool = Field(description="whether the phase is open (for your team) and has gold")
    entry_rule: EntryRule = Field(description="which of a team's submissions counts on the boards")
    choose_until: Moment | None = Field(
        description="until when teams choose, with the entry rule `chosen`; null: always"
    )
    visibility: VisibilityOut
    tracks: list[TrackOut] = Field(description="tracks, one of which a submission names; empty: none")
    limits: Limits
    quota: Quota | None = Field(description="null: you are not logged in")
    downloads: list[Download] = Field(
        description="blind items, files of the organisers, and a template to fill in (theirs, or made from the items)"
    )
    boards: list[Named]
    link: str
    submissions_link: str = Field(description="address to POST your file to")


def describe_phase_task(
    phase_task: PhaseTask,
    boards: list[Board],
    settings: Settings,
    used: limits.Quota | None,
    view: View,
    files: Sequence[FileAccess],
    now: datetime,
) -> PhaseTaskOut:
    """Return the description of a task in a phase, with the viewer's quota and files.

    phase_task: from `find_phase_task`.
    """
    phase, task = phase_task.phase, phase_task.task
    place = (phase.competition.name, phase.name, task.name)
    entry = entry_settings(phase, phase_task)
    state = phase_state(phase, now)
    return PhaseTaskOut(
        competition=phase.competition.name,
        phase=phase.name,
        name=task.name,
        title=task.title,
        type=task.task_type,
        description=task.description,
        state=state,
        accepts_submissions=limits.is_open_for(phase, used, now)
        and phase_task.gold is not None
        and phase.competition.halt == Halt.NONE,
        entry_rule=entry.rule,
        choose_until=entry.choose_until if entry.rule is EntryRule.CHOSEN else None,
        visibility=describe_visibility(view),
        tracks=tracks_of(phase.competition),
        limits=describe_limits(phase, phase_task, settings),
        quota=describe_quota(used) if used else None,
        downloads=[_download(one, place) for one in files],
        boards=boards,
        link=api_links.task(*place),
        submissions_link=api_links.submit(*place),
    )


def _download(access: FileAccess, place: tuple[str, str, str]) -> Download:
    file = access.file
    return Download(
        name=file.name,
        title=file.title,
        size_bytes=file.size_bytes,
        sha256=file.sha256 if access.is_open else None,
        available_from=access.available_from,
        audience=access.audience,
        is_open=access.is_open,
        link=api_links.file(*place, file.name),
    )


class ProblemOut(ApiModel):
    """A problem in the file or, with severity `warning`, something to notice in it."""

    code: str = Field(description="stable code for scripts", examples=["duplicate-id"])
    message: str
    file: str | None = Field(description="file in an archive, if there are several")
    line: int | None = Field(description="line number; the header is line 1")
    column: str | None
    text: str | None = Field(description="the offending text, shortened")
    severity: Literal["error", "warning"]
    lines: int = Field(1, description="number of lines with this problem, of which this is the first")
    sentence: str = Field(
        description="place and message together", examples=["line 14: id 203 appears twice, first on line 9"]
    )

    @classmethod
    def stored(cls, problem: Mapping[str, Any]) -> Self:
        """Return a stored problem, without fields that a later version may have added."""
        return cls(**{name: value for name, value in problem.items() if name in cls.model_fields})


#: The meaning of each state, for its user.
STATUS_WORDS = {
    ValidationStatus.QUEUED: "Your file has arrived and waits to be checked.",
    ValidationStatus.RUNNING: "Your file is being checked.",
    ValidationStatus.VALID: "Your file can be scored. This was only a check: nothing was submitted.",
    ValidationStatus.INVALID: "This file cannot be scored yet. Nothing was submitted and your quota is unchanged.",
    ValidationStatus.FAILED: "The check failed, and it was not your fault. Please try again in a while.",
}
_EXAMPLE_VALIDATION = {
    "id": "5f0c7a1e-3a52-4a0f-8a56-0d2c6f3b7e21",
    "status": "invalid",
    "message": STATUS_WORDS[ValidationStatus.INVALID],
    "competition": "demo",
    "phase": "evaluation",
    "task": "idiom-detection",
    "asked_at": "2026-01-11T09:00:00Z",
    "finished_at": "2026-01-11T09:00:00.300Z",
    "kept_until": "2026-01-12T09:00:00Z",
    "filename": "my_predictions.csv",
    "size_bytes": 20480,
    "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "problems": [
        {
            "code": "duplicate-id",
            "message": "id 203 appears twice, first on line 9",
            "file": None,
            "line": 14,
            "column": "ID",
            "text": "203",
            "severity": "error",
            "sentence": "line 14, column ID: id 203 appears twice, first on line 9",
        }
    ],
    "problems_omitted": 0,
    "links": {
        "self": "/api/v1/validations/5f0c7a1e-3a52-4a0f-8a56-0d2c6f3b7e21",
        "problems": "/api/v1/validations/5f0c7a1e-3a52-4a0f-8a56-0d2c6f3b7e21/problems.csv",
        "page": "/validations/5f0c7a1e-3a52-4a0f-8a56-0d2c6f3b7e21",
    },
}


class ValidationLinks(ApiModel):
    """Links from a validation."""

    self: str
    problems: str = Field(description="the problems as CSV")
    page: str = Field(description="for people")


class ValidationOut(ApiModel):
    """A file that is only checked. The statuses `valid`, `invalid` and `failed` are final."""

    model_config = example(_EXAMPLE_VALIDATION)

    id: UUID
    status: ValidationStatus
    message: str = Field(description="the status as a sentence")
    competition: str
    phase: str
    task: str
    asked_at: Moment
    finished_at: Moment | None
    kept_until: Moment = Field(description="when the result is deleted")
    filename: str
    size_bytes: int
    sha256: str
    problems: list[ProblemOut] = Field(description="errors of an invalid file, warnings of a valid one")
    problems_omitted: int = Field(description="number of further problems that are not listed")
    links: ValidationLinks


def describe_validation(validation: Validation) -> ValidationOut:
    """Return the description of a validation from `get_validation`."""
    status, phase_task = ValidationStatus(validation.status), validation.phase_task
    return ValidationOut(
        id=validation.id,
        status=status,
        message=STATUS_WORDS[status],
        competition=phase_task.phase.competition.name,
        phase=phase_task.phase.name,
        task=phase_task.task.name,
        asked_at=validation.asked_at,
        finished_at=validation.finished_at,
        kept_until=validation.asked_at + KEPT,
        filename=validation.filename,
        size_bytes=validation.size_bytes,
        sha256=validation.sha256,
        problems=[ProblemOut.stored(problem) for problem in validation.problems],
        problems_omitted=validation.problems_omitted,
        links=ValidationLinks(
            self=api_links.validation(validation.id),
            problems=api_links.validation_problems(validation.id),
            page=links.validation(validation.id),
        ),
    )


_ID = "0b9f6f0e-6c1f-4a53-9d3c-0f7f6f1d2a11"
_EXAMPLE_LISTED: dict[str, Any] = {
    "id": _ID,
    "submitted_at": "2026-01-10T12:00:00Z",
    "team": "Analytical Engines",
    "kind": "team",
    "submitted_by": "ada",
    "phase": "evaluation",
    "task": "idiom-detection",
    "status": "scored",
    "mark": None,
    "is_late": False,
    "withdrawn_at": None,
    "method": "XLM-R",
    "filename": "predictions.csv",
    "size_bytes": 12345,
    "page": f"/submissions/{_ID}",
}


class ListedSubmissionOut(ApiModel):
    """A submission in the organisers' list."""

    model_config = example(_EXAMPLE_LISTED)

    id: UUID
    submitted_at: Moment
    team: str
    kind: TeamKind
    submitted_by: str
    phase: str
    task: str
    status: RunStatus
    mark: RowStatus | None = Field(description="mark of the submission, or of its team, on this task")
    is_late: bool = Field(description="whether it was accepted after the deadline")
    withdrawn_at: Moment | None
    method: str
    filename: str
    size_bytes: int
    page: str


class ListedSubmissions(ApiModel):
    """All submissions to a competition, newest first."""

    model_config = example({"submissions": [_EXAMPLE_LISTED], "next": None})

    submissions: list[ListedSubmissionOut]
    next: str | None = Field(description="the next page, as in the Link header; null: this is the last")
