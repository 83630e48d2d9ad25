"""Submissions: where they are, what they scored, what is wrong with them."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from app.api import links
from app.api.base import ApiModel, Moment, example
from app.models import RunStatus, ScoreRow, Submission
from app.queries import current_run

#: What each state means, said to the team. `failed` never tells more: its reason is for organisers.
STATUS_WORDS = {
    RunStatus.QUEUED: "Your file has arrived and waits to be scored.",
    RunStatus.RUNNING: "Your file is being checked and scored.",
    RunStatus.SCORED: "Your file was scored.",
    RunStatus.REJECTED: "Your file has problems and was not scored. It costs nothing of your quota.",
    RunStatus.FAILED: "Scoring failed, and it was not your fault. It costs nothing of your quota; "
    "the organisers can see it.",
}

_EXAMPLE = {
    "id": "0b9f2c58-7c0e-4b0e-9d5c-0d7f3a2b9c11",
    "status": "scored",
    "message": STATUS_WORDS[RunStatus.SCORED],
    "competition": "demo",
    "phase": "evaluation",
    "task": "idiom-detection",
    "team": "Ada Lovelace",
    "submitted_by": "ada",
    "submitted_at": "2026-01-11T09:00:00Z",
    "started_at": "2026-01-11T09:00:00.120Z",
    "finished_at": "2026-01-11T09:00:00.300Z",
    "queue_position": None,
    "filename": "my_predictions.csv",
    "track": None,
    "size_bytes": 20480,
    "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "method": "XLM-R large",
    "description": "",
    "scores": [
        {
            "metric": "macro_f1",
            "split": "zero_shot/all",
            "value": 0.7037,
            "reason": None,
            "signature": "idiom-detection:1|macro_f1|zero_shot/all|labels:0,1",
        },
        {
            "metric": "macro_f1",
            "split": "one_shot/all",
            "value": None,
            "reason": "not entered",
            "signature": "idiom-detection:1|macro_f1|one_shot/all|labels:0,1",
        },
    ],
    "problems": [],
    "problems_omitted": 0,
    "links": {
        "self": "/api/v1/submissions/0b9f2c58-7c0e-4b0e-9d5c-0d7f3a2b9c11",
        "file": "/api/v1/submissions/0b9f2c58-7c0e-4b0e-9d5c-0d7f3a2b9c11/file",
        "report": "/api/v1/submissions/0b9f2c58-7c0e-4b0e-9d5c-0d7f3a2b9c11/report",
        "task": "/api/v1/competitions/demo/phases/evaluation/tasks/idiom-detection",
        "page": "/submissions/0b9f2c58-7c0e-4b0e-9d5c-0d7f3a2b9c11",
    },
}


class ScoreOut(ApiModel):
    """One score: a fraction with full precision, or null with the reason why it is undefined."""

    metric: str
    split: str
    value: float | None
    reason: str | None
    signature: str = Field(description="how it was computed; scores compare if and only if these are equal")


class ProblemOut(ApiModel):
    """One thing wrong with the file (or, as a warning, noticed in it)."""

    code: str = Field(description="stable word for scripts", examples=["duplicate-id"])
    message: str
    file: str | None = Field(description="member of an archive, if there are several")
    line: int | None = Field(description="counted from 1; the header is line 1")
    column: str | None
    text: str | None = Field(description="the offending text, shortened")
    severity: Literal["error", "warning"]
    sentence: str = Field(
        description="place and message in one", examples=["line 14: id 203 appears twice, first on line 9"]
    )


class SubmissionLinks(ApiModel):
    """Where to go from a submission."""

    self: str
    file: str = Field(description="the file as you sent it")
    report: str | None = Field(description="every score and the task's own report; null until it is scored")
    task: str
    page: str = Field(description="for people")


class SubmissionOut(ApiModel):
    """A submission as its team sees it. `scored`, `rejected` and `failed` are final, and come with their results."""

    model_config = example(_EXAMPLE)

    id: UUID
    status: RunStatus
    message: str = Field(description="the status in a sentence")
    competition: str
    phase: str
    task: str
    team: str
    submitted_by: str
    submitted_at: Moment
    started_at: Moment | None
    finished_at: Moment | None
    queue_position: int | None = Field(description="1: next in line; null: not waiting")
    filename: str
    size_bytes: int
    sha256: str
    track: str | None = Field(description="null where the competition had no tracks")
    method: str
    description: str
    scores: list[ScoreOut]
    problems: list[ProblemOut]
    problems_omitted: int = Field(description="how many more problems were only counted")
    links: SubmissionLinks


class SubmissionList(ApiModel):
    """A page of your teams' submissions, newest first."""

    model_config = example({"submissions": [_EXAMPLE], "next": None})

    submissions: list[SubmissionOut]
    next: str | None = Field(description="the next page, as in the Link header; null: this is the last")


def submission_out(submission: Submission, queue_position: int | None = None) -> SubmissionOut:
    """A submission as `get_submission` gives it."""
    run = current_run(submission)
    status = RunStatus(run.status)
    phase, task = submission.phase_task.phase, submission.phase_task.task
    return SubmissionOut(
        id=submission.id,
        status=status,
        message=STATUS_WORDS[status],
        competition=phase.competition.name,
        phase=phase.name,
        task=task.name,
        team=submission.team.name,
        submitted_by=submission.user.username,
        submitted_at=submission.submitted_at,
        started_at=run.started_at,
        finished_at=run.finished_at,
        queue_position=queue_position,
        filename=submission.filename,
        size_bytes=submission.size_bytes,
        sha256=submission.sha256,
        track=submission.track,
        method=submission.method,
        description=submission.description,
        scores=[_score(score) for score in run.scores],
        problems=[ProblemOut(**_known(problem)) for problem in run.problems],
        problems_omitted=run.problems_omitted,
        links=SubmissionLinks(
            self=links.api_submission(submission.id),
            file=links.api_submission_file(submission.id),
            report=links.api_report(submission.id) if status is RunStatus.SCORED else None,
            task=links.api_task(phase.competition.name, phase.name, task.name),
            page=links.submission(submission.id),
        ),
    )


def _score(score: ScoreRow) -> ScoreOut:
    return ScoreOut(
        metric=score.metric, split=score.split, value=score.value, reason=score.reason, signature=score.signature
    )


def _known(problem: dict[str, Any]) -> dict[str, Any]:
    """Rows outlive code: fields that a later version may have written are passed over."""
    return {name: value for name, value in problem.items() if name in ProblemOut.model_fields}
