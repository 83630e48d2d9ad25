"""Method cards in JSON: the description of the system behind a submission, its form, and its history."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from pydantic import Field

from app.base.answers import ApiModel, Moment, example
from app.cards.edits import CardChange
from app.cards.form import CardForm, CardKind, CardPart
from app.cards.views import CARD_EXAMPLE, AnswerOut, CardOut

_EDIT_EXAMPLE: dict[str, Any] = {
    **{name: value for name, value in CARD_EXAMPLE.items() if name != "answers"},
    "fields": {"parameters": 560},
    "system": "",
}


class CardFieldOut(ApiModel):
    """A question of the organisers'."""

    name: str
    title: str
    kind: CardKind
    choices: list[str]
    required: bool
    on_board: bool = Field(description="whether boards show the answer beside the scores")
    help: str


class CardFormOut(ApiModel):
    """The fields of a task's method cards."""

    required: list[CardPart] = Field(description="which of method, summary, … must be there")
    languages: list[str] = Field(description="of the task; none: any codes")
    fields: list[CardFieldOut]


class CardIn(ApiModel):
    """A whole card: what is left out is empty then."""

    model_config = example(_EDIT_EXAMPLE)

    method: str = ""
    summary: str = Field("", description="what the system does, in a few sentences")
    paper: str = Field("", description="http:// or https://")
    code: str = Field("", description="http:// or https://")
    data: str = Field("", description="data used")
    languages: list[str] = Field([], description="of the task's", max_length=1_000)
    fields: dict[str, AnswerOut | None] = Field({}, description="answers by the names of the fields")
    system: str = Field("", description="another name for the system; empty: as it is")


class CardChangeOut(ApiModel):
    """A change of a card."""

    version: int
    changed_by: str = Field(description="a user name")
    changed_at: Moment
    changed: list[str] = Field(description="titles of what was changed")


class SubmissionCardOut(ApiModel):
    """A submission's card with all that is needed to change it."""

    model_config = example(
        {
            "submission": "0b9f2c58-7c0e-4b0e-9d5c-0d7f3a2b9c11",
            "system": "XLM-R large",
            "card": CARD_EXAMPLE,
            "form": {
                "required": ["code"],
                "languages": ["en", "pt"],
                "fields": [
                    {
                        "name": "parameters",
                        "title": "Parameters (millions)",
                        "kind": "number",
                        "choices": [],
                        "required": True,
                        "on_board": True,
                        "help": "",
                    }
                ],
            },
            "version": 1,
            "is_editable": True,
            "frozen_at": None,
            "history": [
                {
                    "version": 1,
                    "changed_by": "ada",
                    "changed_at": "2026-01-11T09:00:00Z",
                    "changed": ["Code", "Parameters (millions)"],
                }
            ],
            "page": "/submissions/0b9f2c58-7c0e-4b0e-9d5c-0d7f3a2b9c11/card",
        }
    )

    submission: UUID
    system: str = Field(description="its name; empty: not given")
    card: CardOut
    form: CardFormOut
    version: int = Field(description="rises with every change; 0: nobody has written a card yet")
    is_editable: bool = Field(description="for you, now")
    frozen_at: Moment | None = Field(description="when an official board was made that shows it so; null: not yet")
    history: list[CardChangeOut]
    page: str


def card_form_out(form: CardForm) -> CardFormOut:
    """Return the card form, with fields in the organisers' order."""
    return CardFormOut.model_validate(form, from_attributes=True)


def card_changes_out(changes: list[CardChange]) -> list[CardChangeOut]:
    """Return the changes, oldest first."""
    return [CardChangeOut.model_validate(one, from_attributes=True) for one in changes]
