"""Row marks of organisers: unranked, disqualified, hidden."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from pydantic import Field

from app.base.answers import ApiModel, Moment, example
from app.boards.marks import MarkedRow
from app.models import RowStatus

_EXAMPLE: dict[str, Any] = {
    "id": 3,
    "team": "Ada Lovelace",
    "submission": None,
    "status": "unranked",
    "note": "used additional data",
    "marked_by": "grace",
    "set_at": "2026-02-01T12:00:00Z",
}


class RowMarkIn(ApiModel):
    """A mark for all rows of a team, by its name, or for one of its submissions."""

    model_config = example(
        {"team": "Ada Lovelace", "submission": None, "status": "unranked", "note": "used additional data"}
    )

    team: str = Field("", max_length=200, description="as boards name it; or `submission`")
    submission: UUID | None = Field(None, description="one submission alone; or `team`")
    status: RowStatus
    note: str = Field("", description="the footnote, or the reason, as it stands below the board")


class RowMarkOut(ApiModel):
    """The mark of a row."""

    model_config = example(_EXAMPLE)

    id: int
    team: str
    submission: UUID | None = Field(description="null: the whole team, with all its submissions to this task here")
    status: RowStatus
    note: str
    marked_by: str | None = Field(description="a user name; null: on the command line")
    set_at: Moment


class RowMarksOut(ApiModel):
    """All marks of rows of a task in a phase, by team."""

    model_config = example({"rows": [_EXAMPLE]})

    rows: list[RowMarkOut]


def row_mark_out(marked: MarkedRow) -> RowMarkOut:
    """Return a mark as an API model."""
    return RowMarkOut(
        id=marked.id,
        team=marked.team,
        submission=marked.submission_id,
        status=marked.status,
        note=marked.note,
        marked_by=marked.marked_by,
        set_at=marked.set_at,
    )
