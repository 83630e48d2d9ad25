"""Rows that phases.yaml no longer declares: removed if nothing was ever submitted to them, otherwise left alone."""

from __future__ import annotations

from sqlalchemy import delete, select

from app.boards.statistics_work import forget_statistics
from app.declarations.apply.changes import Work
from app.declarations.model import CompetitionDeclaration
from app.models import (
    Allowance,
    Board,
    BoardStatistics,
    Competition,
    CompetitionTask,
    EntryChoice,
    GoldPower,
    HistoricRow,
    KeptBoard,
    Phase,
    PhaseTask,
    PublicFile,
    Snapshot,
    StatisticsWork,
    Submission,
    Tally,
)
from app.standings.renew import forget_board

_UNUSED = "nothing was ever submitted to it"
_USED = "is no longer declared but has submissions"


def note_missing_competitions(work: Work, declared: set[str]) -> None:
    """Note competitions that are no longer declared.

    They are never removed, as their file may be missing only temporarily. Competitions with an owner never had a file.
    """
    from_files = select(Competition.name).where(Competition.owner_id.is_(None))
    for name in work.session.scalars(from_files.order_by(Competition.position, Competition.id)):
        if name not in declared:
            work.changes.note(f"left alone: competition '{name}' is no longer declared")


def handle_removed(work: Work, competition: Competition, declared: CompetitionDeclaration) -> None:
    """Handle phase tasks, phases, boards and tasks that are no longer declared."""
    _settle_phase_tasks(work, competition, declared)
    _settle_phases(work, competition, {phase.name for phase in declared.phases})
    used = _settle_tasks(work, competition, {task.name for task in declared.tasks})
    _settle_boards(work, competition, {board.name for board in declared.boards}, used)
    work.session.flush()
    for task in work.session.scalars(select(CompetitionTask).where(CompetitionTask.competition_id == competition.id)):
        if task.id not in used:
            work.session.delete(task)
            work.changes.add(f"removed task '{task.name}' of '{competition.name}': {_UNUSED}")
    work.session.flush()


def _settle_phase_tasks(work: Work, competition: Competition, declared: CompetitionDeclaration) -> None:
    wanted = {(phase.name, task) for phase in declared.phases for task in phase.tasks}
    rows = work.session.execute(
        select(PhaseTask, Phase.name, CompetitionTask.name)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
        .where(Phase.competition_id == competition.id)
        .order_by(PhaseTask.id)
    ).all()
    for phase_task, phase, task in rows:
        what = f"'{task}' in phase '{phase}' of '{competition.name}'"
        if (phase, task) in wanted:
            continue
        if work.session.scalar(select(Submission.id).where(Submission.phase_task_id == phase_task.id).limit(1)):
            work.changes.note(f"left alone: {what} {_USED}")
            continue
        work.session.execute(delete(PublicFile).where(PublicFile.phase_task_id == phase_task.id))
        for table in (KeptBoard, Tally, BoardStatistics, GoldPower, StatisticsWork):
            work.session.execute(delete(table).where(table.phase_task_id == phase_task.id))
        work.session.delete(phase_task)
        work.changes.add(f"removed task {what}: {_UNUSED}")
    work.session.flush()


def _settle_phases(work: Work, competition: Competition, declared: set[str]) -> None:
    used = select(PhaseTask.phase_id).join(Phase, Phase.id == PhaseTask.phase_id)
    used_ids = set(work.session.scalars(used.where(Phase.competition_id == competition.id)))
    for phase in work.session.scalars(select(Phase).where(Phase.competition_id == competition.id)):
        what = f"phase '{phase.name}' of '{competition.name}'"
        if phase.name in declared:
            continue
        if phase.id in used_ids:
            work.changes.note(f"left alone: {what} {_USED}")
            continue
        for table in (HistoricRow, Allowance):
            work.session.execute(delete(table).where(table.phase_id == phase.id))
        work.session.delete(phase)
        work.changes.add(f"removed {what}: {_UNUSED}")


def _settle_tasks(work: Work, competition: Competition, declared: set[str]) -> dict[int, bool]:
    """Return the ids of tasks that stay, with whether they are declared.

    The caller removes the others, after their boards.
    """
    asked = set(work.session.scalars(select(PhaseTask.task_id)))
    tasks = work.session.scalars(select(CompetitionTask).where(CompetitionTask.competition_id == competition.id)).all()
    for task in tasks:
        if task.name not in declared and task.id in asked:
            work.changes.note(f"left alone: task '{task.name}' of '{competition.name}' {_USED}")
    return {task.id: task.name in declared for task in tasks if task.name in declared or task.id in asked}


def _settle_boards(work: Work, competition: Competition, declared: set[str], tasks: dict[int, bool]) -> None:
    """Remove boards that are no longer declared, unless the whole task is left alone or they have official results."""
    for board in work.session.scalars(select(Board).where(Board.competition_id == competition.id)).all():
        what = f"board '{board.name}' of '{competition.name}'"
        if board.name in declared:
            continue
        if tasks.get(board.task_id) is False:
            work.changes.note(f"left alone: {what}, because its task is")
            continue
        if work.session.scalar(select(Snapshot.id).where(Snapshot.board_id == board.id).limit(1)):
            work.changes.note(f"left alone: {what} is no longer declared but has official results")
            continue
        work.session.execute(delete(EntryChoice).where(EntryChoice.board_id == board.id))
        forget_board(work.session, board.id)
        forget_statistics(work.session, board.id)
        work.session.execute(delete(HistoricRow).where(HistoricRow.board_id == board.id))
        work.session.delete(board)
        work.changes.add(f"removed {what}")
