"""API schemas for gold versions, for organisers; none of them contains gold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field
from sqlalchemy.orm import Session

from app.base import links
from app.base.answers import ApiModel, Moment, example
from app.gold.versions import is_for_another_program
from app.models import GoldCheck, GoldVersion, PhaseTask


class GoldProblem(ApiModel):
    """A problem of a gold version."""

    code: str
    sentence: str
    file: str | None
    line: int | None


class GoldVersionOut(ApiModel):
    """A version of gold, which never changes; it can only be put in use."""

    version: int
    commitment: str = Field(description="sha256 of salt and gold, shown on the boards once it is in use")
    filename: str = Field(description="name of the uploaded file or folder")
    content_bytes: int
    put_at: Moment
    put_by: str | None = Field(description="user name; null: the command line")
    in_use_since: Moment | None = Field(
        description="null: not in use yet; publishing puts it in use for new submissions"
    )
    is_public: bool = Field(description="whether it was declared public at the upload")
    check: GoldCheck = Field(description="whether a worker has read it, and it fits the items")
    checked_at: Moment | None
    used_when_valid: bool = Field(description="whether it is put in use as soon as it passes its check")
    problems: list[GoldProblem] = Field(description="problems by line, without the values")
    problems_omitted: int = Field(description="number of further problems")
    explanation: str | None = Field(
        description=(
            "problems with the values: a NaCl box for the `reader` of the upload, in base64: public key (32 bytes), "
            "nonce (24), and a JSON document with `problems` and `omitted`; null: nothing is wrong, or there is no "
            "reader"
        )
    )
    waits_because: str | None = Field(description="why no worker has been able to check it")


class GoldList(ApiModel):
    """The sealed gold of a task in a phase, oldest version first."""

    model_config = example(
        {
            "competition": "demo",
            "phase": "evaluation",
            "task": "idiom-detection",
            "is_for_another_program": False,
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
                    "explanation": None,
                    "waits_because": None,
                }
            ],
            "page": "/competitions/demo/phases/evaluation/tasks/idiom-detection/gold",
        }
    )

    competition: str
    phase: str
    task: str
    is_for_another_program: bool = Field(
        description="whether the version in use was sealed for another program, command or environment than the task "
        "has now: submissions wait until it is uploaded again"
    )
    versions: list[GoldVersionOut]
    page: str


def describe_gold(session: Session, phase_task: PhaseTask, versions: Sequence[GoldVersion]) -> GoldList:
    """Return the API object of the gold versions of a task; their users must be loaded."""
    other = is_for_another_program(session, phase_task, versions)
    place = (phase_task.phase.competition.name, phase_task.phase.name, phase_task.task.name)
    competition, phase, task = place
    found = [_describe_version(version) for version in versions]
    return GoldList(
        competition=competition,
        phase=phase,
        task=task,
        is_for_another_program=other,
        versions=found,
        page=links.gold(*place),
    )


def _describe_version(version: GoldVersion) -> GoldVersionOut:
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
        explanation=version.sealed_explanation,
        waits_because=version.check_failure,
    )


def _problem(document: Mapping[str, Any]) -> GoldProblem:
    return GoldProblem(**{name: document.get(name) for name in GoldProblem.model_fields})
