"""Method cards in the database: of a submission, and of the rows on a board."""

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
#: Limited by the number of parameters per query.
CARDS_AT_A_TIME = 2000


def form_of(phase_task: PhaseTask) -> CardForm:
    """Return the form of cards of a task in a phase. phase_task: with everything above it, from `find_phase_task`."""
    options = phase_task.options_of(phase_task.task)
    return card_form(phase_task.phase.competition.method_card, _languages(phase_task.task.task_type, options))


def _languages(task_type: str, options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the declared languages of the task, or else the default of its type.

    Empty if there are none, or if this server no longer has the task type.
    """
    field = TASKS[task_type].options.model_fields.get(LANGUAGES) if task_type in TASKS else None
    found = options.get(LANGUAGES) or (field.default if field else None)
    is_names = isinstance(found, list | tuple) and all(isinstance(one, str) for one in found)
    return tuple(found or ()) if is_names else ()


def card_of_submission(session: Session, submission: Submission) -> MethodCard:
    """Return the current card; `submission.phase_task` with everything above it must be loaded."""
    kept = card_documents(session, [submission.id]).get(submission.id)
    return card_of(kept or sent_with(submission), form_of(submission.phase_task))


def sent_with(submission: Submission) -> dict[str, Any]:
    """Return the content of a card that nobody has written yet."""
    return {"method": submission.method} if submission.method else {}


def card_documents(session: Session, submission_ids: Collection[UUID]) -> dict[UUID, Mapping[str, Any]]:
    """Return the current cards of the submissions' systems, by submission."""
    found: dict[UUID, Mapping[str, Any]] = {}
    for ids in in_batches(list(submission_ids), CARDS_AT_A_TIME):
        rows = session.execute(_DOCUMENTS, {"submissions": ids})
        found.update({submission_id: document for submission_id, document in rows})
    return found


#: Built once, as every board runs it.
_DOCUMENTS = (
    select(Submission.id, CardVersion.document)
    .join(CardVersion, CardVersion.system_id == Submission.system_id)
    .where(Submission.id.in_(bindparam("submissions", expanding=True)), CardVersion.is_current)
)
