"""Claiming a run together with all that scoring needs of its submission and task, and recording its team's turn.

One statement that changes both tables on PostgreSQL; three statements on SQLite.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeAlias, cast

from sqlalchemy import FromClause, Row, Select, Table, bindparam, select, update
from sqlalchemy.orm import Session
from sqlalchemy.sql.dml import ReturningUpdate

from app.base.db import UtcDateTime
from app.models import CompetitionTask, PhaseTask, ScoringRun, Submission, Team

Claiming: TypeAlias = ReturningUpdate[*tuple[Any, ...]]

#: Statements are built once and reused for every run: building one takes longer than sending it.
RUNS, _TEAMS = cast(Table, ScoringRun.__table__), cast(Table, Team.__table__)
NOW = bindparam("now", type_=UtcDateTime())
#: Only the columns of a run that a claim needs, since others grow large.
OF_RUN = ("id", "attempts", "is_current", "rescoring_id", "gold", "gold_version_id", "submission_id")


def claimed_run(session: Session, claiming: Claiming, said: Mapping[str, Any]) -> Row[*tuple[Any, ...]] | None:
    """Run `claiming` and return the run it finds, with the columns of OF_RUN; None if it claimed none."""
    if session.get_bind().dialect.name == "postgresql":
        return session.execute(_at_once(claiming), said).one_or_none()
    run = session.connection().execute(claiming, said).one_or_none()
    if run is None:
        return None
    if run.is_current:
        session.connection().execute(_TAKING_TURN, {"submission": run.submission_id, "now": said["now"]})
    return session.execute(_CLAIMED, {"run": run.id}).one()


def _claim_columns(run: FromClause) -> Select[*tuple[Any, ...]]:
    """Select a run with its submission and task."""
    return (
        select(*(run.c[name] for name in OF_RUN), Submission.sha256, Submission.team_id, PhaseTask, CompetitionTask)
        .join_from(run, Submission, Submission.id == run.c.submission_id)
        .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
    )


@lru_cache(maxsize=8)
def _at_once(claiming: Claiming) -> Select[*tuple[Any, ...]]:
    claimed = claiming.cte("claimed")
    team = select(Submission.team_id).join(claimed, claimed.c.submission_id == Submission.id)
    taking = update(_TEAMS).where(_TEAMS.c.id.in_(team.where(claimed.c.is_current))).values(last_turn_at=NOW)
    return _claim_columns(claimed).add_cte(taking.cte("turn"))


_CLAIMED = _claim_columns(RUNS).where(RUNS.c.id == bindparam("run"))
_TEAM = select(Submission.team_id).where(Submission.id == bindparam("submission", type_=RUNS.c.submission_id.type))
_TAKING_TURN = update(_TEAMS).where(_TEAMS.c.id == _TEAM.scalar_subquery()).values(last_turn_at=NOW)
