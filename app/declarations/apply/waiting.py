"""Baselines declared before there was gold: submitted as soon as a sealed version is in use.

Their files are those of the current declaration, which its revision holds.
"""

from __future__ import annotations

from datetime import datetime

from pydantic import ValidationError
from sqlalchemy.orm import Session

from app.base.config import get_settings
from app.base.storage import StoredFile, storage_of
from app.declarations.apply.baselines import apply_baselines
from app.declarations.apply.changes import Changes, Work
from app.declarations.model import BaselineDeclaration, CompetitionDeclaration
from app.declarations.revisions.kept import newest_revision
from app.models import PhaseTask


def submit_waiting_baselines(session: Session, phase_task: PhaseTask, now: datetime) -> list[int]:
    """Submit waiting baselines; return the runs to send to workers after the commit.

    phase_task: with phase, competition and task, from `find_phase_task`.
    """
    phase, task = phase_task.phase, phase_task.task
    revision = newest_revision(session, phase.competition)
    if revision is None or phase_task.gold is None:
        return []
    files = {file.path: StoredFile(file.sha256, file.size_bytes) for file in revision.files}
    declared = [one for one in _declared(revision.document, phase.name, task.name) if one.file in files]
    work = Work(session, storage_of(get_settings()), now, Changes(), refuses_baselines=False)
    what = f"'{task.name}' in phase '{phase.name}' of '{phase.competition.name}'"
    apply_baselines(work, phase.competition, phase_task, declared, files.__getitem__, what)
    return [change.run_id for change in work.changes.made if change.run_id is not None]


def _declared(document: dict[str, object], phase: str, task: str) -> list[BaselineDeclaration]:
    try:
        competition = CompetitionDeclaration.model_validate(document)
    except ValidationError:  # from another version of Evergold: the next apply submits them
        return []
    asked = [one.tasks[task] for one in competition.phases if one.name == phase and task in one.tasks]
    return list(asked[0].baselines) if asked else []
