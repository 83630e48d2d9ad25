"""Method cards written: with a submission, and by its team until boards with its system are frozen. Nothing is lost.

Every change is a version of its own, with who made it and when.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.base.errors import EvergoldError, Forbidden, InvalidForm
from app.base.times import in_utc
from app.cards.form import PART_TITLES, CardForm, CardPart, read_document
from app.cards.kept import form_of, sent_with
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
from app.competitions.access import check_not_archived
from app.competitions.changed import boards_changed
from app.models import Board, CardVersion, PhaseTask, Snapshot, Submission, System, Team, TeamMember, User
from app.standings.renew import renew_team
from app.teams.find import lock_team_of_submission

#: The field of an upload that has a card as JSON; its single fields may come beside it.
CARD_FIELD = "card"
LANGUAGE_START, ANSWER_START = "language-", "field-"
_SINGLE = tuple(part for part in CardPart if part is not CardPart.METHOD)


class CardFrozen(EvergoldError):
    """The official board shows the card as it was; details: frozen_at."""

    status = 409
    code = "card_frozen"


class CardChanged(EvergoldError):
    """Somebody else has changed it meanwhile; details: version."""

    status = 409
    code = "card_changed"


@dataclass(frozen=True, slots=True)
class CardChange:
    """A version of a card: by whom, when, and what was changed, in the words of forms."""

    number: int
    username: str
    changed_at: datetime
    changed: tuple[str, ...]


# ----------------------------------------------------------------------------------------------------- with an upload


def field_names(form: CardForm) -> frozenset[str]:
    """The fields of a form that make a card, besides `method`."""
    languages = {LANGUAGE_START + name for name in form.languages}
    return frozenset({CARD_FIELD, *_SINGLE, *languages, *(ANSWER_START + field.name for field in form.fields)})


def sent_card(fields: Mapping[str, str], form: CardForm) -> dict[str, Any]:
    """What the fields of a form say, as `read_document` reads it; raises InvalidForm for a `card` that is no JSON."""
    sent = _json_card(fields.get(CARD_FIELD, ""))
    single: dict[str, Any] = {name: fields[name] for name in _SINGLE if fields.get(name, "").strip()}
    ticked = [name for name in form.languages if fields.get(LANGUAGE_START + name)]
    if ticked:
        single["languages"] = ticked
    answers = {field.name: fields.get(ANSWER_START + field.name, "") for field in form.fields}
    said = {name: text for name, text in answers.items() if text.strip()}
    if said and isinstance(sent.get("fields", {}), Mapping):
        single["fields"] = {**sent.get("fields", {}), **said}
    return {**sent, **single}


def check_card(sent: Mapping[str, Any], form: CardForm) -> dict[str, Any]:
    """The document to keep; raises InvalidForm with everything that is wrong or missing."""
    document, wrong = read_document(sent, form)
    if wrong:
        raise InvalidForm("Please correct what is marked.", fields=wrong)
    return document


def named_system(
    session: Session, team: Team, phase_task: PhaseTask, name: str, document: Document, now: datetime
) -> SystemCard | None:
    """The system that an upload is of, which may add to its card; None where nothing is said of any. Under the team's
    lock; raises InvalidForm for another card than the one that official boards show."""
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
    """What came with a new, flushed submission, added to its system's card; nothing where nothing is new but the
    method of a new system."""
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
        sentence = 'A card is one JSON object, such as {"code": "https://…"}.'
        raise InvalidForm(sentence, fields={CARD_FIELD: sentence})
    return found


# ------------------------------------------------------------------------------------------------------------ editing


def frozen_by(session: Session, submission: Submission) -> Snapshot | None:
    """The official board that shows the card of the submission's system for good, if there is one by now."""
    if submission.system_id is not None:
        return frozen_with(session, session.get_one(System, submission.system_id))
    asked = session.get_one(PhaseTask, submission.phase_task_id)
    return session.scalar(
        select(Snapshot)
        .join(Board, Board.id == Snapshot.board_id)
        .where(
            Snapshot.phase_id == asked.phase_id,
            Board.task_id == asked.task_id,
            Snapshot.made_at >= submission.submitted_at,
        )
        .order_by(Snapshot.made_at, Snapshot.id)
        .limit(1)
    )


def is_of_team(session: Session, submission: Submission, user: User | None) -> bool:
    """Whether the user is of the team whose submission it is, who alone writes its card."""
    return user is not None and session.get(TeamMember, (submission.team_id, user.id)) is not None


def edit_card(
    session: Session,
    submission: Submission,
    user: User,
    sent: Mapping[str, Any],
    now: datetime,
    *,
    version: int | None = None,
    name: str | None = None,
) -> int:
    """Let the card say this and nothing else; the number of its version, which stays if nothing is changed.

    version: the one that was looked at, to be told if somebody else was faster; name: another one of the system.
    Raises Forbidden, CardFrozen, CardChanged, InvalidForm.
    """
    if not is_of_team(session, submission, user):
        raise Forbidden("Only its team can change a method card.")
    check_not_archived(submission.phase_task.phase.competition)
    lock_team_of_submission(session, submission)
    session.refresh(submission, ["system_id"])  # as it is now that nobody else writes
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
    """Its system; a run of which nothing was said gets one that is called as its method. Raises InvalidForm: what is no
    text is looked for nowhere."""
    if submission.system_id is None:
        place = submission.team_id, submission.phase_task.task_id
        name = wanted_name("", check_card(sent, form_of(submission.phase_task)))
        found = find_system(session, *place, name) if name else None
        submission.system_id = (found or add_system(session, *place, name, now)).id
        session.flush()
    return session.get_one(System, submission.system_id)


def card_history(session: Session, submission: Submission) -> list[CardChange]:
    """Every version, the first one first; `submission.phase_task` with all above it must be loaded."""
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
        changed = tuple(_changed(before, one.document, form))
        changes.append(CardChange(one.number, names[one.number], one.changed_at, changed))
        before = one.document
    return changes


def card_number(session: Session, submission: Submission) -> int:
    """Which version stands now; 0: nobody has written a card."""
    if submission.system_id is None:
        return 0
    current = (CardVersion.system_id == submission.system_id, CardVersion.is_current)
    return session.scalar(select(CardVersion.number).where(*current)) or 0


def _check_not_frozen(session: Session, submission: Submission) -> None:
    snapshot = frozen_by(session, submission)
    if snapshot is not None:
        raise CardFrozen(
            f"The official results were frozen at {in_utc(snapshot.made_at)}, with this card as it is.",
            frozen_at=snapshot.made_at.isoformat(),
        )


def _versions(session: Session, system_id: int | None) -> Sequence[CardVersion]:
    query = select(CardVersion).where(CardVersion.system_id == system_id).order_by(CardVersion.number)
    return session.scalars(query.execution_options(populate_existing=True)).all()


def _changed(before: Mapping[str, Any], after: Mapping[str, Any], form: CardForm) -> list[str]:
    """What differs, as forms call it; answers to what is no longer asked by their names."""
    titles = {field.name: field.title for field in form.fields}
    found = [PART_TITLES[part] for part in CardPart if before.get(part) != after.get(part)]
    old, new = before.get("fields", {}), after.get("fields", {})
    names = dict.fromkeys([*titles, *old, *new])
    return [*found, *(titles.get(name, name) for name in names if old.get(name) != new.get(name))]


def _replace(session: Session, system: System, document: Document, number: int, user_id: int, now: datetime) -> None:
    """The boards are others now."""
    current = (CardVersion.system_id == system.id, CardVersion.is_current)
    session.execute(update(CardVersion).where(*current).values(is_current=False))
    kept = dict(document)
    session.add(CardVersion(system_id=system.id, number=number, document=kept, user_id=user_id, changed_at=now))
    boards_changed(session, phases_of(session, system))
    session.flush()
