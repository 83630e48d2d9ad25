"""A competition's status: its visibility, whether it is paused or archived, and when it is deleted."""

from __future__ import annotations

from pydantic import Field

from app.base.answers import ApiModel, Moment, example
from app.competitions.life import REASON_CHARACTERS, Life, life_of
from app.models import Competition, Halt, Stage


class LifeIn(ApiModel):
    """The new status of a competition."""

    model_config = example({"stage": "published", "halt": "paused", "reason": "the gold of track B is corrected"})

    stage: Stage = Field(description="who may see it")
    halt: Halt = Field(Halt.NONE, description="`paused`: no uploads; `archived`: nothing is changed any more")
    reason: str = Field(
        "", description=f"for everybody, one line of at most {REASON_CHARACTERS} characters; a pause needs one"
    )

    @property
    def wanted(self) -> Life:
        return Life(self.stage, self.halt, self.reason)


class LifeOut(ApiModel):
    """The status of a competition."""

    model_config = example(
        {"stage": "published", "halt": "paused", "reason": "the gold of track B is corrected", "delete_at": None}
    )

    stage: Stage
    halt: Halt
    reason: str
    delete_at: Moment | None = Field(description="when it is taken away for good, unless somebody keeps it")


def life_out(competition: Competition) -> LifeOut:
    """Return the status as an API model."""
    life = life_of(competition)
    return LifeOut(stage=life.stage, halt=life.halt, reason=life.reason, delete_at=competition.delete_at)
