"""Which of a team's scored submissions stands on the boards of a task in a phase: what was declared, and until when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from app.competitions.visibility import CLOSE
from app.models import EntryRule, Phase, PhaseTask


@dataclass(frozen=True, slots=True)
class EntrySettings:
    """choose_until, without_choice: with the rule `chosen`; until None: for ever. ladder_step: with `ladder`."""

    rule: EntryRule
    choose_until: datetime | None
    without_choice: EntryRule
    ladder_step: float | None = None


def entry_settings(phase: Phase, phase_task: PhaseTask | None = None) -> EntrySettings:
    """What holds for a task of the phase: what it says itself, key by key, or else what the phase does."""
    own = phase_task.entry if phase_task else {}
    choose_until, until = phase.choose_until, own.get("choose_until")
    if until is not None:
        choose_until = None if until == CLOSE else datetime.fromisoformat(until)
    return EntrySettings(
        rule=EntryRule(own.get("entry") or phase.entry_rule),
        choose_until=choose_until or phase.ends_at,
        without_choice=EntryRule(own.get("without_choice") or phase.without_choice),
        ladder_step=own.get("ladder_step") or phase.ladder_step,
    )


def may_choose(settings: EntrySettings, now: datetime) -> bool:
    """Whether teams may choose now; half-open as phases are."""
    return settings.rule is EntryRule.CHOSEN and (settings.choose_until is None or now < settings.choose_until)
