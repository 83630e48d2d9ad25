"""Invalidation of boards: server and browser caches depend on a version number that only this module increments."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any, cast

from sqlalchemy import ColumnElement, Select, Table, bindparam, select, update
from sqlalchemy.orm import Session
from sqlalchemy.sql.dml import ReturningUpdate

from app.models import PhaseTask


def boards_changed(session: Session, phase_task_ids: Collection[int] | Select[int]) -> None:
    """Increment the version of these boards, in the transaction that changes what they could show.

    Rows are locked in a fixed order to avoid deadlocks between concurrent changes; uploads are not blocked.
    """
    query = select(PhaseTask.id).where(PhaseTask.id.in_(phase_task_ids)).order_by(PhaseTask.id)
    ids = list(session.scalars(query.with_for_update(key_share=True)))
    session.execute(
        update(PhaseTask)
        .where(PhaseTask.id.in_(ids))
        .values(board_version=PhaseTask.board_version + 1)
        .execution_options(synchronize_session=False)
    )


def boards_changed_where(
    session: Session, phase_task_id: int, condition: ColumnElement[bool], parameters: Mapping[str, Any]
) -> bool | None:
    """Increment the version of one task's boards in one statement if the condition holds.

    Returns whether the gold is public, or None if the condition does not hold; then nothing is locked.
    condition: must be the same object in each call, with these parameters.
    """
    return session.connection().execute(_changed_where(condition), {"changed": phase_task_id, **parameters}).scalar()


_TASKS = cast(Table, PhaseTask.__table__)


@lru_cache(maxsize=4)
def _changed_where(condition: ColumnElement[bool]) -> ReturningUpdate[bool]:
    """Return the statement that increments the board version, built once per condition because it is executed whenever
    a run ends.
    """
    return (
        update(_TASKS)
        .where(_TASKS.c.id == bindparam("changed"), condition)
        .values(board_version=_TASKS.c.board_version + 1)
        .returning(_TASKS.c.gold_is_public)
    )


def boards_unchanged(session: Session, phase_task_id: int) -> None:
    """Undo `boards_changed_where` within the same transaction, before the change becomes visible."""
    session.execute(
        update(PhaseTask)
        .where(PhaseTask.id == phase_task_id)
        .values(board_version=PhaseTask.board_version - 1)
        .execution_options(synchronize_session=False)
    )
