"""The declared entry rule of a task in a phase, and the deadline for choosing an entry."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from app.competitions.visibility import CLOSE
from app.models import EntryRule, Phase, PhaseTask


@dataclass(frozen=True, slots=True)
class EntrySettings:
    """An entry rule with its settings.

    choose_until (None for no deadline), without_choice: of the rule `chosen`; ladder_step: of the rule `ladder`.
    """

    rule: EntryRule
    choose_until: datetime | None
    without_choice: EntryRule
    ladder_step: float | None = None


def entry_settings(phase: Phase, phase_task: PhaseTask | None = None) -> EntrySettings:
    """Return the settings of a task in the phase: key by key its own, or else those of the phase."""
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
    """Return True if teams may choose now; the interval is half-open, like phases."""
    return settings.rule is EntryRule.CHOSEN and (settings.choose_until is None or now < settings.choose_until)
