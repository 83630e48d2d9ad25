"""All submissions of a competition for its organisers: listing, marking and rescoring."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from pydantic import Field

from app.base import links
from app.base.answers import ApiModel, Moment, example
from app.models import RowStatus, RunStatus, TeamKind
from app.submissions.organisers_list import CHOSEN_LIMIT, ListedSubmission

_ID = "0b9f6f0e-6c1f-4a53-9d3c-0f7f6f1d2a11"
_EXAMPLE: dict[str, Any] = {
    "id": _ID,
    "submitted_at": "2026-01-10T12:00:00Z",
    "team": "Analytical Engines",
    "kind": "team",
    "submitted_by": "ada",
    "phase": "evaluation",
    "task": "idiom-detection",
    "status": "scored",
    "mark": None,
    "is_late": False,
    "withdrawn_at": None,
    "method": "XLM-R",
    "filename": "predictions.csv",
    "size_bytes": 12345,
    "page": f"/submissions/{_ID}",
}


class ListedSubmissionOut(ApiModel):
    """A submission in the organisers' list."""

    model_config = example(_EXAMPLE)

    id: UUID
    submitted_at: Moment
    team: str
    kind: TeamKind
    submitted_by: str
    phase: str
    task: str
    status: RunStatus
    mark: RowStatus | None = Field(description="its mark, or else its team's, on this task")
    is_late: bool = Field(description="accepted after the close")
    withdrawn_at: Moment | None
    method: str
    filename: str
    size_bytes: int
    page: str


class ListedSubmissions(ApiModel):
    """All submissions to a competition, newest first."""

    model_config = example({"submissions": [_EXAMPLE], "next": None})

    submissions: list[ListedSubmissionOut]
    next: str | None = Field(description="the next page, as in the Link header; null: this is the last")


class ChosenMark(ApiModel):
    """A mark for several submissions."""

    model_config = example({"submissions": [_ID], "status": "unranked", "note": "used additional data"})

    submissions: list[UUID] = Field(min_length=1, max_length=CHOSEN_LIMIT)
    status: RowStatus
    note: str = Field("", description="the footnote, or the reason, as it stands below the board")


class ChosenRescoring(ApiModel):
    """The submissions to rescore, and the reason."""

    model_config = example({"submissions": [_ID], "note": "A label was wrong."})

    submissions: list[UUID] = Field(min_length=1, max_length=CHOSEN_LIMIT)
    note: str = Field("", description="teams and official results show it; needed unless all of them failed")


class ScoredAnewOut(ApiModel):
    """The submissions being rescored."""

    model_config = example({"queued_again": 0, "rescoring": 3, "tasks": ["evaluation/idiom-detection"]})

    queued_again: int = Field(description="failed ones, which are scored after all")
    rescoring: int | None = Field(description="the set that was started for those that had scores; null: none")
    tasks: list[str] = Field(description="of the set: all submissions to them are rescored")


def listed_out(submission: ListedSubmission) -> ListedSubmissionOut:
    """Return a list item as an API model."""
    return ListedSubmissionOut(
        id=submission.id,
        submitted_at=submission.submitted_at,
        team=submission.team,
        kind=TeamKind(submission.kind),
        submitted_by=submission.username,
        phase=submission.phase,
        task=submission.task,
        status=RunStatus(submission.status),
        mark=RowStatus(submission.mark) if submission.mark else None,
        is_late=submission.is_late,
        withdrawn_at=submission.withdrawn_at,
        method=submission.method,
        filename=submission.filename,
        size_bytes=submission.size_bytes,
        page=links.submission(submission.id),
    )
