"""Selects the boards that become official: phase ended, nothing left to score, no more ranked entries possible.

It is separate from `app.boards.snapshots`, which imports numpy: the sweep loads that only if a board is due.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, exists, select
from sqlalchemy.orm import Session, joinedload

from app.base.logs import continuing
from app.boards.statistics_work import is_settled
from app.models import Allowance, Board, Phase, PhaseTask, RunStatus, ScoringRun, Snapshot, Submission

#: Uploads in time may be stored a moment later, at most as long as SQLite lets a writer wait: see `app.base.db`.
AFTER_CLOSE = timedelta(seconds=60)


def freeze_due(session: Session, now: datetime) -> list[Snapshot]:
    """Freeze the boards of every phase that has ended and has nothing left to score; return them. Idempotent.

    Boards wait for a while for their statistics, so that official results include them, and for teams that may still
    submit ranked entries. A phase that is reopened is frozen again when it closes again. Tasks without submissions get
    no official board.
    """
    due = _due(session, now)
    if not due:
        return []
    from app.boards.snapshots import freeze

    phases = {phase.id for phase, _ in due}
    session.execute(select(Phase.id).where(Phase.id.in_(phases)).order_by(Phase.id).with_for_update())
    # Another sweep may have held the lock before.
    still_due = [(phase, board) for phase, board in _due(session, now) if phase.id in phases]
    frozen = []
    for phase, board in still_due:  # one that cannot be frozen keeps no other
        with continuing("board_not_frozen", phase_id=phase.id, board_id=board.id), session.begin_nested():
            frozen.append(freeze(session, phase, board, now))
    return frozen


def _due(session: Session, now: datetime) -> list[tuple[Phase, Board]]:
    found = session.execute(
        select(Phase, Board, PhaseTask.id)
        .join(PhaseTask, PhaseTask.phase_id == Phase.id)
        .join(Board, and_(Board.task_id == PhaseTask.task_id, Board.competition_id == Phase.competition_id))
        .where(
            Phase.has_snapshot,
            Phase.ends_at <= now - AFTER_CLOSE,
            exists().where(Submission.phase_task_id == PhaseTask.id),
            ~exists().where(
                Snapshot.phase_id == Phase.id, Snapshot.board_id == Board.id, Snapshot.closed_at >= Phase.ends_at
            ),
            ~_has_unfinished_runs(),
            ~_is_open_for_ranked_entries(now),
        )
        .options(joinedload(Board.task))
        .order_by(Phase.id, Board.id)
    )
    return [(phase, board) for phase, board, phase_task_id in found.all() if is_settled(session, phase_task_id, now)]


def _is_open_for_ranked_entries(now: datetime) -> ColumnElement[bool]:
    """Return the condition that a team may still submit ranked entries to the phase, or could a moment ago."""
    late = (Allowance.phase_id == Phase.id, Allowance.is_ranked, Allowance.until > now - AFTER_CLOSE)
    return exists(select(Allowance.id).where(*late).correlate(Phase))


def _has_unfinished_runs() -> ColumnElement[bool]:
    """Return the condition that the phase has unfinished current runs; runs of rescoring sets do not count."""
    of_phase = select(PhaseTask.id).where(PhaseTask.phase_id == Phase.id).correlate(Phase)
    return exists(
        select(ScoringRun.id)
        .join(Submission, Submission.id == ScoringRun.submission_id)
        .where(
            Submission.phase_task_id.in_(of_phase),
            ScoringRun.is_current,
            ScoringRun.status.in_((RunStatus.QUEUED, RunStatus.RUNNING)),  # matches the index
        )
        .correlate(Phase)
    )
