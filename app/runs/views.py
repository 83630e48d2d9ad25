"""API schemas for runs, for organisers: failures of the server, and the log of their program."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from app.base.answers import ApiModel, Moment, example


class FailedRunOut(ApiModel):
    """A run that failed in all its attempts, or finally."""

    run_id: int
    submission_id: UUID
    phase: str
    task: str
    team: str
    filename: str
    submitted_at: Moment
    failed_at: Moment
    attempts: int
    worker: str | None = Field(description="host and process of the last worker")
    failure: str = Field(description="the kind and place of the error; the worker's log has the rest")
    submission: str = Field(description="address of the submission in this API")
    rescoring: int | None = Field(description="the open rescoring set that it was made for; null: the first scoring")


class FailedRunsOut(ApiModel):
    """Failed runs, latest first."""

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
    """The run is queued again."""

    model_config = example({"run_id": 17})

    run_id: int


class AllQueuedAgain(ApiModel):
    """The runs that are queued again."""

    model_config = example({"runs": [17, 18]})

    runs: list[int]


class ProgramLogOut(ApiModel):
    """The log of the organisers' program in one run. Teams get only the parts that the organisers show them."""

    model_config = example(
        {
            "failure": "ended with exit code 1",
            "exit_code": 1,
            "seconds": 0.42,
            "stdout": "reading answers.csv\n",
            "stderr": "KeyError: 'label'\n",
            "page": None,
            "notes": [],
            "undeclared": {},
        }
    )

    failure: str | None = Field(None, description="continues 'the program': how it failed; null: it gave scores")
    exit_code: int | None = Field(None, description="null: it was stopped")
    seconds: float | None = None
    stdout: str | None = Field(None, description="the first MiB")
    stderr: str | None = Field(None, description="the first MiB")
    page: str | None = Field(
        None, description="HTML page that it wrote, without scripts, styles, forms, images and links"
    )
    notes: list[str] = Field([], description="problems with declared scores")
    undeclared: dict[str, str] = Field({}, description="values of keys that no metric uses")
