"""JSON requests of organisers: extensions for single teams, and a competition's status."""

from __future__ import annotations

from pydantic import Field

from app.base.answers import ApiModel, Moment, example
from app.competitions.allowances import MOST_EXTRA, NewExtension
from app.competitions.life import REASON_CHARACTERS, Life
from app.models import Halt, Stage


class AllowanceIn(ApiModel):
    """An extension for one team: a later deadline or more submissions, in each task of a phase."""

    model_config = example(
        {
            "phase": "evaluation",
            "team": "Ada Lovelace",
            "until": None,
            "is_ranked": False,
            "extra_per_day": 0,
            "extra_total": 2,
            "reason": "their cluster was down",
        }
    )

    phase: str = Field(max_length=100)
    team: str = Field(max_length=200, description="name of the team as on boards")
    until: Moment | None = Field(None, description="later deadline for this team; null: that of the phase")
    is_ranked: bool = Field(False, description="whether late submissions are ranked; otherwise they get a footnote")
    extra_per_day: int = Field(0, ge=0, le=MOST_EXTRA)
    extra_total: int = Field(0, ge=0, le=MOST_EXTRA)
    reason: str = Field(description="reason, shown to the team and all organisers")

    @property
    def wanted(self) -> NewExtension:
        return NewExtension(**dict(self))


class LifeIn(ApiModel):
    """The new status of a competition."""

    model_config = example({"stage": "published", "halt": "paused", "reason": "the gold of track B is corrected"})

    stage: Stage = Field(description="who may see it")
    halt: Halt = Field(Halt.NONE, description="`paused`: no uploads; `archived`: nothing can be changed")
    reason: str = Field(
        "",
        description=f"reason for everybody, in one line of at most {REASON_CHARACTERS} characters; a pause needs one",
    )

    @property
    def wanted(self) -> Life:
        return Life(self.stage, self.halt, self.reason)


class ConfirmationIn(ApiModel):
    """An organiser's decision on the scores of baselines."""

    model_config = example({"is_confirmed": False, "why": "the other system is gone; a paper has the same scores"})

    is_confirmed: bool = Field(description="whether the scores equal those of the other system")
    why: str = Field("", description="why to publish without confirming them, in one line")
