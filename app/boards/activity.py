"""Activity in a phase: numbers of teams and scored runs, as far as a viewer may see them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from app.competitions.visibility import View
from app.models import BoardShown, Tally, Team, TeamKind


@dataclass(frozen=True, slots=True)
class Activity:
    """Numbers of teams, and of their scored runs; None if this viewer may not see it."""

    teams: int | None = None
    runs: int | None = None


def activity_of(session: Session, views: Mapping[int, View]) -> Activity:
    """Count the activity in a phase. views: of its tasks, by the id of the phase task.

    A hidden board counts nothing. One that shows ranks only counts teams, since it does not show their numbers of runs.
    """
    public = [key for key, view in views.items() if view.board is BoardShown.PUBLIC]
    ranked = [key for key, view in views.items() if view.board is not BoardShown.HIDDEN]
    return Activity(
        teams=_count(session, ranked, func.count(Tally.team_id.distinct())) if ranked else None,
        runs=_count(session, public, func.sum(Tally.runs)) if public else None,
    )


def _count(session: Session, phase_tasks: list[int], what: ColumnElement[int]) -> int:
    counted = session.scalar(
        select(what)
        .select_from(Tally)
        .join(Team, Team.id == Tally.team_id)
        .where(Tally.phase_task_id.in_(phase_tasks), Tally.runs > 0, Team.kind == TeamKind.TEAM)
    )
    return counted or 0
