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
    digests = {asked: program_digest(task.task_type, asked.options_of(task)) for asked, task in rows}
    return {
        asked.id: digest
        for asked, digest in digests.items()
        if digest and published_gold(session, asked.phase_id, asked.task_id)
    }


def note_gold_to_put_again(
    work: Work, competition: Competition, phase_tasks: Mapping[tuple[str, str], PhaseTask], before: Mapping[int, str]
) -> None:
    """Note each task in a phase whose gold the changed program can no longer open. before: from `bound_programs`."""
    if not before:
        return
    work.session.flush()
    now = bound_programs(work.session, competition.name)
    for (phase, task), asked in phase_tasks.items():
        if asked.id in before and now.get(asked.id) != before[asked.id]:
            what = f"'{task}' in phase '{phase}' of '{competition.name}'"
            work.changes.note(
                f"the gold of {what} is sealed for the previous program, command and environment: upload it again, "
                "with --publish; until then submissions wait"
            )
