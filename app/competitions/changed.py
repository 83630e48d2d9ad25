"""Boards that are others now: cached ones, and answers that browsers keep, rest on a number that rises here alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any, cast

from sqlalchemy import ColumnElement, Select, Table, bindparam, select, update
from sqlalchemy.orm import Session
from sqlalchemy.sql.dml import ReturningUpdate

from app.models import PhaseTask


def boards_changed(session: Session, phase_task_ids: Collection[int] | Select[int]) -> None:
    """Whoever changes what a board of these could show says so here, in the same transaction.

    They are locked in one order, so that two who change several of them never wait for each other; uploads do not wait.
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
    """The same for one task, in one statement, where the condition holds: whether its gold is public; None where the
    condition does not hold, and then nothing is locked. condition: always the same, with these parameters."""
    return session.connection().execute(_changed_where(condition), {"changed": phase_task_id, **parameters}).scalar()


_TASKS = cast(Table, PhaseTask.__table__)


@lru_cache(maxsize=4)
def _changed_where(condition: ColumnElement[bool]) -> ReturningUpdate[bool]:
    """Written once, as the end of every run says this."""
    return (
        update(_TASKS)
        .where(_TASKS.c.id == bindparam("changed"), condition)
        .values(board_version=_TASKS.c.board_version + 1)
        .returning(_TASKS.c.gold_is_public)
    )


def boards_unchanged(session: Session, phase_task_id: int) -> None:
    """Take back what `boards_changed_where` said in this transaction, before anybody could see it."""
    session.execute(
        update(PhaseTask)
        .where(PhaseTask.id == phase_task_id)
        .values(board_version=PhaseTask.board_version - 1)
        .execution_options(synchronize_session=False)
    )
