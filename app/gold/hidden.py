"""Check whether the gold of a task in a phase is hidden, according to the database; workers trust only its file."""

from __future__ import annotations

from sqlalchemy.orm import Session

from app.gold.versions import published_gold
from app.models import PhaseTask


def is_gold_hidden(session: Session, phase_task: PhaseTask, *, trusts_declaration: bool = True) -> bool:
    """Return whether scores against this gold reveal anything not public; missing gold counts as hidden.

    Sealed gold was declared public on upload or not, and no declaration changes that. trusts_declaration: whether
    `gold_is_public` counts for plain gold; editors could set it to evade a rule about hidden gold.
    """
    published = published_gold(session, phase_task.phase_id, phase_task.task_id)
    if published:
        return not published[-1].is_public
    return not (trusts_declaration and phase_task.gold is not None and phase_task.gold_is_public)
