"""Competitions in JSON, with their phases, tasks, limits and downloads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from pydantic import Field

from app.base import api_links, links
from app.base.answers import ApiModel, Moment, Named, example
from app.base.config import Settings
from app.boards.citations import authors_of, paper_of
from app.competitions import limits
from app.competitions.entry_rules import entry_settings
from app.competitions.find import boards_of
from app.competitions.limits import PhaseState, phase_state
from app.competitions.tracks import tracks_of
from app.competitions.visibility import View
from app.models import Audience, Board, Competition, CompetitionTask, EntryRule, Halt, Phase, PhaseTask, Stage
from app.submissions.downloads import FileAccess
from app.web.competitions.visibility_schemas import EXAMPLE_VISIBILITY, VisibilityOut, visibility_out

_EXAMPLE_LIMITS = {
    "per_day": 10,
    "per_week": None,
    "per_month": None,
    "total": None,
    "rejected_per_hour": 60,
    "upload_bytes": 16777216,
}
_EXAMPLE_PHASE = {
    "name": "evaluation",
    "title": "Evaluation",
    "description": "",
    "state": "open",
    "starts_at": "2026-01-10T12:00:00Z",
    "ends_at": "2026-02-01T12:00:00Z",
    "entry_rule": "best",
    "carries_over": None,
    "limits": _EXAMPLE_LIMITS,
    "tasks": [{"name": "idiom-detection", "title": "Idiom detection"}],
    "boards": [{"name": "zero-shot", "title": "Zero-shot"}],
    "link": "/api/v1/competitions/demo/phases/evaluation",
}
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
_EXAMPLE_TRACK = {"name": "closed", "title": "Closed", "description": "Nothing but the data provided."}
_EXAMPLE_COMPETITION = {
    "name": "demo",
    "title": "Idioms in three languages",
    "summary": "Which sentences mean what they say?",
    "description": "Markdown.",
    "website": "https://example.org",
    "contact": "organisers@example.org",
    "stage": "published",
    "halt": "none",
    "halt_reason": "",
    "tracks": [_EXAMPLE_TRACK],
    "citation": {
        "authors": ["Silva, Ana", "Li, Bo"],
        "licence": "CC-BY-4.0",
        "paper": {
            "title": "Idioms in three languages",
            "authors": ["Silva, Ana"],
            "venue": "Proceedings of SemEval-2027",
            "year": 2027,
            "url": "",
            "doi": "10.18653/v1/2027.semeval-1.1",
        },
    },
    "tasks": [
        {"name": "idiom-detection", "title": "Idiom detection", "type": "idiom-detection", "description": "Markdown."}
    ],
    "phases": [_EXAMPLE_PHASE],
    "link": "/api/v1/competitions/demo",
    "page": "/competitions/demo",
}


class Limits(ApiModel):
    """Per team and task of a phase; null: no limit. Rejected and failed submissions do not count."""

    per_day: int | None = Field(description="days of UTC")
    per_week: int | None = Field(description="weeks of UTC, from Monday on")
    per_month: int | None = Field(description="months of UTC")
    total: int | None
    rejected_per_hour: int = Field(description="uploads in any 60 minutes that were rejected or failed")
    upload_bytes: int


class Quota(ApiModel):
    """The used and remaining submissions of the viewer's team for a task in a phase; null: no limit."""

    used_today: int
    used_week: int = Field(0, description="since Monday, of UTC")
    used_month: int = Field(0, description="since the first, of UTC")
    used_total: int
    rejected_last_hour: int = Field(description="rejected ones and failed ones: each took a worker's time")
    remaining: int | None = Field(description="submissions left right now")
    day_ends_at: Moment
    extra_per_day: int = Field(0, description="what the organisers allow this team besides, in `remaining` already")
    extra_total: int = Field(0, description="as `extra_per_day`")
    open_until: Moment | None = Field(None, description="for this team; null: as for everybody, see the phase")


class TrackOut(Named):
    """A kind of system that competes apart from others; a submission names one."""

    description: str


class TaskSummary(Named):
    """A task of a competition; `type` is the task type, as `evergold tasks` lists it."""

    type: str
    description: str = Field(description="Markdown")


class PhaseOut(Named):
    """A phase: open from `starts_at` (included) to `ends_at` (excluded; null: for ever)."""

    model_config = example(_EXAMPLE_PHASE)

    description: str
    state: PhaseState
    starts_at: Moment
    ends_at: Moment | None
    entry_rule: EntryRule = Field(
        description="which of a team's submissions stands on the boards; a task may have another"
    )
    carries_over: str | None = Field(description="the phase whose entries stand on these boards, too")
    limits: Limits
    tasks: list[Named]
    boards: list[Named]
    link: str


class PaperOut(ApiModel):
    """The overview paper; empty: not given."""

    title: str
    authors: list[str] = Field(description="as BibTeX has them; those of the competition, if it has none of its own")
    venue: str
    year: int | None
    url: str
    doi: str


class CitationOut(ApiModel):
    """The citation of the competition; as BibTeX at `/citation`."""

    authors: list[str] = Field(description="as BibTeX has them; empty: the organisers, without names")
    licence: str = Field(description="of the data; empty: not given")
    paper: PaperOut | None = Field(description="null: there is none yet")


class CompetitionOut(Named):
    """A competition with everything in it."""

    model_config = example(_EXAMPLE_COMPETITION)

    summary: str
    description: str = Field(description="Markdown")
    website: str
    contact: str
    stage: Stage = Field(description="who may see it")
    halt: Halt = Field(description="`paused`: no uploads; `archived`: nothing is changed any more")
    halt_reason: str = Field(description="a line of the organisers'; empty: none")
    tracks: list[TrackOut] = Field(description="empty: submissions have no track")
    citation: CitationOut
    tasks: list[TaskSummary]
    phases: list[PhaseOut]
    link: str
    page: str


class CompetitionList(ApiModel):
    """All competitions of this server."""

    model_config = example({"competitions": [_EXAMPLE_COMPETITION]})

    competitions: list[CompetitionOut]


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
            "tracks": [_EXAMPLE_TRACK],
            "limits": _EXAMPLE_LIMITS,
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


# ------------------------------------------------------------------------------------------------------- out of rows


def describe_competition(competition: Competition, settings: Settings, now: datetime) -> CompetitionOut:
    """Return a competition, from `find_competition`, with everything in it."""
    return CompetitionOut(
        name=competition.name,
        title=competition.title,
        summary=competition.summary,
        description=competition.description,
        website=competition.website,
        contact=competition.contact,
        stage=Stage(competition.stage),
        halt=Halt(competition.halt),
        halt_reason=competition.halt_reason,
        tracks=_tracks(competition),
        citation=_citation(competition),
        tasks=[_task(task) for task in competition.tasks],
        phases=[describe_phase(competition, phase, settings, now) for phase in competition.phases],
        link=api_links.competition(competition.name),
        page=links.competition(competition.name),
    )


def describe_phase(competition: Competition, phase: Phase, settings: Settings, now: datetime) -> PhaseOut:
    """Return a phase of a competition, from `find_competition`."""
    return PhaseOut(
        name=phase.name,
        title=phase.title,
        description=phase.description,
        state=phase_state(phase, now),
        starts_at=phase.starts_at,
        ends_at=phase.ends_at,
        entry_rule=EntryRule(phase.entry_rule),
        carries_over=phase.carry_over,
        limits=_limits(limits.declared_limits(phase), settings),
        tasks=[Named(name=asked.task.name, title=asked.task.title) for asked in phase.phase_tasks],
        boards=[_named_board(board) for board in boards_of(competition, phase)],
        link=api_links.phase(competition.name, phase.name),
    )


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
        visibility=visibility_out(view),
        tracks=_tracks(phase.competition),
        limits=_limits(limits.declared_limits(phase, phase_task), settings),
        quota=_quota(used) if used else None,
        downloads=[_download(one, place) for one in files],
        boards=[_named_board(board) for board in boards],
        link=api_links.task(*place),
        submissions_link=api_links.submit(*place),
    )


def _citation(competition: Competition) -> CitationOut:
    paper = paper_of(competition)
    return CitationOut(
        authors=list(authors_of(competition)),
        licence=competition.citation.get("licence") or "",
        paper=PaperOut.model_validate(paper, from_attributes=True) if paper else None,
    )


def _task(task: CompetitionTask) -> TaskSummary:
    return TaskSummary(name=task.name, title=task.title, type=task.task_type, description=task.description)


def _tracks(competition: Competition) -> list[TrackOut]:
    return [TrackOut.model_validate(one, from_attributes=True) for one in tracks_of(competition)]


def _named_board(board: Board) -> Named:
    return Named(name=board.name, title=board.title)


def _limits(declared: limits.DeclaredLimits, settings: Settings) -> Limits:
    upload_bytes = min(declared.upload_bytes, settings.upload_limit_bytes)
    return Limits.model_validate(replace(declared, upload_bytes=upload_bytes), from_attributes=True)


def _quota(used: limits.Quota) -> Quota:
    return Quota(
        used_today=used.used_today,
        used_week=used.used_week,
        used_month=used.used_month,
        used_total=used.used_total,
        rejected_last_hour=used.rejected_last_hour,
        remaining=used.remaining,
        day_ends_at=used.day_ends_at,
        extra_per_day=used.allowance.extra_per_day if used.allowance else 0,
        extra_total=used.allowance.extra_total if used.allowance else 0,
        open_until=used.allowance.until if used.allowance else None,
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
