"""The request for a rescoring set."""

from __future__ import annotations

from pydantic import Field

from app.base.answers import ApiModel, example
from app.rescoring.sets import NOTE_CHARACTERS


class NewRescoring(ApiModel):
    """The submissions to rescore."""

    model_config = example(
        {
            "tasks": ["evaluation/idiom-detection"],
            "note": "Items 12 and 40 had the wrong label.",
            "gold_version": 2,
            "with_rejected": False,
        }
    )

    tasks: list[str] = Field(
        default_factory=list, max_length=200, description="`PHASE/TASK` or `PHASE`; empty: all scored submissions"
    )
    note: str = Field(description=f"reason, in a sentence of at most {NOTE_CHARACTERS} characters")
    gold_version: int | None = Field(
        None, ge=1, le=2**31 - 1, description="version of the sealed gold; null: the latest, published or not"
    )
    with_rejected: bool = Field(
        False, description="also score rejected files again, for example if items or options changed"
    )
