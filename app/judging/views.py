"""API schemas for rounds of human judgement, for the API and the pages."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from app.base import links
from app.base.answers import ApiModel, Moment, example
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


class JudgingProgress(ApiModel):
    """The progress of an annotator."""

    model_config = example({"language": "en", "annotator": "anna", "is_active": True, "done": 12, "total": 150})

    language: str
    annotator: str
    is_active: bool = Field(description="false: a name from a file, or somebody who no longer judges")
    done: int
    total: int


class RoundOut(ApiModel):
    """A round, without its results."""

    model_config = example(_ROUND)

    name: str
    competition: str
    phase: str
    task: str
    source: RoundSource
    seed: int
    items: int | None = Field(description="number per language; null: all")
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
    """Krippendorff's alpha, ordinal. units: number of paraphrases that two or more annotators judged."""

    alpha: float | None
    reason: str | None
    units: int


class CorrelationOut(ApiModel):
    """The correlation of human with automatic scores across systems; null with the reason if it is undefined."""

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
    """A round with all its results."""

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
    metric: str = Field(description="name of the automatic metric")
    annotators: dict[str, int] = Field(description="number of judged paraphrases, by language")
    agreement: dict[str, dict[str, AlphaOut]] = Field(
        description="agreement by language, for each question and for `score`"
    )
    systems: list[SystemOut]
    correlations: dict[str, CorrelationOut]
    progress: list[JudgingProgress] = Field(description="for organisers only")

    @property
    def splits(self) -> list[str]:
        """`macro` if there are several languages, followed by the languages."""
        return list(self.correlations)


class ImportOut(ApiModel):
    """The changes made by an import."""

    model_config = example({"round": "human", "added": 300, "changed": 0, "unchanged": 0})

    round: str
    added: int
    changed: int
    unchanged: int


def describe_round(competition: Competition, judging: JudgingRound) -> RoundOut:
    """Return the API object of a round, without its results."""
    return RoundOut(
        name=judging.name,
        competition=competition.name,
        phase=judging.phase_task.phase.name,
        task=judging.phase_task.task.name,
        source=RoundSource(judging.source),
        seed=judging.seed,
        items=judging.items_per_language,
        created_at=judging.created_at,
        published_at=judging.published_at,
        page=links.judging(competition.name, judging.name),
    )
