"""Edits of a declaration, sent by organisers as JSON."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from app.base.answers import ApiModel, example
from app.declarations.edits.edit import NOTE_CHARACTERS
from app.web.http.schemas import RowId

EditedValue = str | bool | int | Annotated[float, Field(allow_inf_nan=False)] | list[str] | None
Note = Annotated[str, Field(max_length=NOTE_CHARACTERS, description="reason, for the history")]


class EditForm(ApiModel):
    """Values to set by their names; null removes a value."""

    model_config = example({"base": 3, "values": {"phases.evaluation.end": "2027-02-07 23:59 AoE"}, "note": ""})

    base: RowId = Field(description="the revision that you edited; 409 if there is a newer one")
    values: dict[str, EditedValue] = Field(max_length=1000, description="new values, by names as in `editable`")
    note: Note = ""


class BackForm(ApiModel):
    """A request to go back to an earlier revision. base: the revision that the sender saw last."""

    model_config = example({"base": 4, "note": "The board was not to be public yet"})

    base: RowId = Field(description="the current revision when you looked; 409 if there is a newer one")
    note: Note = ""
