"""JSON requests of organisers: rounds of human judgement."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from app.base.answers import ApiModel, example


class AnnotatorIn(ApiModel):
    """An annotator to appoint for a language."""

    language: str
    username: str


class RoundRequest(ApiModel):
    """A new round to be judged in the browser."""

    model_config = example(
        {
            "name": "human",
            "submissions": [],
            "items": 50,
            "seed": 17,
            "guidelines": "Read the sentence first.",
            "annotators": [{"language": "en", "username": "anna"}],
        }
    )

    name: str = Field("human", description="in addresses")
    submissions: list[UUID] = Field(
        default=[], max_length=500, description="IDs of submissions; empty: all entries of the boards"
    )
    items: int | None = Field(None, description="number of items drawn per language; null: all")
    seed: int | None = Field(None, description="seed for drawing and shuffling items; null: the server chooses one")
    guidelines: str = Field("", description="Markdown, shown to annotators beside every item")
    annotators: list[AnnotatorIn] = Field(default=[], max_length=500)
