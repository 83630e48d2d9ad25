"""Grades of a competition as CSV, for its organisers: the best score of each participant in each phase and task.

Scores have all decimals, whatever participants may see; if items are divided, they are those of the public part.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from app.base.text import spreadsheet_safe
from app.competitions.columns import BoardColumn, visible_columns
from app.models import (
    Board,
    Competition,
    Phase,
    PhaseTask,
    RunStatus,
    ScoreRow,
    ScoringRun,
    Submission,
    Team,
    TeamMember,
    User,
)
from app.teams.registration import participants_of
from evergold.scoring.tasks import TASKS

_COLUMNS = [
    "name",
    "email",
    "username",
    "team",
    "phase",
    "task",
    "score",
    "best",
    "submitted_at",
    "late",
    "submissions",
]


@dataclass(frozen=True, slots=True)
class _Scored:
    """A scored submission of a team. value: None if the score is undefined."""

    team_id: int
    value: float | None
    submitted_at: datetime
    is_late: bool


@dataclass(frozen=True, slots=True)
class Grade:
    """The best scored submission of a participant to a task in a phase; None if there is none."""

    user: User
    team: str
    phase: str
    task: str
    score: str
    best: _Scored | None
    submissions: int


def list_grades(session: Session, competition: Competition) -> list[Grade]:
    """List the grades by phase, task and user name. competition: from `find_competition`.

    The score is the one that ranks the first board of the task. Members of a team get the team's grade; of equal scores
    the earlier submission counts.
    """
    people, teams = participants_of(session, competition), _teams(session, competition)
    found = []
    for phase, phase_task, score in _graded(session, competition):
        scored: dict[int, list[_Scored]] = {}
        for one in _scored(session, phase_task, score):
            scored.setdefault(one.team_id, []).append(one)
        for user in people:
            team_id, team = teams.get(user.id, (0, ""))
            of_team = scored.get(team_id, [])
            best = _best(of_team, score)
            place = phase.name, phase_task.task.name, f"{score.metric} {score.split}"
            found.append(Grade(user, team, *place, best, len(of_team)))
    return found


def grades_csv(grades: Sequence[Grade]) -> str:
    """Return a CSV with a row per grade; the best score is empty without a scored submission."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(_COLUMNS)
    for one in grades:
        person = (one.user.display_name, one.user.email, one.user.username, one.team)
        best = one.best
        value = "" if best is None or best.value is None else repr(best.value)
        when = best.submitted_at.astimezone(UTC).isoformat() if best else ""
        late = ("yes" if best.is_late else "no") if best else ""
        place = (one.phase, one.task, one.score)
        writer.writerow([*map(spreadsheet_safe, person), *place, value, when, late, one.submissions])
    return text.getvalue()


def _graded(session: Session, competition: Competition) -> Iterator[tuple[Phase, PhaseTask, BoardColumn]]:
    """Yield each task in a phase with the score that ranks its first board."""
    boards = session.scalars(
        select(Board)
        .where(Board.competition_id == competition.id)
        .options(joinedload(Board.task))
        .order_by(Board.position, Board.id)
    ).all()
    first: dict[int, Board] = {}
    for board in boards:
        if board.task.task_type in TASKS:  # otherwise the plugin with its metrics is missing
            first.setdefault(board.task_id, board)
    for phase in competition.phases:
        for phase_task in phase.phase_tasks:
            if phase_task.task_id in first:
                board = first[phase_task.task_id]
                columns = visible_columns(board, phase_task.options_of(board.task))
                ranks = (board.rank_metric, board.rank_split)
                yield phase, phase_task, next(one for one in columns if (one.metric, one.split) == ranks)


def _teams(session: Session, competition: Competition) -> dict[int, tuple[int, str]]:
    query = (
        select(TeamMember.user_id, Team.id, Team.name)
        .join(Team, Team.id == TeamMember.team_id)
        .where(TeamMember.competition_id == competition.id)
    )
    return {user_id: (team_id, name) for user_id, team_id, name in session.execute(query)}


def _scored(session: Session, phase_task: PhaseTask, score: BoardColumn) -> list[_Scored]:
    """List the scored submissions in order of submission, except withdrawn ones."""
    query = (
        select(Submission.team_id, ScoreRow.value, Submission.submitted_at, Submission.is_late)
        .join(ScoringRun, ScoringRun.submission_id == Submission.id)
        .join(ScoreRow, ScoreRow.run_id == ScoringRun.id)
        .where(
            Submission.phase_task_id == phase_task.id,
            Submission.withdrawn_at.is_(None),
            ScoringRun.is_current,
            ScoringRun.status == RunStatus.SCORED,
            ScoreRow.metric == score.metric,
            ScoreRow.split == score.split,
        )
        .order_by(Submission.submitted_at, ScoringRun.id)
    )
    return [_Scored(*row) for row in session.execute(query)]


def _best(scored: Sequence[_Scored], score: BoardColumn) -> _Scored | None:
    """Return the best submission, the earliest of equals; None if there are none. Undefined scores come last."""
    with_values = [one for one in scored if one.value is not None]
    if not with_values:
        return scored[0] if scored else None
    sign = 1.0 if score.higher_is_better else -1.0
    return max(with_values, key=lambda one: sign * (one.value or 0.0))
