"""Number of scored submissions of a team in a task of a phase, without hidden and withdrawn ones.

Every page of a competition shows numbers of teams and runs; without tallies it would count all submissions ever made.
Like standings, and together with them, tallies are recomputed from the team's runs, never incremented.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import ColumnElement, Select, and_, bindparam, delete, exists, func, insert, or_, select, update
from sqlalchemy.orm import Session

from app.models import RowMark, RowStatus, ScoringRun, Submission, Tally
from app.standings.tries import is_rankable


def is_hidden() -> ColumnElement[bool]:
    """Build the condition that a `Submission` of the enclosing query, or its team, is hidden."""
    return exists().where(
        RowMark.phase_task_id == Submission.phase_task_id,
        RowMark.status == RowStatus.HIDDEN,
        or_(
            RowMark.submission_id == Submission.id,
            and_(RowMark.submission_id.is_(None), RowMark.team_id == Submission.team_id),
        ),
    )


def renew_tally(session: Session, phase_task_id: int, team_id: int) -> None:
    """Recount a team's submissions after a change to what counts. The caller holds the task's row."""
    whose = {"of_task": phase_task_id, "of_team": team_id}
    session.flush()  # pending changes
    if session.connection().execute(_RENEWED, whose).rowcount == 0:
        session.add(Tally(phase_task_id=phase_task_id, team_id=team_id, runs=session.scalar(_ONES_OWN, whose) or 0))
        session.flush()


def renew_tallies(session: Session, phase_task_id: int) -> None:
    """Recount all teams of one task."""
    session.execute(delete(Tally).where(Tally.phase_task_id == phase_task_id))
    session.execute(insert(Tally).from_select(["phase_task_id", "team_id", "runs"], _by_team(phase_task_id)))


def wrong_tallies(session: Session, phase_task_id: int, teams: Collection[int]) -> dict[int, tuple[int, int]]:
    """Return the stored and the correct count by team, where the two differ."""
    kept = dict(
        session.execute(
            select(Tally.team_id, Tally.runs).where(Tally.phase_task_id == phase_task_id, Tally.team_id.in_(teams))
        ).all()
    )
    right = {team: runs for _, team, runs in session.execute(_by_team(phase_task_id, teams))}
    both = {team: (kept.get(team, 0), right.get(team, 0)) for team in kept.keys() | right.keys()}
    return {team: pair for team, pair in both.items() if pair[0] != pair[1]}


def _counted() -> ColumnElement[bool]:
    return and_(ScoringRun.is_current, is_rankable(), ~is_hidden())


def _by_team(phase_task_id: int, teams: Collection[int] | None = None) -> Select[int, int, int]:
    query = (
        select(Submission.phase_task_id, Submission.team_id, func.count())
        .join(ScoringRun, ScoringRun.submission_id == Submission.id)
        .where(Submission.phase_task_id == phase_task_id, _counted())
        .group_by(Submission.phase_task_id, Submission.team_id)
    )
    return query if teams is None else query.where(Submission.team_id.in_(teams))


_ONES_OWN = (
    select(func.count())
    .select_from(Submission)
    .join(ScoringRun, ScoringRun.submission_id == Submission.id)
    .where(Submission.phase_task_id == bindparam("of_task"), Submission.team_id == bindparam("of_team"), _counted())
)
_RENEWED = (
    update(Tally)
    .where(Tally.phase_task_id == bindparam("of_task"), Tally.team_id == bindparam("of_team"))
    .values(runs=_ONES_OWN.scalar_subquery())
)
