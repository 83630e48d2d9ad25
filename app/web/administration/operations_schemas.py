"""Requests of administrators about queue and mails."""

from __future__ import annotations

from pydantic import Field

from app.administration.operations_views import HOLD_EXAMPLE
from app.base.answers import ApiModel, example
from app.runs.holds import REASON_CHARACTERS


class HoldIn(ApiModel):
    """A place where scoring is to be paused, or a machine to drain."""

    model_config = example({"place": HOLD_EXAMPLE["place"], "host": "", "reason": HOLD_EXAMPLE["reason"]})

    place: str = Field("", max_length=300, description="`COMPETITION` or `COMPETITION/TASK`; empty: the whole server")
    host: str = Field("", max_length=200, description="instead of a place: the machine whose workers are drained")
    reason: str = Field(max_length=2 * REASON_CHARACTERS)


class RunsIn(ApiModel):
    """Failed runs to queue again."""

    model_config = example({"runs": [4711]})

    runs: list[int] = Field(default_factory=list, max_length=1000, description="empty: all, up to a thousand")


class MailsIn(ApiModel):
    """Undelivered mails to send again."""

    model_config = example({"mails": [88]})

    mails: list[int] = Field(default_factory=list, max_length=1000, description="empty: all")
