"""Whether the gold of a task in a phase is hidden, as far as the database knows; workers believe its file alone."""

from __future__ import annotations

from sqlalchemy.orm import Session

from app.gold.versions import published_gold
from app.models import PhaseTask


def is_gold_hidden(session: Session, phase_task: PhaseTask, *, trusts_declaration: bool = True) -> bool:
    """Return whether scores against this gold tell something that not everybody may have; gold to come counts as
    hidden.

    Sealed gold was declared public by whoever put it, and no declaration changes that. trusts_declaration: whether
    `gold_is_public` is believed for plain gold: whoever edits could say so to get around a rule about hidden gold.
    """
    published = published_gold(session, phase_task.phase_id, phase_task.task_id)
    if published:
        return not published[-1].is_public
    return not (trusts_declaration and phase_task.gold is not None and phase_task.gold_is_public)
