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
        default_factory=list, max_length=200, description="`PHASE/TASK` or `PHASE`; none: everything that is scored"
    )
    note: str = Field(description=f"why, in a sentence of at most {NOTE_CHARACTERS} characters")
    gold_version: int | None = Field(
        None, ge=1, le=2**31 - 1, description="a version of the sealed gold; null: the newest, published or not"
    )
    with_rejected: bool = Field(False, description="try rejected files again, for items or options that changed")
