"""The most relevant phase of a competition now, and the group of the competition that follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from app.competitions.limits import phase_state
from app.models import Competition, Phase

Group = Literal["open", "upcoming", "everlasting", "closed"]


@dataclass(frozen=True, slots=True)
class CurrentPhase:
    """The current phase with its group: open, upcoming, everlasting or closed.

    `open`: the phase has a deadline, or it never ends and another one follows.
    """

    phase: Phase
    group: Group


def current_phase(competition: Competition, now: datetime) -> CurrentPhase | None:
    """Return the open phase with the nearest deadline, else an endless, upcoming or past one; None if none exists."""
    phases = competition.phases
    if not phases:
        return None
    closing = [phase for phase in _with_state(phases, "open", now) if phase.ends_at is not None]
    if closing:
        return CurrentPhase(min(closing, key=lambda phase: phase.ends_at or now), "open")
    endless = _with_state(phases, "open", now)
    if upcoming := _with_state(phases, "upcoming", now):
        coming = min(upcoming, key=lambda phase: phase.starts_at)
        return CurrentPhase(endless[0], "open") if endless else CurrentPhase(coming, "upcoming")
    if endless:
        return CurrentPhase(endless[-1], "everlasting")
    return CurrentPhase(max(phases, key=lambda phase: phase.ends_at or now), "closed")


def _with_state(phases: Sequence[Phase], state: str, now: datetime) -> list[Phase]:
    return [phase for phase in phases if phase_state(phase, now) == state]
