"""Load a competition with all its parts by five prebuilt queries, as every page needs it.

`selectinload` would be shorter, but compiles each of its queries every time: three times the work.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from sqlalchemy import BindParameter, bindparam, select
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import set_committed_value

from app.models import Board, Competition, CompetitionTask, Phase, PhaseTask, PublicFile

Part = TypeVar("Part", CompetitionTask, Board, Phase, PhaseTask, PublicFile)

_OURS: BindParameter[list[int]] = bindparam("competitions", expanding=True)
_TASKS = select(CompetitionTask).where(CompetitionTask.competition_id.in_(_OURS)).order_by(CompetitionTask.position)
_BOARDS = select(Board).where(Board.competition_id.in_(_OURS)).order_by(Board.position)
_PHASES = select(Phase).where(Phase.competition_id.in_(_OURS)).order_by(Phase.position)
_PHASE_TASKS = (
    select(PhaseTask)
    .join(Phase, Phase.id == PhaseTask.phase_id)
    .where(Phase.competition_id.in_(_OURS))
    .order_by(PhaseTask.id)
)
_FILES = (
    select(PublicFile)
    .join(PhaseTask, PhaseTask.id == PublicFile.phase_task_id)
    .join(Phase, Phase.id == PhaseTask.phase_id)
    .where(Phase.competition_id.in_(_OURS))
    .order_by(PublicFile.position)
)


def load_parts(session: Session, competitions: Sequence[Competition]) -> None:
    """Load tasks, boards, phases, phase tasks and their files from the current state of the database."""
    if not competitions:
        return
    ours = {"competitions": [competition.id for competition in competitions]}
    tasks, boards = session.scalars(_TASKS, ours).all(), session.scalars(_BOARDS, ours).all()
    phases, phase_tasks = session.scalars(_PHASES, ours).all(), session.scalars(_PHASE_TASKS, ours).all()
    files = session.scalars(_FILES, ours).all()
    _hand_out(competitions, "tasks", tasks, lambda task: task.competition_id)
    _hand_out(competitions, "boards", boards, lambda board: board.competition_id)
    _hand_out(competitions, "phases", phases, lambda phase: phase.competition_id)
    _hand_out(phases, "phase_tasks", phase_tasks, lambda phase_task: phase_task.phase_id)
    _hand_out(phase_tasks, "files", files, lambda file: file.phase_task_id)
    by_id = {task.id: task for task in tasks}
    for board in boards:
        set_committed_value(board, "task", by_id[board.task_id])
    for phase_task in phase_tasks:
        set_committed_value(phase_task, "task", by_id[phase_task.task_id])


def _hand_out(
    wholes: Iterable[Competition | Phase | PhaseTask], name: str, parts: Iterable[Part], whole_of: Callable[[Part], int]
) -> None:
    """Assign each whole its own parts, in their given order."""
    by_whole: defaultdict[int, list[Part]] = defaultdict(list)
    for part in parts:
        by_whole[whole_of(part)].append(part)
    for whole in wholes:
        set_committed_value(whole, name, by_whole[whole.id])
