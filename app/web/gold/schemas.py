"""Gold versions, and what scores reveal of gold, in JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from app.base import links
from app.base.answers import ApiModel, Moment, example
from app.boards.leaks import PhaseLeak
from app.competitions.leak import Level, leak_document, leak_words
from app.models import GoldCheck, GoldVersion, PhaseTask

_EXAMPLE: dict[str, object] = {
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
    "message": "1,000 items with 999 bits; a submission tells at most 10.0 bits (1 score, 4 decimals), …",
}


class RemedyOut(ApiModel):
    """A setting that lowers the share."""

    model_config = example({"setting": "limits.total: 10", "share": 0.0998})

    setting: str = Field(description="as in phases.yaml")
    share: float = Field(description="of the gold that one team could read then, 0 to 1")


class LeakOut(ApiModel):
    """An upper bound for what one team can learn about a task's gold in a whole phase."""

    model_config = example(_EXAMPLE)

    phase: str
    task: str
    items: int | None = Field(description="with an answer of their own; null: no worker has measured the gold")
    gold_bits: float | None = Field(description="the entropy of all answers together")
    is_measured: bool = Field(description="whether it was computed from the gold")
    scores: int = Field(description="how many are shown of a submission")
    decimals: int | None = Field(description="of each; null: all")
    bits_per_submission: float = Field(description="an upper bound of what its shown numbers reveal")
    submissions: int | None = Field(description="that a team may send in the phase; null: any number")
    total_bits: float | None = Field(description="an upper bound of what all reveal together; null: any number")
    share: float | None = Field(description="of the gold that decides the final ranks, read by one team; null: unknown")
    share_of_ten_teams: float | None = Field(description="the same, by ten teams together")
    share_of_public_part: float | None = Field(description="where the items have a private part, which decides")
    level: Level | None = Field(description="`green`: below 10 %; `warning`: 50 % or more")
    remedies: list[RemedyOut] = Field(description="settings that lower the share, those first that are enough")
    message: str = Field(description="all of it in a sentence")


class LeakList(ApiModel):
    """Every task of every phase whose gold is hidden."""

    model_config = example({"leaks": [_EXAMPLE]})

    leaks: list[LeakOut]


def leak_list(found: list[PhaseLeak]) -> LeakList:
    """Return the shares as an API model."""
    return LeakList(
        leaks=[
            LeakOut(
                phase=one.phase.name,
                task=one.phase_task.task.name,
                message=leak_words(one.leak),
                **leak_document(one.leak),
            )
            for one in found
        ]
    )


class GoldProblem(ApiModel):
    """Something that is wrong with a version."""

    code: str
    sentence: str
    file: str | None
    line: int | None


class GoldVersionOut(ApiModel):
    """A version never changes; it can only be put in use."""

    version: int
    commitment: str = Field(description="sha256 of salt and gold, shown on the boards once it is in use")
    filename: str = Field(description="as it was called where it came from")
    content_bytes: int
    put_at: Moment
    put_by: str | None = Field(description="user name; null: the command line")
    in_use_since: Moment | None = Field(description="null: prepared; publishing puts it in use for new submissions")
    is_public: bool = Field(description="declared public at the upload")
    check: GoldCheck = Field(description="whether a worker has read it, and found that it fits the items")
    checked_at: Moment | None
    used_when_valid: bool = Field(description="it is put in use as soon as its check ends well")
    problems: list[GoldProblem] = Field(description="what is wrong in which line, without what stands there")
    problems_omitted: int = Field(description="how many more there are")
    waits_because: str | None = Field(description="why no worker could check it so far")


class GoldList(ApiModel):
    """The sealed gold of a task in a phase, oldest version first."""

    model_config = example(
        {
            "competition": "demo",
            "phase": "evaluation",
            "task": "idiom-detection",
            "versions": [
                {
                    "version": 1,
                    "commitment": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                    "filename": "gold.csv",
                    "content_bytes": 4711,
                    "put_at": "2026-01-09T12:00:00Z",
                    "put_by": "grace",
                    "in_use_since": "2026-01-09T12:00:00Z",
                    "is_public": False,
                    "check": "valid",
                    "checked_at": "2026-01-09T12:00:02Z",
                    "used_when_valid": False,
                    "problems": [],
                    "problems_omitted": 0,
                    "waits_because": None,
                }
            ],
            "page": "/competitions/demo/phases/evaluation/tasks/idiom-detection/gold",
        }
    )

    competition: str
    phase: str
    task: str
    versions: list[GoldVersionOut]
    page: str


def gold_list(phase_task: PhaseTask, versions: Sequence[GoldVersion]) -> GoldList:
    """Return the versions as an API model; their users must be loaded."""
    place = (phase_task.phase.competition.name, phase_task.phase.name, phase_task.task.name)
    competition, phase, task = place
    found = [_version(version) for version in versions]
    return GoldList(competition=competition, phase=phase, task=task, versions=found, page=links.gold(*place))


def _version(version: GoldVersion) -> GoldVersionOut:
    return GoldVersionOut(
        version=version.number,
        commitment=version.commitment,
        filename=version.filename,
        content_bytes=version.content_bytes,
        put_at=version.created_at,
        put_by=version.created_by.username if version.created_by else None,
        in_use_since=version.published_at,
        is_public=version.is_public,
        check=version.check_state,
        checked_at=version.checked_at,
        used_when_valid=version.publish_when_valid,
        problems=[_problem(one) for one in version.problems],
        problems_omitted=version.problems_omitted,
        waits_because=version.check_failure,
    )


def _problem(document: Mapping[str, Any]) -> GoldProblem:
    return GoldProblem(**{name: document.get(name) for name in GoldProblem.model_fields})
