"""Shared by tests of marked rows: mark a row, and remove the mark."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import Engine

from app.base.config import get_settings
from app.base.db import writing
from app.boards.marks import clear_mark, mark_row
from app.competitions.find import find_phase_task
from app.models import RowStatus, User
from app.people.act import Act
from tests.world import COMPETITION, NOW, PHASE, TASK

UNRANKED, DISQUALIFIED, HIDDEN = RowStatus.UNRANKED, RowStatus.DISQUALIFIED, RowStatus.HIDDEN


def mark(
    engine: Engine,
    whose: str | UUID,
    status: RowStatus,
    note: str = "",
    *,
    phase: str = PHASE,
    actor: User | None = None,
) -> int:
    """Mark the rows of a team, given by name, or of a submission."""
    with writing(engine) as session:
        return mark_row(
            Act(session, actor, NOW, get_settings()),
            find_phase_task(session, COMPETITION, phase, TASK),
            team=whose if isinstance(whose, str) else "",
            submission_id=whose if isinstance(whose, UUID) else None,
            status=status,
            note=note,
        ).id


def clear(engine: Engine, mark_id: int) -> None:
    with writing(engine) as session:
        clear_mark(Act(session, None, NOW, get_settings()), find_phase_task(session, COMPETITION, PHASE, TASK), mark_id)
