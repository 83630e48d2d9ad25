"""The answers about failed runs, for organisers: server faults, each with its submission and what happened."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from app.base.answers import ApiModel, Moment, example


class FailedRunOut(ApiModel):
    """A run that had all its attempts, or one that no further attempt could have mended."""

    run_id: int
    submission_id: UUID
    phase: str
    task: str
    team: str
    filename: str
    submitted_at: Moment
    failed_at: Moment
    attempts: int
    worker: str | None = Field(description="host and process of the last one")
    failure: str = Field(description="the kind of error and where it rose; the worker's log has the rest")
    submission: str = Field(description="the submission in this API")
    rescoring: int | None = Field(description="the open rescoring set that it was made for; null: the first scoring")


class FailedRunsOut(ApiModel):
    """The latest first."""

    model_config = example(
        {
            "competition": "demo",
            "runs": [
                {
                    "run_id": 17,
                    "submission_id": "0b9f2c58-7c0e-4b0e-9d5c-0d7f3a2b9c11",
                    "phase": "evaluation",
                    "task": "idiom-detection",
                    "team": "Ada Lovelace",
                    "filename": "my_predictions.csv",
                    "submitted_at": "2026-01-11T09:00:00Z",
                    "failed_at": "2026-01-11T09:01:30Z",
                    "attempts": 3,
                    "worker": "worker-1:4711",
                    "failure": "GoldNotFound at gold.py:85; the worker's log has the details",
                    "submission": "/api/v1/submissions/0b9f2c58-7c0e-4b0e-9d5c-0d7f3a2b9c11",
                    "rescoring": None,
                }
            ],
        }
    )

    competition: str
    runs: list[FailedRunOut]


class QueuedAgain(ApiModel):
    """The run waits for a worker again."""

    model_config = example({"run_id": 17})

    run_id: int


class AllQueuedAgain(ApiModel):
    """The runs that wait for a worker again."""

    model_config = example({"runs": [17, 18]})

    runs: list[int]
