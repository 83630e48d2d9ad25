"""Validations in JSON: files checked without being submitted, and their problems."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from app.base import api_links, links
from app.base.answers import ApiModel, Moment, example
from app.models import Validation, ValidationStatus
from app.submissions.validations import KEPT
from app.web.submissions.schemas import ProblemOut, known_problem

#: The meaning of each state, for its user.
STATUS_WORDS = {
    ValidationStatus.QUEUED: "Your file has arrived and waits to be checked.",
    ValidationStatus.RUNNING: "Your file is being checked.",
    ValidationStatus.VALID: "Your file can be scored. This was only a check: nothing was submitted.",
    ValidationStatus.INVALID: "This file cannot be scored yet. Nothing was submitted and your quota is unchanged.",
    ValidationStatus.FAILED: "The check failed, and it was not your fault. Please try again in a while.",
}
_EXAMPLE = {
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
    """A file that is only checked. `valid`, `invalid` and `failed` are final."""

    model_config = example(_EXAMPLE)

    id: UUID
    status: ValidationStatus
    message: str = Field(description="the status in a sentence")
    competition: str
    phase: str
    task: str
    asked_at: Moment
    finished_at: Moment | None
    kept_until: Moment = Field(description="then the answer is forgotten")
    filename: str
    size_bytes: int
    sha256: str
    problems: list[ProblemOut] = Field(description="errors of an invalid file, warnings of a valid one")
    problems_omitted: int = Field(description="how many more problems were only counted")
    links: ValidationLinks


def validation_out(validation: Validation) -> ValidationOut:
    """Return a validation, from `get_validation`, as an API model."""
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
        problems=[ProblemOut(**known_problem(problem)) for problem in validation.problems],
        problems_omitted=validation.problems_omitted,
        links=ValidationLinks(
            self=api_links.validation(validation.id),
            problems=api_links.validation_problems(validation.id),
            page=links.validation(validation.id),
        ),
    )
