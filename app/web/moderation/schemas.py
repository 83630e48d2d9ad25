"""Requests of the API: reports, texts to hide, and people to block."""

from __future__ import annotations

from pydantic import Field

from app.base.answers import ApiModel, example
from app.models import ReportReason, TextKind
from app.moderation.hiding import REASON_CHARACTERS
from app.moderation.reports import WORDS_CHARACTERS
from app.moderation.texts import WHICH_CHARACTERS
from app.moderation.views import BLOCK_EXAMPLE, HIDDEN_EXAMPLE, REPORT_EXAMPLE

_WHICH = (
    "number of a question (also for its answer) or announcement; name of a team; or ID of a submission of a system, "
    "as in the address of its row"
)


class ReportIn(ApiModel):
    """A text, and why it is reported."""

    model_config = example(
        {"kind": "question", "which": "3", **{name: REPORT_EXAMPLE[name] for name in ("reason", "words")}}
    )

    kind: TextKind
    which: str = Field(max_length=WHICH_CHARACTERS, description=_WHICH)
    reason: ReportReason
    words: str = Field("", max_length=2 * WORDS_CHARACTERS, description="needed if the reason is `other`")


class HideIn(ApiModel):
    """A text to hide, named by its place or by a report."""

    model_config = example({"kind": "team", "which": "Alpha", "reason": HIDDEN_EXAMPLE["reason"]})

    kind: TextKind
    which: str = Field(max_length=WHICH_CHARACTERS, description=_WHICH)
    reason: str = Field(max_length=2 * REASON_CHARACTERS, description="reason, shown to the author")


class ReasonIn(ApiModel):
    """A reason, which is shown to the person concerned."""

    model_config = example({"reason": BLOCK_EXAMPLE["reason"]})

    reason: str = Field(max_length=2 * REASON_CHARACTERS)
