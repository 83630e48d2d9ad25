"""The answers about competitions, for the API, the pages and the command line alike."""

from __future__ import annotations

import math

from pydantic import Field

from app.base.answers import ApiModel, Moment, example
from app.competitions.allowances import Granted
from app.competitions.leak import COLLUDING, Leak, Level, leak_words
from app.competitions.life import life_of
from app.models import Competition, Halt, Stage

_EXAMPLE_ALLOWANCE: dict[str, object] = {
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


class AllowanceOut(ApiModel):
    """An extension for one team in a phase, with who granted it and when."""

    model_config = example(_EXAMPLE_ALLOWANCE)

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

    model_config = example({"allowances": [_EXAMPLE_ALLOWANCE]})

    allowances: list[AllowanceOut]


def describe_allowance(granted: Granted) -> AllowanceOut:
    """Return an extension with the names of its phase and team."""
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


class LifeOut(ApiModel):
    """The status of a competition."""

    model_config = example(
        {"stage": "published", "halt": "paused", "reason": "the gold of track B is corrected", "delete_at": None}
    )

    stage: Stage
    halt: Halt
    reason: str
    delete_at: Moment | None = Field(description="when it is taken away for good, unless somebody keeps it")


def describe_life(competition: Competition) -> LifeOut:
    """Return the status of a competition."""
    life = life_of(competition)
    return LifeOut(stage=life.stage, halt=life.halt, reason=life.reason, delete_at=competition.delete_at)


_EXAMPLE_LEAK: dict[str, object] = {
    "phase": "evaluation",
    "task": "idiom-detection",
    "items": 1000,
    "gold_bits": 998.8,
    "is_measured": True,
    "scores": 1,
    "decimals": 4,
    "bits_per_submission": 9.97,
    "submissions": 11,
    "total_bits": 109.6,
    "share": 0.11,
    "share_of_ten_teams": 1.0,
    "share_of_public_part": None,
    "level": "fair",
    "remedies": [{"setting": "limits.total: 10", "share": 0.0998}],
    "message": "1,000 items with 999 bits; a submission tells at most 10.0 bits (1 score, 4 decimals), …",
}


class RemedyOut(ApiModel):
    """A setting that lowers the share."""

    model_config = example({"setting": "limits.total: 10", "share": 0.0998})

    setting: str = Field(description="as in phases.yaml")
    share: float = Field(description="of the gold that one team could read then, 0 to 1")


class LeakOut(ApiModel):
    """An upper bound for what one team can learn about a task's gold in a whole phase."""

    model_config = example(_EXAMPLE_LEAK)

    phase: str
    task: str
    items: int | None = Field(description="with an answer of their own; null: no worker has measured the gold")
    gold_bits: float | None = Field(description="the entropy of all answers together")
    is_measured: bool = Field(description="whether it was computed from the gold")
    scores: int = Field(description="how many are shown of a submission")
    decimals: int | None = Field(description="of each; null: all")
    bits_per_submission: float = Field(description="an upper bound of what its shown numbers reveal")
    submissions: int | None = Field(description="that a team may send in the phase; null: any number")
    total_bits: float | None = Field(description="an upper bound of what all reveal together; null: any number")
    share: float | None = Field(description="of the gold that decides the final ranks, read by one team; null: unknown")
    share_of_ten_teams: float | None = Field(description="the same, by ten teams together")
    share_of_public_part: float | None = Field(description="where the items have a private part, which decides")
    level: Level | None = Field(description="`green`: below 10 %; `warning`: 50 % or more")
    remedies: list[RemedyOut] = Field(description="settings that lower the share, those first that are enough")
    message: str = Field(description="all of it in a sentence")


class LeakList(ApiModel):
    """Every task of every phase whose gold is hidden."""

    model_config = example({"leaks": [_EXAMPLE_LEAK]})

    leaks: list[LeakOut]


def describe_leak(phase: str, task: str, leak: Leak) -> LeakOut:
    """Return what a team can learn about the gold of this task in this phase, by their names."""
    size = leak.size
    return LeakOut(
        phase=phase,
        task=task,
        items=size.items if size else None,
        gold_bits=round(size.bits, 1) if size else None,
        is_measured=size.is_measured if size else False,
        scores=leak.scores,
        decimals=leak.decimals,
        bits_per_submission=round(leak.bits, 2),
        submissions=leak.submissions,
        total_bits=None if math.isinf(leak.total_bits) else round(leak.total_bits, 1),
        share=leak.share,
        share_of_ten_teams=leak.share_of(COLLUDING),
        share_of_public_part=leak.told if leak.is_divided else None,
        level=leak.level,
        remedies=[RemedyOut.model_validate(one, from_attributes=True) for one in leak.remedies],
        message=leak_words(leak),
    )
