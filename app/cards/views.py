"""API schemas for method cards, for boards, reports and their own pages: contents, form, history."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from pydantic import Field

from app.base.answers import ApiModel, Mirror, Moment, example
from app.cards.form import CardKind, CardPart

#: Not only `bool | int | float`: values keep their JSON type.
AnswerOut = bool | int | float | str

CARD_EXAMPLE: dict[str, Any] = {
    "method": "XLM-R large",
    "summary": "Fine-tuned on the training data, with a paraphrase objective.",
    "paper": "https://aclanthology.org/2022.semeval-1.13/",
    "code": "https://example.org/code",
    "data": "the training data, Wikipedia",
    "languages": ["en", "pt"],
    "answers": [{"name": "parameters", "title": "Parameters (millions)", "value": 560}],
}


class CardAnswerOut(Mirror):
    """An answer to a question of the organisers."""

    name: str
    title: str
    value: AnswerOut


class CardOut(Mirror):
    """The method card of a system; fields that were left empty are empty."""

    method: str
    summary: str
    paper: str
    code: str
    data: str = Field(description="data used")
    languages: list[str]
    answers: list[CardAnswerOut]


class CardColumnOut(Mirror):
    """A question whose answers are shown on the board next to the scores; a row's card has its answer by this name."""

    name: str
    title: str


class CardFieldOut(Mirror):
    """A question of the organisers."""

    name: str
    title: str
    kind: CardKind
    choices: list[str]
    required: bool
    on_board: bool = Field(description="whether boards show the answer beside the scores")
    help: str


class CardFormOut(Mirror):
    """The fields of a task's method cards."""

    required: list[CardPart] = Field(description="which of method, summary, … are required")
    languages: list[str] = Field(description="languages of the task; none: any codes")
    fields: list[CardFieldOut]


class CardChangeOut(ApiModel):
    """A change of a card."""

    version: int
    changed_by: str = Field(description="a user name")
    changed_at: Moment
    changed: list[str] = Field(description="titles of the changed fields")


class SubmissionCardOut(ApiModel):
    """A submission's card, with all data needed to change it."""

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
    version: int = Field(description="increases with every change; 0: there is no card yet")
    is_editable: bool = Field(description="whether you can edit it now")
    frozen_at: Moment | None = Field(description="when official results were frozen with this card; null: not yet")
    history: list[CardChangeOut]
    page: str
