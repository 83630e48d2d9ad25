"""Looks up objects by the numbers and keys of Codabench's clients; objects that the user may not see raise NotFound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import set_committed_value

from app.base.errors import NotFound
from app.competitions.access import is_seen_by
from app.competitions.current import current_phase
from app.competitions.find import boards_of, find_competition
from app.competitions.visibility import Viewer
from app.models import Board, Competition, Phase, PhaseTask, PublicFile, Submission, User
from app.submissions.find import get_submission
from app.web.codabench.numbers import KeyOf, id_range, row_of
from app.web.http.paths import TaskNames


class PlacedPhase(NamedTuple):
    """A phase with its competition, both with their parts."""

    competition: Competition
    phase: Phase


class PlacedTask(NamedTuple):
    """A task of a phase, with the phase and the competition."""

    competition: Competition
    phase: Phase
    phase_task: PhaseTask

    @property
    def names(self) -> TaskNames:
        return TaskNames(self.competition.name, self.phase.name, self.phase_task.task.name)


class PlacedBoard(NamedTuple):
    """A board in one of the phases that show it."""

    competition: Competition
    phase: Phase
    board: Board


def competition_by_id(session: Session, competition_id: int, user: User | None) -> Competition:
    """Return the competition with its parts. Raises NotFound, also if this user may not see it."""
    seen = select(Competition.name).where(Competition.id == competition_id, is_seen_by(user))
    name = session.scalar(seen)
    if name is None:
        raise NotFound("There is no competition with this number on this server.")
    found = find_competition(session, name)
    for phase in found.phases:
        set_committed_value(phase, "competition", found)
        for phase_task in phase.phase_tasks:
            set_committed_value(phase_task, "phase", phase)
    return found


def competition_number(session: Session, name: str, user: User) -> int | None:
    """Return the number of the competition with this name; None if this user may not see it."""
    return session.scalar(select(Competition.id).where(Competition.name == name, is_seen_by(user)))


def phase_by_id(session: Session, phase_id: int, user: User | None) -> PlacedPhase:
    """Return the phase with this id and its competition. Raises NotFound."""
    seen = select(Phase.competition_id).join(Phase.competition).where(Phase.id == phase_id, is_seen_by(user))
    competition_id = session.scalar(seen)
    if competition_id is None:
        raise NotFound("There is no phase with this number on this server.")
    competition = competition_by_id(session, competition_id, user)
    return PlacedPhase(competition, next(one for one in competition.phases if one.id == phase_id))


def task_by_id(session: Session, phase_task_id: int | None, user: User | None) -> PlacedTask:
    """Return the task of a phase. Raises NotFound."""
    seen = (
        select(PhaseTask.phase_id)
        .join(PhaseTask.phase)
        .join(Phase.competition)
        .where(PhaseTask.id == phase_task_id, is_seen_by(user))
    )
    phase_id = session.scalar(seen) if phase_task_id is not None else None
    if phase_id is None:
        raise NotFound("There is no task with this number or key on this server.")
    competition, phase = phase_by_id(session, phase_id, user)
    return PlacedTask(competition, phase, next(one for one in phase.phase_tasks if one.id == phase_task_id))


def task_by_key(session: Session, key: UUID, user: User | None) -> PlacedTask:
    """Return the task of a phase. Raises NotFound."""
    return task_by_id(session, row_of(KeyOf.PHASE_TASK, key), user)


def board_by_id(session: Session, board_id: int, viewer: Viewer, phase_id: int | None = None) -> PlacedBoard:
    """Return the board in this phase, or else in the most relevant phase now. Raises NotFound."""
    seen = select(Board.competition_id).where(
        Board.id == board_id, Board.competition_id.in_(select(Competition.id).where(is_seen_by(viewer.user)))
    )
    competition_id = session.scalar(seen)
    found = competition_by_id(session, competition_id, viewer.user) if competition_id is not None else None
    board = next((one for one in found.boards if one.id == board_id), None) if found else None
    phases = phases_of(found, board, viewer) if found and board else []
    phase = next((one for one in phases if phase_id is None or one.id == phase_id), None)
    if found is None or board is None or phase is None:
        raise NotFound("There is no leaderboard with this number on this server.")
    return PlacedBoard(found, phase, board)


def phases_of(competition: Competition, board: Board, viewer: Viewer) -> list[Phase]:
    """List the phases with this board: first the most relevant one now, then the others in reverse order."""
    current = current_phase(competition, viewer.now)
    others = [one for one in reversed(competition.phases) if current is None or one.id != current.phase.id]
    phases = [current.phase, *others] if current else others
    return [phase for phase in phases if board in boards_of(competition, phase)]


def file_by_key(session: Session, key: UUID, user: User | None) -> tuple[TaskNames, str]:
    """Return the names that identify a public file's task, and the name of the file. Raises NotFound."""
    row_id = row_of(KeyOf.PUBLIC_FILE, key)
    file = session.get(PublicFile, row_id) if row_id is not None else None
    try:
        place = task_by_id(session, file.phase_task_id if file else None, user)
    except NotFound:
        place = None
    if file is None or place is None:
        raise NotFound("There is no file with this key on this server.")
    return place.names, file.name


def submissions_by_number(session: Session, number: int, user: User | None) -> Sequence[Submission]:
    """Return the submissions that the user may see of the upload with this number, by task. Raises NotFound."""
    ids = session.scalars(select(Submission.id).where(Submission.id.between(*id_range(number))))
    found = [one for one in (_seen(session, submission_id, user) for submission_id in ids) if one is not None]
    if not found:
        raise NotFound("This submission does not exist, or it is not yours.")
    # Two uploads may have the same number, though hardly ever: the newer one counts.
    newest = max(found, key=lambda one: (one.submitted_at, one.id))
    return sorted((one for one in found if upload_of(one) == upload_of(newest)), key=lambda one: one.phase_task_id)


def upload_of(submission: Submission) -> tuple[int, int, str]:
    """Return the key shared by all submissions of one upload: user, phase and hash."""
    return submission.user_id, submission.phase_task.phase_id, submission.sha256


def _seen(session: Session, submission_id: UUID, user: User | None) -> Submission | None:
    try:
        return get_submission(session, submission_id, user)
    except NotFound:
        return None
