"""Environments that programs of competitions need, and whether the server's owner approved the organisers.

Building an environment runs code of its packages. So it is built only if all who can change the declaration are
approved: the competition's owner, and organisers with the right to edit. The default environment and one without
packages run nobody's code, and need no approval.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.base.config import get_settings
from app.base.storage import local_file, storage_of
from app.models import Competition, CompetitionRole, CompetitionTask, Phase, PhaseTask, Right, Role, User, rights_in
from app.runs.workers import runs_program
from evergold.scoring.errors import InvalidOptions
from evergold.scoring.program.options import ProgramOptions
from evergold.scoring.program.packing import InvalidProgram, unpack
from evergold.scoring.task import read_options
from evergold.scoring.tasks import get_task
from workers.sandbox.environments import (
    DeclaredEnvironment,
    EnvironmentSettings,
    declared_environment,
    default_environment,
)
from workers.settings import settings_of


@dataclass(frozen=True, slots=True)
class Need:
    """An environment that tasks of a competition need.

    - tasks: names of the tasks, with their phases: `task (phase)`.
    - refused: why it must not be built, in a sentence; "" if it may be.
    """

    competition: str
    tasks: tuple[str, ...]
    wanted: DeclaredEnvironment
    refused: str = ""


def needs_of(session: Session, names: Sequence[str]) -> list[Need]:
    """Return the environments that programs of these competitions need, or of all if none is named.

    Each environment is listed once per competition. A program that is not in storage, or whose options cannot be read,
    needs none because it cannot run.
    """
    query = select(Competition).order_by(Competition.name)
    competitions = session.scalars(query.where(Competition.name.in_(names)) if names else query).all()
    return [need for one in competitions for need in _needs(session, one)]


def unknown_competitions(session: Session, names: Iterable[str]) -> list[str]:
    """Return those names for which there is no competition."""
    known = set(session.scalars(select(Competition.name)))
    return [name for name in names if name not in known]


def _needs(session: Session, competition: Competition) -> Iterator[Need]:
    found: dict[DeclaredEnvironment, list[str]] = {}
    for phase, task, options in _programs(session, competition):
        wanted = _wanted(options)
        if wanted is not None:
            found.setdefault(wanted, []).append(f"{task} ({phase})")
    unapproved = ", ".join(user.username for user in _unapproved(session, competition)) if found else ""
    for wanted, tasks in found.items():
        is_harmless = not wanted.lines or wanted.requirements == default_environment().requirements
        refused = "" if is_harmless or not unapproved else _refusal(unapproved)
        yield Need(competition.name, tuple(tasks), wanted, refused)


def _programs(session: Session, competition: Competition) -> Iterator[tuple[str, str, ProgramOptions]]:
    rows = session.execute(
        select(Phase.name, CompetitionTask, PhaseTask)
        .select_from(PhaseTask)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
        .where(Phase.competition_id == competition.id)
        .order_by(CompetitionTask.position, Phase.position)
    )
    for phase, task, phase_task in rows:
        if not runs_program(task.task_type):
            continue
        try:
            options = read_options(get_task(task.task_type), phase_task.options_of(task))
        except InvalidOptions:
            continue
        if isinstance(options, ProgramOptions) and options.image is None and options.program_sha256:
            yield phase, task.name, options


def _wanted(options: ProgramOptions) -> DeclaredEnvironment | None:
    if options.environment is not None:
        return declared_environment(None, options.environment, options.python)
    with tempfile.TemporaryDirectory(prefix="evergold-program-") as name:
        try:
            unpack(local_file(storage_of(get_settings()), options.program_sha256), Path(name))
        except (FileNotFoundError, InvalidProgram):
            return None
        return declared_environment(Path(name), options.environment, options.python)


def _unapproved(session: Session, competition: Competition) -> list[User]:
    """Return the users who can change the declaration without approval by this server, by name."""
    rule = settings_of(EnvironmentSettings).organisers
    if rule == "anybody":
        return []
    query = (
        select(User, CompetitionRole.rights)
        .join(CompetitionRole, (CompetitionRole.user_id == User.id) & (CompetitionRole.role == Role.ORGANISER))
        .where(CompetitionRole.competition_id == competition.id)
    )
    editors = {user for user, rights in session.execute(query) if Right.EDIT in rights_in(rights)}
    if competition.owner_id is not None:
        editors.add(session.get_one(User, competition.owner_id))
    others = (one for one in editors if not one.is_administrator)
    return sorted(
        (one for one in others if not (rule == "approved" and one.is_approved_organiser)), key=lambda one: one.username
    )


def _refusal(names: str) -> str:
    if settings_of(EnvironmentSettings).organisers == "admins":
        return f"{names} may edit it, and EVERGOLD_ENVIRONMENTS_ORGANISERS has packages built for administrators alone"
    return f"{names} may edit it, and is not approved: `evergold account approve` does, if you trust them with that"
