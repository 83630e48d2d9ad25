"""Method cards as boards and reports answer with them."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from app.base.answers import Mirror

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
    """An answer to a question of the organisers'."""

    name: str
    title: str
    value: AnswerOut


class CardOut(Mirror):
    """The method card of a system; fields that nobody filled in are empty."""

    method: str
    summary: str
    paper: str
    code: str
    data: str = Field(description="data used")
    languages: list[str]
    answers: list[CardAnswerOut]


class CardColumnOut(Mirror):
    """A question whose answers stand on the board, beside the scores: look for its name in a row's card."""

    name: str
    title: str
