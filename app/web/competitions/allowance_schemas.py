"""Extensions for single teams, granted by organisers: a later deadline, more submissions."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from app.base.answers import ApiModel, Moment, example
from app.competitions.allowances import MOST_EXTRA, Granted, Wanted

_EXAMPLE: dict[str, Any] = {
    "id": 3,
    "phase": "evaluation",
    "team": "Ada Lovelace",
    "until": "2026-02-03T12:00:00Z",
    "is_ranked": False,
    "extra_per_day": 0,
    "extra_total": 2,
    "in_official": None,
    "reason": "their cluster was down",
    "granted_by": "grace",
    "granted_at": "2026-02-01T12:00:00Z",
}


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
    team: str = Field(max_length=200, description="as boards name it")
    until: Moment | None = Field(None, description="the phase is open that long for this team; null: as for all")
    is_ranked: bool = Field(False, description="whether what comes after the close has a rank; else a footnote")
    extra_per_day: int = Field(0, ge=0, le=MOST_EXTRA)
    extra_total: int = Field(0, ge=0, le=MOST_EXTRA)
    reason: str = Field(description="the team and all organisers read it")

    @property
    def wanted(self) -> Wanted:
        return Wanted(**dict(self))


class AllowanceOut(ApiModel):
    """An extension for one team in a phase, with who granted it and when."""

    model_config = example(_EXAMPLE)

    id: int
    phase: str
    team: str
    until: Moment | None
    is_ranked: bool
    extra_per_day: int
    extra_total: int
    in_official: bool | None = Field(
        description="whether ranked late entries count in the official results, which then wait for them; false: these "
        "are frozen; null: there are no such entries, or no official results"
    )
    reason: str
    granted_by: str | None = Field(description="a user name; null: on the command line")
    granted_at: Moment


class AllowancesOut(ApiModel):
    """All that single teams are allowed, by phase and team."""

    model_config = example({"allowances": [_EXAMPLE]})

    allowances: list[AllowanceOut]


def allowance_out(granted: Granted) -> AllowanceOut:
    """Return an extension as an API model."""
    row = granted.allowance
    return AllowanceOut(
        id=row.id,
        phase=granted.phase.name,
        team=granted.team,
        until=row.until,
        is_ranked=row.is_ranked,
        extra_per_day=row.extra_per_day,
        extra_total=row.extra_total,
        in_official=granted.late.count if granted.late else None,
        reason=row.reason,
        granted_by=granted.granted_by,
        granted_at=row.granted_at,
    )
