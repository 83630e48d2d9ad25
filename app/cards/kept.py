"""Method cards as the database has them: the one of a submission, and those of the rows on a board."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from app.base.batches import in_batches
from app.cards.form import CardForm, MethodCard, card_form, card_of
from app.models import CardVersion, PhaseTask, Submission
from evergold.scoring.tasks import TASKS

LANGUAGES = "languages"
#: A query takes only so many parameters.
CARDS_AT_A_TIME = 2000


def form_of(phase_task: PhaseTask) -> CardForm:
    """What cards of a task in a phase ask; `phase_task` with all above it, as `find_phase_task` gives it."""
    options = phase_task.options_of(phase_task.task)
    return card_form(phase_task.phase.competition.method_card, _languages(phase_task.task.task_type, options))


def _languages(task_type: str, options: Mapping[str, Any]) -> tuple[str, ...]:
    """Those of the task: as declared, or else what the task type takes for granted; none where it does not say, or
    where this server no longer has the type."""
    field = TASKS[task_type].options.model_fields.get(LANGUAGES) if task_type in TASKS else None
    found = options.get(LANGUAGES) or (field.default if field else None)
    is_names = isinstance(found, list | tuple) and all(isinstance(one, str) for one in found)
    return tuple(found or ()) if is_names else ()


def card_of_submission(session: Session, submission: Submission) -> MethodCard:
    """As it stands now; `submission.phase_task` with all above it must be loaded."""
    kept = card_documents(session, [submission.id]).get(submission.id)
    return card_of(kept or sent_with(submission), form_of(submission.phase_task))


def sent_with(submission: Submission) -> dict[str, Any]:
    """What a card says as long as nobody has written one."""
    return {"method": submission.method} if submission.method else {}


def card_documents(session: Session, submission_ids: Collection[UUID]) -> dict[UUID, Mapping[str, Any]]:
    """What the cards of their systems say now, by submission."""
    found: dict[UUID, Mapping[str, Any]] = {}
    for ids in in_batches(list(submission_ids), CARDS_AT_A_TIME):
        rows = session.execute(_DOCUMENTS, {"submissions": ids})
        found.update({submission_id: document for submission_id, document in rows})
    return found


#: Written once, as every board asks this.
_DOCUMENTS = (
    select(Submission.id, CardVersion.document)
    .join(CardVersion, CardVersion.system_id == Submission.system_id)
    .where(Submission.id.in_(bindparam("submissions", expanding=True)), CardVersion.is_current)
)
