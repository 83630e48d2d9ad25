"""Rounds of human judgement in JSON: their settings, progress and results."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from pydantic import Field

from app.base import links
from app.base.answers import ApiModel, Moment, example
from app.judging.imports import Imported
from app.judging.results import Progress
from app.judging.summary import Correlation, Summary, System, Value
from app.models import Competition, JudgingRound, RoundSource

_ROUND = {
    "name": "human",
    "competition": "demo",
    "phase": "evaluation",
    "task": "paraphrasing",
    "source": "browser",
    "seed": 17,
    "items": 50,
    "created_at": "2026-01-10T12:00:00Z",
    "published_at": None,
    "page": "/competitions/demo/judging/human",
}


class AnnotatorIn(ApiModel):
    """Somebody who is to judge a language."""

    language: str
    username: str


class RoundRequest(ApiModel):
    """A round to be judged in the browser."""

    model_config = example(
        {
            "name": "human",
            "submissions": [],
            "items": 50,
            "seed": 17,
            "guidelines": "Read the sentence first.",
            "annotators": [{"language": "en", "username": "anna"}],
        }
    )

    name: str = Field("human", description="in addresses")
    submissions: list[UUID] = Field(default=[], max_length=500, description="empty: those that stand on the boards")
    items: int | None = Field(None, description="how many of each language are drawn; null: all")
    seed: int | None = Field(None, description="draws the items and shuffles them; null: one of the server's choice")
    guidelines: str = Field("", description="Markdown, shown to annotators beside every item")
    annotators: list[AnnotatorIn] = Field(default=[], max_length=500)


class JudgingProgress(ApiModel):
    """The progress of an annotator."""

    model_config = example({"language": "en", "annotator": "anna", "is_active": True, "done": 12, "total": 150})

    language: str
    annotator: str
    is_active: bool = Field(description="false: a name from a file, or somebody who judges no more")
    done: int
    total: int


class RoundOut(ApiModel):
    """A round in a few words."""

    model_config = example(_ROUND)

    name: str
    competition: str
    phase: str
    task: str
    source: RoundSource
    seed: int
    items: int | None = Field(description="of each language; null: all")
    created_at: Moment
    published_at: Moment | None
    page: str


class RoundList(ApiModel):
    """The rounds of a competition, newest first."""

    model_config = example({"rounds": [_ROUND]})

    rounds: list[RoundOut]


class ValueOut(ApiModel):
    """A number, or null with the reason."""

    value: float | None
    reason: str | None


class AlphaOut(ApiModel):
    """Krippendorff's alpha, ordinal; units: paraphrases that two or more annotators judged."""

    alpha: float | None
    reason: str | None
    units: int


class CorrelationOut(ApiModel):
    """Correlation of human with automatic scores across systems; if undefined, null with the reason."""

    systems: int
    pearson: float | None
    spearman: float | None
    kendall: float | None
    reason: str | None


class JudgedOut(ApiModel):
    """The number of a system's items that have marks."""

    judged: int
    items: int


class SystemOut(ApiModel):
    """A judged system, with its scores by language and `macro`."""

    team: str
    method: str
    is_baseline: bool
    submission: UUID | None = Field(description="for organisers only")
    human: dict[str, ValueOut]
    automatic: dict[str, ValueOut]
    judged: dict[str, JudgedOut]


class RoundResults(RoundOut):
    """A round with everything that its marks come to."""

    model_config = example(
        {
            **_ROUND,
            "guidelines": "",
            "languages": ["en"],
            "metric": "BERTScore",
            "annotators": {"en": 2},
            "agreement": {"en": {"score": {"alpha": 0.71, "reason": None, "units": 150}}},
            "systems": [
                {
                    "team": "Ada Lovelace",
                    "method": "mT5",
                    "is_baseline": False,
                    "submission": None,
                    "human": {"en": {"value": 0.72, "reason": None}},
                    "automatic": {"en": {"value": 0.81, "reason": None}},
                    "judged": {"en": {"judged": 50, "items": 50}},
                }
            ],
            "correlations": {"en": {"systems": 9, "pearson": 0.92, "spearman": 0.9, "kendall": 0.78, "reason": None}},
            "progress": [],
        }
    )

    guidelines: str
    languages: list[str]
    metric: str = Field(description="what the automatic scores are")
    annotators: dict[str, int] = Field(description="how many judged, by language")
    agreement: dict[str, dict[str, AlphaOut]] = Field(description="by language; of each question, and of `score`")
    systems: list[SystemOut]
    correlations: dict[str, CorrelationOut]
    progress: list[JudgingProgress] = Field(description="for organisers only")


class ImportOut(ApiModel):
    """The changes made by an import."""

    model_config = example({"round": "human", "added": 300, "changed": 0, "unchanged": 0})

    round: str
    added: int
    changed: int
    unchanged: int


def round_out(competition: Competition, judging: JudgingRound) -> RoundOut:
    """Return the round as an API model, without its results."""
    return RoundOut(**_round(competition, judging))


def results_out(
    competition: Competition, judging: JudgingRound, summary: Summary, progress: list[Progress]
) -> RoundResults:
    """Return the round as an API model, with all its results."""
    return RoundResults(
        **_round(competition, judging),
        guidelines=judging.guidelines,
        languages=list(summary.languages),
        metric=summary.metric,
        annotators=dict(summary.annotators),
        agreement={
            language: {measure: AlphaOut(**alpha) for measure, alpha in measures.items()}
            for language, measures in summary.agreement.items()
        },
        systems=[_system(system) for system in summary.systems],
        correlations={split: _correlation(found) for split, found in summary.correlations.items()},
        progress=[progress_out(one) for one in progress],
    )


def progress_out(progress: Progress) -> JudgingProgress:
    """Return an annotator's progress as an API model."""
    return JudgingProgress(
        language=progress.language,
        annotator=progress.name,
        is_active=progress.user_id is not None,
        done=progress.done,
        total=progress.total,
    )


def import_out(imported: Imported) -> ImportOut:
    """Return the changes of an import as an API model."""
    return ImportOut(
        round=imported.judging.name,
        added=imported.added,
        changed=imported.changed,
        unchanged=imported.unchanged,
    )


def _round(competition: Competition, judging: JudgingRound) -> dict[str, Any]:
    return {
        "name": judging.name,
        "competition": competition.name,
        "phase": judging.phase_task.phase.name,
        "task": judging.phase_task.task.name,
        "source": judging.source,
        "seed": judging.seed,
        "items": judging.items_per_language,
        "created_at": judging.created_at,
        "published_at": judging.published_at,
        "page": links.judging(competition.name, judging.name),
    }


def _system(system: System) -> SystemOut:
    return SystemOut(
        team=system.name,
        method=system.method,
        is_baseline=system.is_baseline,
        submission=system.submission_id,
        human={split: _value(value) for split, value in system.human.items()},
        automatic={split: _value(value) for split, value in system.automatic.items()},
        judged={split: JudgedOut(judged=judged, items=items) for split, (judged, items) in system.judged.items()},
    )


def _value(value: Value) -> ValueOut:
    return ValueOut(value=value.value, reason=value.reason)


def _correlation(found: Correlation) -> CorrelationOut:
    return CorrelationOut(systems=found.systems, reason=found.reason, **found.coefficients)
