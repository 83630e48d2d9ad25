"""The answers about submitting: a task in a phase, its downloads, the submissions and validations sent to it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pydantic import Field

from app.base import api_links
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
from app.models import Audience, Board, EntryRule, Halt, PhaseTask
from app.submissions.downloads import FileAccess

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
    """A file of a task."""

    name: str
    title: str
    size_bytes: int
    sha256: str | None = Field(description="null as long as you may not have the file")
    available_from: Moment | None = Field(description="null: it was there at once")
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
    accepts_submissions: bool = Field(description="the phase is open, or still so for your team, and its gold is there")
    entry_rule: EntryRule = Field(description="which of a team's submissions stands on the boards")
    choose_until: Moment | None = Field(description="with entry rule `chosen`: until then; null: for ever")
    visibility: VisibilityOut
    tracks: list[TrackOut] = Field(description="a submission names one of them; empty: none")
    limits: Limits
    quota: Quota | None = Field(description="null for anonymous viewers")
    downloads: list[Download] = Field(
        description="blind items, whatever the organisers offer, a template to fill in (theirs, or made from the items)"
    )
    boards: list[Named]
    link: str
    submissions_link: str = Field(description="POST your file here")


def describe_phase_task(
    phase_task: PhaseTask,
    boards: list[Board],
    settings: Settings,
    used: limits.Quota | None,
    view: View,
    files: Sequence[FileAccess],
    now: datetime,
) -> PhaseTaskOut:
    """Return a task of a phase, from `find_phase_task`, with the viewer's quota and files."""
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
