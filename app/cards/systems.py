"""Systems: what a team built for a task, by name. Its submissions share one method card.

A submission without a system name belongs to the system named after its method; without a method it belongs to none
until its team writes a card.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.base.errors import InvalidForm
from app.cards.form import CardForm, CardPart
from app.competitions.changed import boards_changed
from app.models import Board, CardVersion, Phase, PhaseTask, Snapshot, Submission, System, User
from app.people.audit import record
from evergold.moments import moment_words
from evergold.scoring.characters import can_be_name

NAME_CHARACTERS = 100
NAME_FIELD = "system"
#: Content of a card by field.
Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SystemCard:
    """A system and its card. number: of the card's version, 0 if there is none."""

    system: System
    document: Document
    number: int


def name_fault(name: str) -> str:
    """Return a sentence on an invalid name; "" if it is valid or empty."""
    if len(name.strip()) > NAME_CHARACTERS:
        return f"At most {NAME_CHARACTERS} characters; this has {len(name.strip())}."
    if name.strip() and not can_be_name(name.strip()):
        return "Write one line, without invisible characters."
    return ""


def wanted_name(name: str, document: Document) -> str:
    """Return the name of the system, or else its method; "" if neither is given."""
    return name.strip() or " ".join(str(document.get(CardPart.METHOD, "")).split())


def find_system(session: Session, team_id: int, task_id: int, name: str) -> System | None:
    """Return the team's system with this name for this task; None if there is none."""
    return session.scalar(
        select(System).where(System.team_id == team_id, System.task_id == task_id, System.name == name)
    )


def add_system(session: Session, team_id: int, task_id: int, name: str, now: datetime) -> System:
    """Create a system and return it; the caller holds the team lock. Without a name it becomes the next free `System
    1`.
    """
    name = name or _free_name(session, team_id, task_id)
    system = System(team_id=team_id, task_id=task_id, name=name, created_at=now)
    session.add(system)
    session.flush()
    return system


def rename_system(session: Session, system: System, name: str, user: User, now: datetime) -> None:
    """Rename a system; the caller holds the team lock and prevents freezing of its boards. Submitted files are
    unaffected.

    Raises InvalidForm for a name that is invalid or belongs to another system of the team.
    """
    before, name = system.name, name.strip()
    if not name or name == before:
        return
    is_taken = find_system(session, system.team_id, system.task_id, name) is not None
    fault = name_fault(name) or ("Your team has another system of this name for this task." if is_taken else "")
    if fault:
        raise InvalidForm("Please correct the marked fields.", fields={NAME_FIELD: fault})
    system.name = name
    session.flush()
    boards_changed(session, phases_of(session, system))
    record(session, user, "system.rename", f"system {system.id}", {"before": before, "after": name}, now=now)


def _free_name(session: Session, team_id: int, task_id: int) -> str:
    taken = session.scalars(select(System.name).where(System.team_id == team_id, System.task_id == task_id)).all()
    return next(name for number in count(len(taken) + 1) if (name := f"System {number}") not in taken)


def systems_of_team(session: Session, team_id: int, task_id: int) -> Sequence[System]:
    """Return the team's systems for a task, last used first."""
    used = select(func.max(Submission.submitted_at)).where(Submission.system_id == System.id).scalar_subquery()
    query = select(System).where(System.team_id == team_id, System.task_id == task_id)
    return session.scalars(query.order_by(used.desc(), System.id.desc())).all()


def card_of_system(session: Session, system: System) -> SystemCard:
    """Return the current card of a system."""
    version = session.scalar(select(CardVersion).where(CardVersion.system_id == system.id, CardVersion.is_current))
    if version is not None:
        return SystemCard(system, version.document, version.number)
    last = session.scalar(
        select(Submission.method)
        .where(Submission.system_id == system.id)
        .order_by(Submission.submitted_at.desc(), Submission.id.desc())
        .limit(1)
    )
    return SystemCard(system, {CardPart.METHOD: last} if last else {}, 0)


def required_cards(session: Session, team_id: int, task_id: int, form: CardForm) -> dict[str, Document]:
    """Return the cards of the team's systems by name, whose required fields an upload need not repeat.

    Empty if no field is required.
    """
    if not form.asks:
        return {}
    return {one.name: card_of_system(session, one).document for one in systems_of_team(session, team_id, task_id)}


def merged(before: Document, sent: Document) -> dict[str, Any]:
    """Return the card after an upload, which may add and change fields but not remove any."""
    fields = {**before.get("fields", {}), **sent.get("fields", {})}
    return {**before, **sent, **({"fields": fields} if fields else {})}


def frozen_with(session: Session, system: System) -> Snapshot | None:
    """Return the official board that has frozen the system's card, if there is one."""
    entered = (
        select(Submission.id)
        .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
        .where(
            Submission.system_id == system.id,
            PhaseTask.phase_id == Snapshot.phase_id,
            Submission.submitted_at <= Snapshot.made_at,
        )
        .exists()
    )
    query = select(Snapshot).join(Board, Board.id == Snapshot.board_id).where(Board.task_id == system.task_id, entered)
    return session.scalar(query.order_by(Snapshot.made_at, Snapshot.id).limit(1))


def phases_of(session: Session, system: System, *, hold: bool = False) -> Sequence[int]:
    """Return the ids of phase tasks to which the system was submitted.

    hold: block the freezing of their boards until the transaction ends, so that a snapshot either includes this change
    or precedes it.
    """
    entered = select(Submission.phase_task_id).where(Submission.system_id == system.id).distinct()
    found = session.scalars(entered).all()
    if hold:
        phases = select(PhaseTask.phase_id).where(PhaseTask.id.in_(found))
        held = select(Phase.id).where(Phase.id.in_(phases)).order_by(Phase.id)
        session.scalars(held.with_for_update(read=True)).all()
    return found


def check_not_frozen(session: Session, system: System) -> None:
    """Raise InvalidForm if an official board has frozen the card, because a changed system needs another name."""
    snapshot = frozen_with(session, system)
    if snapshot is not None:
        sentence = (
            f"Official results were frozen on {moment_words(snapshot.made_at)} with the card of '{system.name}', "
            "which can no longer be changed. Give the changed system another name."
        )
        raise InvalidForm(sentence, fields={NAME_FIELD: sentence})
