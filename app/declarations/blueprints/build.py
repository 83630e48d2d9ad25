"""Checks a blueprint, and builds it: a new competition, at first a draft, or a revision of an existing one.

Only administrators may name plain gold: all competitions of the server share its folder, so that a name would give
access to other gold. Sealed gold is uploaded once the competition exists.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from app.base.config import Settings
from app.base.db import reading, writing
from app.base.errors import InvalidForm, NameTaken, NotFound
from app.base.storage import Storage, storage_of
from app.competitions.organisers import check_competitions_left, check_may_create, limits_of
from app.declarations.apply.apply import apply_new_declaration, lock_declarations
from app.declarations.apply.changes import Changes, Work
from app.declarations.blueprints.kept import find_blueprint, throw_away
from app.declarations.check import LoadedCompetition
from app.declarations.edits.checking import ProposedDeclaration, checked
from app.declarations.edits.edit import Edit, Outcome, edit_whole
from app.declarations.revisions.documents import Document, dotted
from app.declarations.revisions.kept import present_revision
from app.gold.versions import places_with_gold
from app.models import Blueprint, Competition, RevisionSource, Role, Stage, User
from app.people import audit
from app.people.rights import grant_role

#: Declared value of sealed gold.
SEALED = "sealed"
_PLAIN_GOLD = "Only administrators can name plain gold. Leave this empty: you upload gold afterwards, and it is sealed."


def problems_of(engine: Engine, storage: Storage, user: User, blueprint_id: int, now: datetime) -> dict[str, str]:
    """Return every problem by path, `declaration` for the whole document; empty if the blueprint can be built."""
    with reading(engine) as session:
        blueprint = find_blueprint(session, user, blueprint_id)
        wanted, sealed = _wanted(session, blueprint, user), places_with_gold(session)
    try:
        with checked(wanted, storage, now, sealed):
            return {}
    except InvalidForm as invalid:
        return invalid.fields


def build_competition(engine: Engine, settings: Settings, user: User, blueprint_id: int, now: datetime) -> str:
    """Create a draft competition owned by this user, delete the blueprint, and return the competition's name.

    Raises InvalidForm with all problems by path, NameTaken, QuotaReached, Forbidden, and the errors of `apply_phases`.
    """
    storage, limits = storage_of(settings), limits_of(settings)
    check_may_create(user, limits.rule)
    with reading(engine) as session:
        blueprint = find_blueprint(session, user, blueprint_id)
        wanted = _wanted(session, blueprint, user)
    with checked(wanted, storage, now, ()) as (loaded, _), writing(engine) as session:
        check_competitions_left(session, user, limits)
        lock_declarations(session)
        blueprint = find_blueprint(session, user, blueprint_id, lock=True)
        if blueprint.document != wanted.document or blueprint.competition_id is not None:
            raise NotFound("This was changed or applied in another window in the meantime. Reload the page.")
        _check_name(session, loaded)
        _add(Work(session, storage, now, Changes(), user, stage=Stage.DRAFT), loaded, user)
        throw_away(session, blueprint)
    return loaded.declaration.name


def build_draft(engine: Engine, settings: Settings, user: User, document: Document, now: datetime) -> str:
    """Create a draft competition owned by this user from a first declaration without files; return its name.

    Raises the errors of `build_competition`.
    """
    storage, limits = storage_of(settings), limits_of(settings)
    check_may_create(user, limits.rule)
    with (
        checked(ProposedDeclaration(document, {}, RevisionSource.EDIT), storage, now, ()) as (loaded, _),
        writing(engine) as session,
    ):
        check_competitions_left(session, user, limits)
        lock_declarations(session)
        _check_name(session, loaded)
        _add(Work(session, storage, now, Changes(), user, stage=Stage.DRAFT), loaded, user)
    return loaded.declaration.name


def build_changes(
    engine: Engine, storage: Storage, user: User, blueprint_id: int, edit: Edit, now: datetime
) -> Outcome:
    """Preview or apply the changes; after applying, the blueprint is deleted.

    Raises the same errors as `edit_values`.
    """
    with reading(engine) as session:
        wanted = _wanted(session, find_blueprint(session, user, blueprint_id), user)
    if wanted.faults:
        raise InvalidForm("Please correct the marked fields. Nothing was changed.", fields=dict(wanted.faults))
    outcome = edit_whole(engine, storage, edit, wanted, now)
    if outcome.revision is not None:
        with writing(engine) as session:
            throw_away(session, find_blueprint(session, user, blueprint_id))
    return outcome


def without_plain_gold(document: Document) -> Document:
    """Return an imported declaration without its gold, since names of plain gold have no meaning on this server."""
    return {
        **document,
        "phases": [
            {**phase, "tasks": {name: _without_gold(phase_task) for name, phase_task in phase["tasks"].items()}}
            if isinstance(phase, dict) and isinstance(phase.get("tasks"), dict)
            else phase
            for phase in document.get("phases") or []
        ],
    }


def _without_gold(phase_task: Any) -> Any:
    return (
        {key: value for key, value in phase_task.items() if key != "gold"}
        if isinstance(phase_task, dict)
        else phase_task
    )


def _wanted(session: Session, blueprint: Blueprint, user: User) -> ProposedDeclaration:
    files = {file.path: file.sha256 for file in blueprint.files}
    present: Document = {}
    if blueprint.competition is not None:
        present = present_revision(session, blueprint.competition).document
    faults = {} if user.is_administrator else _plain_gold_faults(blueprint.document, present)
    return ProposedDeclaration(blueprint.document, files, RevisionSource.EDIT, faults)


def _plain_gold_faults(document: Document, present: Document) -> dict[str, str]:
    """Return a problem by path for every newly named plain gold."""
    before = _gold_names(present)
    return {
        dotted(("phases", phase, "tasks", task, "gold")): _PLAIN_GOLD
        for (phase, task), gold in _gold_names(document).items()
        if gold not in (None, SEALED) and before.get((phase, task)) != gold
    }


def _gold_names(document: Mapping[str, Any]) -> dict[tuple[str, str], Any]:
    phases = document.get("phases")
    found = {}
    for place, phase in enumerate(phases if isinstance(phases, list) else ()):
        tasks = phase.get("tasks") if isinstance(phase, dict) else None
        for task, phase_task in tasks.items() if isinstance(tasks, dict) else ():
            if isinstance(phase_task, dict):
                found[str(phase.get("name") or place + 1), str(task)] = phase_task.get("gold")
    return found


def _check_name(session: Session, loaded: LoadedCompetition) -> None:
    name = loaded.declaration.name
    if session.scalar(select(Competition.id).where(Competition.name == name)) is not None:
        raise NameTaken(f"This server already has a competition '{name}': choose another name.")


def _add(work: Work, loaded: LoadedCompetition, user: User) -> None:
    competition = apply_new_declaration(work, loaded)
    competition.owner_id = user.id
    grant_role(work.session, competition, user, Role.ORGANISER, work.now, actor=user)
    changes = [str(change) for change in work.changes.made]
    subject = f"competition {competition.name}"
    audit.record(work.session, user, "competition.create", subject, {"changes": changes}, now=work.now)
