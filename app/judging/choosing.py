"""Which submissions are judged: those that an organiser names, or those that stand on the task's boards."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from app.errors import InvalidForm
from app.leaderboard import build_leaderboard
from app.models import Competition, PhaseTask, RunStatus, ScoringRun, Submission, User
from app.queries import boards_of

MOST_SUBMISSIONS = 500


def choose_submissions(
    session: Session,
    competition: Competition,
    phase_task: PhaseTask,
    wanted: Sequence[UUID],
    *,
    viewer: User,
    now: datetime,
) -> list[Submission]:
    """The wanted submissions (none: those on the boards), teams loaded, in order of submission.

    viewer: an organiser, who sees every row. Raises InvalidForm, which names those that are unknown here or unscored.
    """
    chosen = list(dict.fromkeys(wanted)) or on_boards(session, competition, phase_task, viewer, now)
    found = scored_submissions(session, phase_task, chosen)
    missing = [str(submission_id) for submission_id in chosen if submission_id not in {one.id for one in found}]
    sentence = ""
    if missing:
        sentence = f"No scored submission to this task in this phase: {', '.join(missing)}."
    elif len(found) > MOST_SUBMISSIONS:
        sentence = f"At most {MOST_SUBMISSIONS} submissions can be judged in a round; these are {len(found)}."
    if sentence:
        raise InvalidForm(sentence, fields={"submissions": sentence})
    return found


def scored_submissions(session: Session, phase_task: PhaseTask, ids: Sequence[UUID] | None = None) -> list[Submission]:
    """The scored submissions of a task in a phase, teams loaded, in order of submission; `ids`: only these."""
    query = (
        select(Submission)
        .join(ScoringRun, ScoringRun.submission_id == Submission.id)
        .options(joinedload(Submission.team))
        .where(Submission.phase_task_id == phase_task.id, ScoringRun.is_current, ScoringRun.status == RunStatus.SCORED)
        .order_by(Submission.submitted_at, Submission.id)
    )
    if ids is not None:
        query = query.where(Submission.id.in_(ids))
    return list(session.scalars(query))


def on_boards(
    session: Session, competition: Competition, phase_task: PhaseTask, viewer: User, now: datetime
) -> list[UUID]:
    """The submissions that stand on any board of the task in this phase."""
    phase = next(phase for phase in competition.phases if phase.id == phase_task.phase_id)
    boards = [board for board in boards_of(competition, phase) if board.task_id == phase_task.task_id]
    rows = [row for board in boards for row in build_leaderboard(session, phase, board, viewer, now).rows]
    runs = [row.run_id for row in rows if row.run_id is not None]
    return list(session.scalars(select(ScoringRun.submission_id).where(ScoringRun.id.in_(runs))))
