"""Row marks of organisers: unranked, disqualified, hidden."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from app.base.answers import ApiModel, example
from app.models import RowStatus


class RowMarkIn(ApiModel):
    """A mark for all rows of a team, by its name, or for one of its submissions."""

    model_config = example(
        {"team": "Ada Lovelace", "submission": None, "status": "unranked", "note": "used additional data"}
    )

    team: str = Field("", max_length=200, description="name of the team as on boards; or use `submission`")
    submission: UUID | None = Field(None, description="ID of one submission; or use `team`")
    status: RowStatus
    note: str = Field("", description="reason, shown as a footnote below the board")
