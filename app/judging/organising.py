"""Organisers' operations on rounds of judging: start one with its annotators, import marks from a file.

Permissions are checked first, and again when writing, because files are read before anything is locked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from app.base.config import Settings
from app.base.db import reading, writing
from app.base.errors import Forbidden, InvalidForm
from app.base.storage import local_file, storage_of
from app.competitions.find import find_phase_task, organised
from app.competitions.visibility import Viewer
from app.judging.annotators import appoint
from app.judging.imports import import_marks
from app.judging.reading import read_file, read_texts, submissions_in
from app.judging.rounds import RoundForm, check_form, find_round, seed_of, start_round
from app.judging.selection import check_judgeable, choose_submissions, scored_submissions, sources_of
from app.judging.views import ImportOut
from app.models import Competition, JudgingRound, PhaseTask, Right, User
from app.people.act import UserAct

#: Names of a competition, a phase and a task.
Place = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class WantedRound:
    """A round to start. submissions: empty for those on the boards; annotators: (language, user name) pairs."""

    form: RoundForm
    submissions: tuple[UUID, ...] = ()
    annotators: tuple[tuple[str, str], ...] = ()


def organised_round(
    session: Session, user: User | None, competition: str, name: str
) -> tuple[Competition, JudgingRound]:
    """Return a round with its competition, for organisers. Raises NotFound, NotAuthenticated, Forbidden."""
    found = organised(session, user, competition, Right.SUBMISSIONS)
    return found, find_round(session, found, name)


def start_judging(
    engine: Engine, settings: Settings, place: Place, wanted: WantedRound, *, user: User, now: datetime
) -> str:
    """Start a round with its annotators; return its name."""
    check_form(wanted.form)
    with reading(engine) as session:
        competition, phase_task = _organised(session, user, place)
        check_judgeable(phase_task)
        chosen = choose_submissions(session, competition, phase_task, wanted.submissions, Viewer(user, now))
        sources = sources_of(storage_of(settings), phase_task, chosen)
    drawn = read_texts(sources, seed_of(wanted.form), wanted.form.items)
    with writing(engine) as session:
        competition, phase_task = _organised(session, user, place)
        act = UserAct(session, user, now, settings)
        judging = start_round(
            act,
            competition=competition,
            phase_task=phase_task,
            form=wanted.form,
            drawn=drawn,
        )
        _appoint_all(act, competition, judging, wanted.annotators)
        return judging.name


def import_file(
    engine: Engine, settings: Settings, place: Place, name: str, sha256: str, *, user: User, now: datetime
) -> ImportOut:
    """Import the marks of a stored file into the round with this name; return the changes."""
    storage = storage_of(settings)
    path = local_file(storage, sha256)
    named = submissions_in(path)
    with reading(engine) as session:
        _, phase_task = _organised(session, user, place)
        sources = sources_of(storage, phase_task, scored_submissions(session, phase_task, named))
    brought = read_file(path, sources)
    with writing(engine) as session:
        competition, phase_task = _organised(session, user, place)
        return import_marks(UserAct(session, user, now, settings), competition, phase_task, brought, name=name)


def _organised(session: Session, user: User, place: Place) -> tuple[Competition, PhaseTask]:
    return organised(session, user, place[0], Right.SUBMISSIONS), find_phase_task(session, *place)


def _appoint_all(
    act: UserAct, competition: Competition, judging: JudgingRound, annotators: Sequence[tuple[str, str]]
) -> None:
    """Assign all annotators, or raise InvalidForm with all errors."""
    faults: list[str] = []
    for language, username in dict.fromkeys(annotators):
        try:
            appoint(act, competition, judging, language=language, username=username)
        except InvalidForm as wrong:
            faults += wrong.fields.values()
        except Forbidden as refused:
            faults.append(refused.message)
    if faults:
        raise InvalidForm("Please correct the marked fields.", fields={"annotators": " ".join(dict.fromkeys(faults))})
