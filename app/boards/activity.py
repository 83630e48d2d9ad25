"""Activity in a phase: numbers of teams and scored runs, as far as a viewer may see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import Session

from app.competitions.visibility import View
from app.models import BoardShown, Tally, Team, TeamKind


@dataclass(frozen=True, slots=True)
class Activity:
    """Numbers of teams and of their scored runs; None if this viewer may not see them."""

    teams: int | None = None
    runs: int | None = None


def activity_of(session: Session, views: Mapping[int, View]) -> Activity:
    """Count the activity in a phase. views: of its tasks, by the id of the phase task.

    Tasks with a hidden board are not counted. If a board shows only ranks, runs are not counted, because it does not
    reveal their number.
    """
    public = [key for key, view in views.items() if view.board is BoardShown.PUBLIC]
    ranked = [key for key, view in views.items() if view.board is not BoardShown.HIDDEN]
    teams, runs = _counted(session, ranked)
    if public != ranked:
        _, runs = _counted(session, public)
    return Activity(teams=teams, runs=runs)


def _counted(session: Session, phase_tasks: Sequence[int]) -> tuple[int | None, int | None]:
    """Return the numbers of teams and of runs; None without tasks."""
    if not phase_tasks:
        return None, None
    teams, runs = session.execute(_COUNTED, {"phase_tasks": phase_tasks}).one()
    return teams, runs or 0


#: Built once, as every page of a competition runs it.
_COUNTED = (
    select(func.count(Tally.team_id.distinct()), func.sum(Tally.runs))
    .select_from(Tally)
    .join(Team, Team.id == Tally.team_id)
    .where(
        Tally.phase_task_id.in_(bindparam("phase_tasks", expanding=True)), Tally.runs > 0, Team.kind == TeamKind.TEAM
    )
)
