"""API schemas for competitions, shared by the API, the pages and the command line."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import datetime

from pydantic import ConfigDict, Field

from app.base import api_links, links
from app.base.answers import ApiModel, Mirror, Moment, Named, example
from app.base.config import Settings
from app.competitions import limits
from app.competitions.allowances import GrantedExtension
from app.competitions.confirmation import Confirmation
from app.competitions.find import boards_of
from app.competitions.leak import COLLUDING, Leak, Level, leak_words
from app.competitions.life import life_of
from app.competitions.limits import PhaseState, phase_state
from app.competitions.tracks import tracks_of
from app.competitions.visibility import View
from app.models import BoardShown, Competition, EntryRule, Halt, Phase, PhaseTask, Slices, Stage
from evergold.scoring.halves import Half

EXAMPLE_VISIBILITY = {
    "board": "public",
    "board_at": None,
    "names": True,
    "names_at": None,
    "own_scores": True,
    "own_scores_at": None,
    "slices": "ranked",
    "slices_at": "2026-03-01T12:00:00Z",
    "precision": 4,
    "part": None,
    "private_at": None,
}


class VisibilityOut(Mirror):
    """The participants' current view. Organisers see everything; this shows them what is hidden from others."""

    model_config = ConfigDict(populate_by_name=True)

    board: BoardShown = Field(description="what is shown of the boards: nothing, ranks without scores, or everything")
    board_at: Moment | None = Field(
        description="when boards become public; null: they already are, or no moment is set"
    )
    names: bool = Field(description="false: rows of teams have neutral names")
    names_at: Moment | None = Field(
        description="when teams are shown by name; null: they already are, or no moment is set"
    )
    own_scores: bool = Field(description="whether teams see the scores of their own submissions")
    own_scores_at: Moment | None = Field(description="when teams will see them; null: they already do, or never will")
    slices: Slices = Field(
        description=(
            "which scores are shown: those that rank (`none`; `ranked`: until the phase ends), those in `columns` "
            "of boards, or `all`. While a phase with hidden gold is open, intervals and p are shown only with `all`"
        )
    )
    slices_at: Moment | None = Field(
        description="when all slices are shown; null: they already are, or no moment is set"
    )
    precision: int | None = Field(
        description="number of decimals of values (values of 10 or more have fewer); null: all"
    )
    part: Half | None = Field(
        validation_alias="half", description="the part of the items that ranks boards now; null: items are not divided"
    )
    private_at: Moment | None = Field(
        description="when the private part will rank them; null: it already does, or there is none"
    )


def describe_visibility(view: View) -> VisibilityOut:
    """Return the API object of the participants' view, the same for every viewer."""
    return VisibilityOut.model_validate(view.participant_view)


EXAMPLE_LIMITS = {
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
    "limits": EXAMPLE_LIMITS,
    "tasks": [{"name": "idiom-detection", "title": "Idiom detection"}],
    "boards": [{"name": "zero-shot", "title": "Zero-shot"}],
    "link": "/api/v1/competitions/demo/phases/evaluation",
}
EXAMPLE_TRACK = {"name": "closed", "title": "Closed", "description": "Nothing but the data provided."}
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
    "tracks": [EXAMPLE_TRACK],
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


class Limits(Mirror):
    """Per team and task of a phase; null: no limit. Rejected and failed submissions do not count."""

    per_day: int | None = Field(description="submissions per day (UTC)")
    per_week: int | None = Field(description="submissions per week (UTC, from Monday)")
    per_month: int | None = Field(description="submissions per calendar month (UTC)")
    total: int | None
    rejected_per_hour: int = Field(description="uploads in any 60 minutes that may be rejected or fail")
    upload_bytes: int


class Quota(ApiModel):
    """The used and remaining submissions of the viewer's team for a task in a phase; null: no limit."""

    used_today: int
    used_week: int = Field(0, description="used since Monday (UTC)")
    used_month: int = Field(0, description="used since the first of the month (UTC)")
    used_total: int
    rejected_last_hour: int = Field(description="rejected and failed uploads, which take workers' time")
    remaining: int | None = Field(description="submissions left right now")
    day_ends_at: Moment
    extra_per_day: int = Field(0, description="extra submissions allowed to this team; `remaining` includes them")
    extra_total: int = Field(0, description="as `extra_per_day`")
    open_until: Moment | None = Field(None, description="this team's deadline; null: that of the phase")


class TrackOut(Named):
    """A kind of system that is ranked separately from others; each submission names one."""

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
        description="which of a team's submissions counts on the boards; a task may have another rule"
    )
    carries_over: str | None = Field(description="the phase whose entries these boards also show")
    limits: Limits
    tasks: list[Named]
    boards: list[Named]
    link: str


class PaperOut(ApiModel):
    """The overview paper; empty fields are not given."""

    title: str
    authors: list[str] = Field(
        description="names as in BibTeX; the competition's authors if the paper has none of its own"
    )
    venue: str
    year: int | None
    url: str
    doi: str

    @property
    def address(self) -> str:
        """The address of the paper."""
        return f"https://doi.org/{self.doi}" if self.doi else self.url


class CitationOut(ApiModel):
    """The citation of the competition; as BibTeX at `/citation`."""

    authors: list[str] = Field(
        description="names as in BibTeX; empty: citations give “The organisers of …” as the author"
    )
    licence: str = Field(description="licence of the data; empty: not given")
    paper: PaperOut | None = Field(description="null: there is no paper yet")


class CompetitionOut(Named):
    """A competition with all its parts."""

    model_config = example(_EXAMPLE_COMPETITION)

    summary: str
    description: str = Field(description="Markdown")
    website: str
    contact: str
    stage: Stage = Field(description="who may see it")
    halt: Halt = Field(description="`paused`: no uploads; `archived`: nothing can be changed")
    halt_reason: str = Field(description="the organisers' reason, one line; may be empty")
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


def describe_competition(competition: Competition, settings: Settings, now: datetime) -> CompetitionOut:
    """Return the API object of a competition, from `find_competition`, with all its parts."""
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
        tracks=tracks_of(competition),
        citation=citation_of(competition),
        tasks=[
            TaskSummary(name=one.name, title=one.title, type=one.task_type, description=one.description)
            for one in competition.tasks
        ],
        phases=[describe_phase(competition, phase, settings, now) for phase in competition.phases],
        link=api_links.competition(competition.name),
        page=links.competition(competition.name),
    )


def describe_phase(competition: Competition, phase: Phase, settings: Settings, now: datetime) -> PhaseOut:
    """Return the API object of a phase of a competition, from `find_competition`."""
    return PhaseOut(
        name=phase.name,
        title=phase.title,
        description=phase.description,
        state=phase_state(phase, now),
        starts_at=phase.starts_at,
        ends_at=phase.ends_at,
        entry_rule=EntryRule(phase.entry_rule),
        carries_over=phase.carry_over,
        limits=describe_limits(phase, None, settings),
        tasks=[phase_task.task for phase_task in phase.phase_tasks],
        boards=boards_of(competition, phase),
        link=api_links.phase(competition.name, phase.name),
    )


def citation_of(competition: Competition) -> CitationOut:
    """Return the declared citation; a paper without authors has those of the competition."""
    declared = competition.citation
    authors, paper = list(declared.get("authors", ())), declared.get("paper")
    return CitationOut(
        authors=authors,
        licence=declared.get("licence") or "",
        paper=PaperOut(
            title=paper["title"],
            authors=list(paper.get("authors") or authors),
            venue=paper.get("venue") or "",
            year=paper.get("year"),
            url=paper.get("url") or "",
            doi=paper.get("doi") or "",
        )
        if paper is not None
        else None,
    )


def describe_limits(phase: Phase, phase_task: PhaseTask | None, settings: Settings) -> Limits:
    """Return the limits of the task in this phase, or of the phase; files are never larger than the server allows."""
    declared = limits.declared_limits(phase, phase_task)
    return Limits.model_validate(
        replace(declared, upload_bytes=min(declared.upload_bytes, settings.upload_limit_bytes))
    )


def describe_quota(used: limits.Quota) -> Quota:
    """Return the API object of a team's quota with its extension."""
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


_EXAMPLE_ALLOWANCE: dict[str, object] = {
    "id": 3,
    "phase": "evaluation",
    "team": "Ada Lovelace",
    "until": "2026-02-03T12:00:00Z",
    "is_ranked": False,
    "extra_per_day": 0,
    "extra_total": 2,
    "in_official": None,
    "reason": "their cluster was down",
    "granted_by": "grace",
    "granted_at": "2026-02-01T12:00:00Z",
}


class AllowanceOut(ApiModel):
    """An extension for one team in a phase, with the user who granted it and the time."""

    model_config = example(_EXAMPLE_ALLOWANCE)

    id: int
    phase: str
    team: str
    until: Moment | None
    is_ranked: bool
    extra_per_day: int
    extra_total: int
    in_official: bool | None = Field(
        description=(
            "whether late entries count in the official results, which wait for ranked late entries; false: frozen "
            "before the extension ends; null: no late entries or no official results"
        )
    )
    reason: str
    granted_by: str | None = Field(description="a user name; null: on the command line")
    granted_at: Moment


class AllowancesOut(ApiModel):
    """All extensions of single teams, by phase and team."""

    model_config = example({"allowances": [_EXAMPLE_ALLOWANCE]})

    allowances: list[AllowanceOut]


def describe_allowance(granted: GrantedExtension) -> AllowanceOut:
    """Return the API object of an extension with the names of its phase and team."""
    row = granted.allowance
    return AllowanceOut(
        id=row.id,
        phase=granted.phase.name,
        team=granted.team,
        until=row.until,
        is_ranked=row.is_ranked,
        extra_per_day=row.extra_per_day,
        extra_total=row.extra_total,
        in_official=granted.late.count if granted.late else None,
        reason=row.reason,
        granted_by=granted.granted_by,
        granted_at=row.granted_at,
    )


class LifeOut(ApiModel):
    """The status of a competition."""

    model_config = example(
        {"stage": "published", "halt": "paused", "reason": "the gold of track B is corrected", "delete_at": None}
    )

    stage: Stage
    halt: Halt
    reason: str
    delete_at: Moment | None = Field(description="when it is deleted permanently, unless the deletion is cancelled")


def describe_life(competition: Competition) -> LifeOut:
    """Return the API object of the status of a competition."""
    life = life_of(competition)
    return LifeOut(stage=life.stage, halt=life.halt, reason=life.reason, delete_at=competition.delete_at)


class BaselineScoreOut(ApiModel):
    """A score of a baseline next to the declared one."""

    phase: str
    task: str
    baseline: str
    metric: str = Field(description="empty: nothing is scored yet")
    split: str
    value: float | None
    reason: str = Field(description="why there is no value; otherwise empty")
    declared: float | None = Field(description="expected score, from the bundle or the organisers")
    agrees: bool | None = Field(description="whether the score is the expected one; null: none is declared")


class VerdictOut(ApiModel):
    """An organiser's decision on the scores of baselines."""

    is_confirmed: bool
    by: str
    at: Moment
    reason: str = Field(description="why the scores were not confirmed; otherwise empty")


class ConfirmationOut(ApiModel):
    """The scores that an organiser has to confirm before others see an imported competition."""

    model_config = example(
        {
            "reasons": ["Its baselines had scores on the other system"],
            "scores": [
                {
                    "phase": "development",
                    "task": "english",
                    "baseline": "Solution 1",
                    "metric": "macro-F1",
                    "split": "all",
                    "value": 0.34146341463414637,
                    "reason": "",
                    "declared": 0.3415,
                    "agrees": True,
                }
            ],
            "fault": "",
            "verdict": {"is_confirmed": True, "by": "olga", "at": "2027-01-18T12:00:00Z", "reason": ""},
        }
    )

    reasons: list[str] = Field(description="why the scores must be compared; empty: nothing needs confirming")
    scores: list[BaselineScoreOut]
    fault: str = Field(description="why the scores cannot be confirmed now; empty: they can")
    verdict: VerdictOut | None


def describe_confirmation(found: Confirmation | None) -> ConfirmationOut:
    """Return the API object of the scores to confirm, with the decision, if there is one."""
    if found is None:
        return ConfirmationOut(reasons=[], scores=[], fault="", verdict=None)
    return ConfirmationOut.model_validate(found, from_attributes=True)


_EXAMPLE_LEAK: dict[str, object] = {
    "phase": "evaluation",
    "task": "idiom-detection",
    "items": 1000,
    "gold_bits": 998.8,
    "is_measured": True,
    "scores": 1,
    "decimals": 4,
    "bits_per_submission": 9.97,
    "submissions": 11,
    "total_bits": 109.6,
    "share": 0.11,
    "share_of_ten_teams": 1.0,
    "share_of_public_part": None,
    "level": "fair",
    "remedies": [{"setting": "limits.total: 10", "share": 0.0998}],
    "message": "1,000 items with 999 bits; a submission reveals at most 10.0 bits (1 score, 4 decimals), …",
}


class RemedyOut(ApiModel):
    """A setting that lowers the share of the gold that a team could infer."""

    model_config = example({"setting": "limits.total: 10", "share": 0.0998})

    setting: str = Field(description="the setting, as in phases.yaml")
    share: float = Field(description="share of the gold that one team could infer then, 0 to 1")


class LeakOut(ApiModel):
    """An upper bound on how much of a task's gold one team can infer in a whole phase."""

    model_config = example(_EXAMPLE_LEAK)

    phase: str
    task: str
    items: int | None = Field(
        description="number of items with their own answer; null: no worker has measured the gold"
    )
    gold_bits: float | None = Field(description="the entropy of all answers together")
    is_measured: bool = Field(description="whether it was computed from the gold")
    scores: int = Field(description="number of scores shown of a submission")
    decimals: int | None = Field(description="decimals of each score; null: all")
    bits_per_submission: float = Field(description="upper bound of the bits that the scores of a submission reveal")
    submissions: int | None = Field(
        description="number of submissions that a team may send in the phase; null: any number"
    )
    total_bits: float | None = Field(
        description="upper bound of the bits that all submissions together reveal; null: no limit of submissions"
    )
    share: float | None = Field(
        description="share of the gold behind the final ranks that one team can infer; null: unknown"
    )
    share_of_ten_teams: float | None = Field(
        description="share of the gold behind the final ranks that ten teams together can infer; null: unknown"
    )
    share_of_public_part: float | None = Field(
        description="share of the public part that one team can infer, if a private part decides the ranks"
    )
    level: Level | None = Field(description="`green`: below 10 %; `warning`: 50 % or more")
    remedies: list[RemedyOut] = Field(description="settings that lower the share, sufficient ones first")
    message: str = Field(description="a summary in one sentence")


class LeakList(ApiModel):
    """Every task in a phase whose gold is hidden."""

    model_config = example({"leaks": [_EXAMPLE_LEAK]})

    leaks: list[LeakOut]


def describe_leak(phase: str, task: str, leak: Leak) -> LeakOut:
    """Return the API object of the bound. phase, task: their names."""
    size = leak.size
    return LeakOut(
        phase=phase,
        task=task,
        items=size.items if size else None,
        gold_bits=round(size.bits, 1) if size else None,
        is_measured=size.is_measured if size else False,
        scores=leak.scores,
        decimals=leak.decimals,
        bits_per_submission=round(leak.bits, 2),
        submissions=leak.submissions,
        total_bits=None if math.isinf(leak.total_bits) else round(leak.total_bits, 1),
        share=leak.share,
        share_of_ten_teams=leak.share_of(COLLUDING),
        share_of_public_part=leak.public_share if leak.is_divided else None,
        level=leak.level,
        remedies=[RemedyOut.model_validate(one, from_attributes=True) for one in leak.remedies],
        message=leak_words(leak),
    )
