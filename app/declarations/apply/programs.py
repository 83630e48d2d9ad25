"""Gold sealed for organisers' own programs: if a program changes, its gold must be uploaded again."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.declarations.apply.changes import Work
from app.gold.binding import program_digest
from app.gold.versions import published_gold
from app.models import Competition, CompetitionTask, Phase, PhaseTask


def bound_programs(session: Session, competition: str) -> dict[int, str]:
    """Return the program that may open the gold in use, by id of the phase task; only for tasks with both."""
    rows = session.execute(
        select(PhaseTask, CompetitionTask)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .join(Competition, Competition.id == Phase.competition_id)
        .where(Competition.name == competition)
    ).all()
    digests = {phase_task: program_digest(task.task_type, phase_task.options_of(task)) for phase_task, task in rows}
    return {
        phase_task.id: digest
        for phase_task, digest in digests.items()
        if digest and published_gold(session, phase_task.phase_id, phase_task.task_id)
    }


def note_gold_to_put_again(
    work: Work, competition: Competition, phase_tasks: Mapping[tuple[str, str], PhaseTask], before: Mapping[int, str]
) -> None:
    """Note each task in a phase whose gold the changed program can no longer open. before: from `bound_programs`."""
    if not before:
        return
    work.session.flush()
    now = bound_programs(work.session, competition.name)
    for (phase, task), phase_task in phase_tasks.items():
        if phase_task.id in before and now.get(phase_task.id) != before[phase_task.id]:
            what = f"'{task}' in phase '{phase}' of '{competition.name}'"
            work.changes.note(
                f"the gold of {what} is sealed for the previous program, command and environment: upload it again, "
                "with --publish; until then submissions wait"
            )
