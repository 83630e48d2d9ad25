"""Requests of the API: method cards, and actions on chosen submissions."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from pydantic import Field

from app.base.answers import ApiModel, example
from app.cards.views import CARD_EXAMPLE, AnswerOut
from app.models import RowStatus
from app.submissions.organisers_list import CHOSEN_LIMIT

_ID = "0b9f6f0e-6c1f-4a53-9d3c-0f7f6f1d2a11"
_EDIT_EXAMPLE: dict[str, Any] = {
    **{name: value for name, value in CARD_EXAMPLE.items() if name != "answers"},
    "fields": {"parameters": 560},
    "system": "",
}


class CardIn(ApiModel):
    """A complete method card: fields that are left out become empty."""

    model_config = example(_EDIT_EXAMPLE)

    method: str = ""
    summary: str = Field("", description="what the system does, in a few sentences")
    paper: str = Field("", description="http:// or https://")
    code: str = Field("", description="http:// or https://")
    data: str = Field("", description="data used")
    languages: list[str] = Field([], description="of the task's", max_length=1_000)
    fields: dict[str, AnswerOut | None] = Field({}, description="answers by the names of the fields")
    system: str = Field("", description="new name for the system; empty: unchanged")


class ChosenMark(ApiModel):
    """A mark for several submissions, with its footnote."""

    model_config = example({"submissions": [_ID], "status": "unranked", "note": "used additional data"})

    submissions: list[UUID] = Field(min_length=1, max_length=CHOSEN_LIMIT)
    status: RowStatus
    note: str = Field("", description="reason, shown as a footnote below the board")


class ChosenRescoring(ApiModel):
    """The submissions to rescore, and the reason."""

    model_config = example({"submissions": [_ID], "note": "A label was wrong."})

    submissions: list[UUID] = Field(min_length=1, max_length=CHOSEN_LIMIT)
    note: str = Field(
        "", description="reason, shown to teams and with official results; needed unless all of them failed"
    )
