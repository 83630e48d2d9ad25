"""A declaration for competitions whose rows the tests make by hand."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, select

from app.base.db import writing
from app.declarations.model import CompetitionDeclaration
from app.declarations.revisions.documents import fingerprint
from app.models import Competition, CompetitionTask, Revision, RevisionSource
from tests.world import COMPETITION, NOW, PHASE, TASK, ZERO_SHOT


def keep_declaration(engine: Engine, *, phases: tuple[str, ...] = (PHASE,), metric: str, split: str) -> None:
    """Store the first revision of the world's competition; it is like its rows, so that it can be edited."""
    with writing(engine) as session:
        competition = session.scalars(select(Competition).where(Competition.name == COMPETITION)).one()
        task = session.scalars(select(CompetitionTask).where(CompetitionTask.competition_id == competition.id)).one()
        document = _document(task.task_type, task.options, phases, {"metric": metric, "split": split})
        session.add(
            Revision(
                competition_id=competition.id,
                number=1,
                source=RevisionSource.FILE,
                made_at=NOW,
                author="the test",
                document=document,
                fingerprint=fingerprint(CompetitionDeclaration.model_validate(document), {}),
                changes=["added competition 'idioms'"],
            )
        )


def keep_detection(engine: Engine) -> None:
    """Store the same for a competition of idiom detection."""
    keep_declaration(engine, metric="macro_f1", split=ZERO_SHOT)


def _document(type_: str, options: dict[str, Any], phases: tuple[str, ...], column: dict[str, str]) -> dict[str, Any]:
    return {
        "name": COMPETITION,
        "title": COMPETITION.capitalize(),
        "tasks": [{"name": TASK, "type": type_, "title": "Detection", "options": dict(options)}],
        "boards": [{"name": "zero-shot", "title": "zero-shot", "task": TASK, "columns": [column]}],
        "phases": [
            {
                "name": phase,
                "title": phase.capitalize(),
                "start": "2026-01-09 12:00 UTC",
                "end": "2026-01-11 12:00 UTC",
                "tasks": {TASK: {"gold": "gold.csv"}},
            }
            for phase in phases
        ],
    }
