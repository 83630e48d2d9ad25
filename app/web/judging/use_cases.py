"""What organisers do with rounds of judging, for API and pages: each in one transaction, the right asked first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Concatenate, ParamSpec, TypeVar
from uuid import UUID

from sqlalchemy.orm import Session

from app.base.db import reading, writing
from app.base.errors import Forbidden, InvalidForm
from app.base.storage import stored_path
from app.competitions.find import find_competition, find_phase_task
from app.judging.annotators import appoint
from app.judging.imports import Imported, import_marks, read_file
from app.judging.rounds import RoundForm, find_round, start_round
from app.judging.selection import check_judgeable, choose_submissions, read_material
from app.models import Competition, JudgingRound, PhaseTask, User
from app.people.roles import check_may_organise
from app.web.http.context import Server
from app.web.submissions.receiving import Target

T = TypeVar("T")
P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A round to start. submissions: none for those on the boards; annotators: (language, user name) pairs."""

    form: RoundForm
    submissions: tuple[UUID, ...] = ()
    annotators: tuple[tuple[str, str], ...] = ()


def organised(session: Session, name: str, user: User | None) -> Competition:
    """The competition; raises NotFound, NotAuthenticated, Forbidden."""
    found = find_competition(session, name)
    check_may_organise(session, user, found)
    return found


def start(server: Server, user: User, target: Target, wanted: Wanted) -> str:
    """Start a round with its annotators, and give its name. Files are read before anything is locked."""
    now = server.clock()
    with reading(server.engine) as session:
        competition, phase_task = _place(session, target, user)
        check_judgeable(phase_task)
        chosen = choose_submissions(session, competition, phase_task, wanted.submissions, viewer=user, now=now)
        material = read_material(server.settings.storage_dir, phase_task, chosen)
    with writing(server.engine) as session:
        competition, phase_task = _place(session, target, user)
        judging = start_round(
            session,
            competition=competition,
            phase_task=phase_task,
            form=wanted.form,
            material=material,
            actor=user,
            now=now,
        )
        _appoint_all(session, competition, judging, wanted.annotators, user, server)
        return judging.name


def check_import(server: Server, user: User, target: Target) -> None:
    """Raises whatever is sure to stand against an import, before its file is read."""
    with reading(server.engine) as session:
        _place(session, target, user)


def bring(server: Server, user: User, target: Target, name: str, sha256: str) -> Imported:
    """Take the marks of a stored file into the round of this name."""
    data = stored_path(server.settings.storage_dir, sha256).read_bytes()
    with reading(server.engine) as session:
        _, phase_task = _place(session, target, user)
        brought = read_file(session, server.settings.storage_dir, phase_task, data)
    with writing(server.engine) as session:
        competition, phase_task = _place(session, target, user)
        return import_marks(session, competition, phase_task, brought, name=name, actor=user, now=server.clock())


def change(
    server: Server,
    user: User | None,
    competition: str,
    round_name: str,
    deed: Callable[Concatenate[Session, Competition, JudgingRound, P], T],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Do something to a round, as an organiser of its competition."""
    with writing(server.engine) as session:
        found = organised(session, competition, user)
        return deed(session, found, find_round(session, found, round_name), *args, **kwargs)


def _place(session: Session, target: Target, user: User) -> tuple[Competition, PhaseTask]:
    competition = organised(session, target.competition, user)
    return competition, find_phase_task(session, target.competition, target.phase, target.task)


def _appoint_all(
    session: Session,
    competition: Competition,
    judging: JudgingRound,
    annotators: Sequence[tuple[str, str]],
    actor: User,
    server: Server,
) -> None:
    """Everybody, or InvalidForm with all that stands against it."""
    faults = []
    for language, username in dict.fromkeys(annotators):
        try:
            appoint(
                session, competition, judging, language=language, username=username, actor=actor, now=server.clock()
            )
        except InvalidForm as wrong:
            faults += wrong.details["fields"].values()
        except Forbidden as refused:
            faults.append(refused.message)
    if faults:
        raise InvalidForm("Please correct what is marked.", fields={"annotators": " ".join(dict.fromkeys(faults))})
