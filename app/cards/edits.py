"""Reads and writes method cards: with a submission, or by the team until boards with its system are frozen.

Every change is stored as a version, with author and time, so nothing is lost.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import bindparam, select, update
from sqlalchemy.orm import Session

from app.base.db import UtcDateTime, in_batches
from app.base.errors import EvergoldError, Forbidden, InvalidForm
from app.base.text import refuse
from app.cards.form import PART_TITLES, CardForm, CardPart, MethodCard, card_form, card_of, read_document
from app.cards.systems import (
    Document,
    SystemCard,
    add_system,
    card_of_system,
    check_not_frozen,
    find_system,
    frozen_with,
    merged,
    phases_of,
    rename_system,
    wanted_name,
)
from app.cards.views import CardChangeOut
from app.competitions.access import check_not_archived
from app.competitions.changed import boards_changed
from app.models import Board, CardVersion, PhaseTask, Snapshot, Submission, System, Team, User
from app.people.act import UserAct
from app.people.competition_blocks import check_not_blocked
from app.standings.renew import renew_team
from app.teams.find import lock_team_of_submission, teams_of
from evergold.moments import moment_words
from evergold.scoring.tasks import TASKS

LANGUAGES = "languages"
#: Limited by the number of parameters per query.
CARDS_AT_A_TIME = 2000


def form_of(phase_task: PhaseTask) -> CardForm:
    """Return the form of cards of a task in a phase. phase_task: with all parent objects, from `find_phase_task`."""
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
    """Return the current card; `submission.phase_task` with all parent objects must be loaded."""
    has_system = submission.system_id is not None
    kept = card_documents(session, [submission.id]).get(submission.id) if has_system else None
    return card_of(kept or sent_with(submission), form_of(submission.phase_task))


def sent_with(submission: Submission) -> dict[str, Any]:
    """Return the content of a card that nobody has written yet: the method of the submission, if there is one."""
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


#: The upload field with a card as JSON; single fields may accompany it.
CARD_FIELD = "card"
LANGUAGE_START, ANSWER_START = "language-", "field-"
_SINGLE = tuple(part for part in CardPart if part is not CardPart.METHOD)


class CardFrozen(EvergoldError):
    """The official board shows the card in its current state (details: frozen_at)."""

    status = 409
    code = "card_frozen"


class CardChanged(EvergoldError):
    """Somebody else has changed the card in the meantime (details: version)."""

    status = 409
    code = "card_changed"


# ----------------------------------------------------------------------------------------------------- with an upload


def field_names(form: CardForm) -> frozenset[str]:
    """Return the names of the form fields that make up a card, other than `method`."""
    languages = {LANGUAGE_START + name for name in form.languages}
    return frozenset({CARD_FIELD, *_SINGLE, *languages, *(ANSWER_START + field.name for field in form.fields)})


def sent_card(fields: Mapping[str, str], form: CardForm) -> dict[str, Any]:
    """Return the card in form fields, for `read_document`. Raises InvalidForm if `card` is not a JSON object."""
    sent = _json_card(fields.get(CARD_FIELD, ""))
    single: dict[str, Any] = {name: fields[name] for name in _SINGLE if fields.get(name, "").strip()}
    ticked = [name for name in form.languages if fields.get(LANGUAGE_START + name)]
    if ticked:
        single["languages"] = ticked
    answers = {field.name: fields.get(ANSWER_START + field.name, "") for field in form.fields}
    given = {name: text for name, text in answers.items() if text.strip()}
    if given and isinstance(sent.get("fields", {}), Mapping):
        single["fields"] = {**sent.get("fields", {}), **given}
    return {**sent, **single}


def fields_of(card: MethodCard, form: CardForm) -> dict[str, str]:
    """Return the form fields with the content of a card, in the format of `sent_card`."""
    answers = {ANSWER_START + one.name: one.text for one in card.answers}
    fields = {
        "method": card.method,
        "summary": card.summary,
        "paper": card.paper,
        "code": card.code,
        "data": card.data,
        **answers,
    }
    if form.languages:
        return fields | {LANGUAGE_START + name: "yes" for name in card.languages}
    return fields | {"languages": " ".join(card.languages)}


def check_card(sent: Mapping[str, Any], form: CardForm) -> dict[str, Any]:
    """Return the document to store. Raises InvalidForm with all invalid and missing fields."""
    document, wrong = read_document(sent, form)
    refuse(wrong)
    return document


def named_system(
    session: Session, team: Team, phase_task: PhaseTask, name: str, document: Document, now: datetime
) -> SystemCard | None:
    """Return the system of an upload, whose card the upload may extend; None if it names none.

    Must be called under the team lock. Raises InvalidForm for a card that differs from the one on official boards.
    """
    wanted = wanted_name(name, document)
    if not wanted and set(document) <= {CardPart.METHOD}:
        return None
    system = find_system(session, team.id, phase_task.task_id, wanted) if wanted else None
    if system is None:
        return SystemCard(add_system(session, team.id, phase_task.task_id, wanted, now), {}, 0)
    found = card_of_system(session, system)
    if merged(found.document, document) != found.document:
        phases_of(session, system, hold=True)
        check_not_frozen(session, system)
    return found


def keep_card(
    session: Session, submission: Submission, known: SystemCard | None, document: Document, now: datetime
) -> None:
    """Add the card of a new, flushed submission to its system's card.

    Nothing is stored if nothing is new, or only the method of a new system is.
    """
    if known is None:
        return
    wanted = merged(known.document, document)
    if wanted != known.document and (known.document or wanted != sent_with(submission)):
        _replace(session, known.system, wanted, known.number + 1, submission.user_id, now)


def _json_card(text: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        sentence = 'The card must be one JSON object, such as {"code": "https://…"}.'
        raise InvalidForm(sentence, fields={CARD_FIELD: sentence})
    return found


# ------------------------------------------------------------------------------------------------------------ editing


def frozen_by(session: Session, submission: Submission) -> Snapshot | None:
    """Return the official board that has frozen the card of the submission's system, if there is one."""
    if submission.system_id is not None:
        return frozen_with(session, session.get_one(System, submission.system_id))
    phase_task = session.get_one(PhaseTask, submission.phase_task_id)
    return session.scalar(
        _FROZEN, {"phase": phase_task.phase_id, "task": phase_task.task_id, "sent": submission.submitted_at}
    )


#: Built once: building it takes longer than executing it.
_FROZEN = (
    select(Snapshot)
    .join(Board, Board.id == Snapshot.board_id)
    .where(
        Snapshot.phase_id == bindparam("phase"),
        Board.task_id == bindparam("task"),
        Snapshot.made_at >= bindparam("sent", type_=UtcDateTime()),
    )
    .order_by(Snapshot.made_at, Snapshot.id)
    .limit(1)
)


def is_of_team(session: Session, submission: Submission, user: User | None) -> bool:
    """Return True if the user is in the submission's team, whose members are the only ones to edit its card."""
    return user is not None and submission.team_id in teams_of(session, user)


def edit_card(
    act: UserAct,
    submission: Submission,
    sent: Mapping[str, Any],
    *,
    version: int | None = None,
    name: str | None = None,
) -> int:
    """Replace the card; return its version number, which is unchanged if nothing changed.

    version: the edited one, to detect concurrent changes; name: a new name of the system. Raises Forbidden (also for
    blocked users), CardFrozen, CardChanged, InvalidForm.
    """
    session, user, now = act.session, act.user, act.now
    if not is_of_team(session, submission, user):
        raise Forbidden("Only its team can change a method card.")
    check_not_blocked(session, submission.phase_task.phase.competition, user)
    check_not_archived(submission.phase_task.phase.competition)
    lock_team_of_submission(session, submission)
    session.refresh(submission, ["system_id"])  # current state, under the lock
    had_system = submission.system_id is not None
    system = _system_of(session, submission, sent, now)
    phases_of(session, system, hold=True)
    _check_not_frozen(session, submission)
    if not had_system:
        boards_changed(session, phases_of(session, system))
        renew_team(session, submission.phase_task_id, submission.team_id)
    versions = _versions(session, system.id)
    number = versions[-1].number if versions else 0
    if version is not None and version != number:
        raise CardChanged("Somebody on your team has just changed this card. Please reload the page.", version=number)
    document = check_card(sent, form_of(submission.phase_task))
    rename_system(session, system, name or "", user, now)
    before = versions[-1].document if versions else sent_with(submission)
    if document == before:
        return number
    _replace(session, system, document, number + 1, user.id, now)
    return number + 1


def _system_of(session: Session, submission: Submission, sent: Mapping[str, Any], now: datetime) -> System:
    """Return the submission's system; without one, find or create the one named after its method.

    Raises InvalidForm for values that are not text.
    """
    if submission.system_id is None:
        place = submission.team_id, submission.phase_task.task_id
        name = wanted_name("", check_card(sent, form_of(submission.phase_task)))
        found = find_system(session, *place, name) if name else None
        submission.system_id = (found or add_system(session, *place, name, now)).id
        session.flush()
    return session.get_one(System, submission.system_id)


def card_history(session: Session, submission: Submission) -> list[CardChangeOut]:
    """Return every version, oldest first; `submission.phase_task` with all parent objects must be loaded."""
    if submission.system_id is None:
        return []
    form, before, changes = form_of(submission.phase_task), sent_with(submission), []
    wrote = session.execute(
        select(CardVersion.number, User.username)
        .join(User, User.id == CardVersion.user_id)
        .where(CardVersion.system_id == submission.system_id)
    )
    names = {number: username for number, username in wrote}
    for one in _versions(session, submission.system_id):
        changed = _changed(before, one.document, form)
        author = names[one.number]
        changes.append(CardChangeOut(version=one.number, changed_by=author, changed_at=one.changed_at, changed=changed))
        before = one.document
    return changes


def card_number(session: Session, submission: Submission) -> int:
    """Return the number of the current version, 0 if there is no card."""
    if submission.system_id is None:
        return 0
    current = (CardVersion.system_id == submission.system_id, CardVersion.is_current)
    return session.scalar(select(CardVersion.number).where(*current)) or 0


def _check_not_frozen(session: Session, submission: Submission) -> None:
    snapshot = frozen_by(session, submission)
    if snapshot is not None:
        raise CardFrozen(
            f"The official results were frozen on {moment_words(snapshot.made_at)}, with this card as it is.",
            frozen_at=snapshot.made_at.isoformat(),
        )


def _versions(session: Session, system_id: int | None) -> Sequence[CardVersion]:
    query = select(CardVersion).where(CardVersion.system_id == system_id).order_by(CardVersion.number)
    return session.scalars(query.execution_options(populate_existing=True)).all()


def _changed(before: Mapping[str, Any], after: Mapping[str, Any], form: CardForm) -> list[str]:
    """Return the names of the changed fields as in forms; answers to removed questions have the question's name."""
    titles = {field.name: field.title for field in form.fields}
    found = [PART_TITLES[part] for part in CardPart if before.get(part) != after.get(part)]
    old, new = before.get("fields", {}), after.get("fields", {})
    names = dict.fromkeys([*titles, *old, *new])
    return [*found, *(titles.get(name, name) for name in names if old.get(name) != new.get(name))]


def _replace(session: Session, system: System, document: Document, number: int, user_id: int, now: datetime) -> None:
    """Add a new current version, and increment the board versions."""
    current = (CardVersion.system_id == system.id, CardVersion.is_current)
    session.execute(update(CardVersion).where(*current).values(is_current=False))
    kept = dict(document)
    session.add(CardVersion(system_id=system.id, number=number, document=kept, user_id=user_id, changed_at=now))
    boards_changed(session, phases_of(session, system))
    session.flush()
