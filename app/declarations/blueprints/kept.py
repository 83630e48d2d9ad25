"""Blueprints in the database: created, looked up by owner, changed under a lock, deleted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sqlalchemy import delete, select
from sqlalchemy.orm import Session, joinedload, selectinload

from app.base.errors import EvergoldError, Forbidden, InvalidForm, NotFound
from app.base.storage import StoredFile
from app.competitions.organisers import QuotaReached, check_bytes_left, limits_of
from app.declarations.revisions.kept import present_revision
from app.models import Blueprint, BlueprintFile, Competition, Right, User
from app.people.act import UserAct
from app.people.rights import may_organise
from evergold.yaml_lines import FILE_LIMIT_BYTES

if TYPE_CHECKING:  # the sweep, which deletes blueprints, need not import declarations
    from app.declarations.revisions.documents import Document

#: Maximum number of blueprints of one person at a time.
MOST_BLUEPRINTS = 20
#: Maximum number of files of a blueprint.
MOST_FILES = 500


class ChangedMeanwhile(EvergoldError):
    """Somebody else, or the same person in another window, saved first."""

    status = 409
    code = "changed_meanwhile"


def begin_blueprint(act: UserAct, document: Document) -> Blueprint:
    """Create a blueprint of a new competition and return it. Raises QuotaReached. The caller has checked the
    permission.
    """
    return _begin(act, Blueprint(document=document))


def begin_changes(act: UserAct, competition: Competition) -> Blueprint:
    """Return the user's blueprint of a competition, created from the current declaration if necessary."""
    session = act.session
    query = select(Blueprint).where(Blueprint.owner_id == act.user.id, Blueprint.competition_id == competition.id)
    there = session.scalar(query)
    if there is not None:
        return there
    present = present_revision(session, competition)
    begun = Blueprint(document=present.document, competition_id=competition.id, base=present.number)
    blueprint = _begin(act, begun)
    session.add_all(
        BlueprintFile(blueprint_id=blueprint.id, path=file.path, sha256=file.sha256, size_bytes=file.size_bytes)
        for file in present.files
    )
    session.flush()
    return blueprint


def begin_copy(act: UserAct, competition: Competition, document: Document) -> Blueprint:
    """Create a blueprint from a competition's files and this document; return it. The caller has checked the
    permission.
    """
    blueprint = begin_blueprint(act, document)
    for file in present_revision(act.session, competition).files:
        add_file(act, blueprint.id, file.path, StoredFile(file.sha256, file.size_bytes))
    return blueprint


def _begin(act: UserAct, blueprint: Blueprint) -> Blueprint:
    if len(list_blueprints(act.session, act.user)) >= MOST_BLUEPRINTS:
        raise QuotaReached(f"You have {MOST_BLUEPRINTS} unfinished competitions: finish or delete one first.")
    blueprint.owner_id, blueprint.made_at, blueprint.changed_at = act.user.id, act.now, act.now
    act.session.add(blueprint)
    act.session.flush()
    return blueprint


def list_blueprints(session: Session, user: User) -> list[Blueprint]:
    """List a user's blueprints, last changed first."""
    query = select(Blueprint).where(Blueprint.owner_id == user.id).options(joinedload(Blueprint.competition))
    return list(session.scalars(query.order_by(Blueprint.changed_at.desc(), Blueprint.id.desc())))


def find_blueprint(session: Session, user: User, blueprint_id: int, *, lock: bool = False) -> Blueprint:
    """Return a blueprint of this user with its files.

    Raises NotFound for other owners' blueprints, and for those of a competition that the user may no longer edit.
    """
    query = select(Blueprint).where(Blueprint.id == blueprint_id, Blueprint.owner_id == user.id)
    query = query.options(selectinload(Blueprint.files), selectinload(Blueprint.competition))
    found = session.scalar(query.with_for_update() if lock else query)
    if found is None or (
        found.competition is not None and not may_organise(session, user, found.competition, Right.EDIT)
    ):
        raise NotFound("You have no draft at this address.")
    return found


def save_document(act: UserAct, blueprint_id: int, version: int, document: Document) -> Blueprint:
    """Save the document and return the blueprint. version: the one that was edited. Raises ChangedMeanwhile."""
    blueprint = find_blueprint(act.session, act.user, blueprint_id, lock=True)
    if blueprint.version != version:
        raise ChangedMeanwhile("This was changed in another window in the meantime. The page shows the current values.")
    if blueprint.competition is not None and document.get("name") != blueprint.competition.name:
        raise InvalidForm(
            "Please correct the marked fields.", fields={"name": "The name of a competition cannot be changed."}
        )
    _check_size(document)
    blueprint.document, blueprint.changed_at = document, act.now
    blueprint.version += 1
    act.session.flush()
    return blueprint


def _check_size(document: Document) -> None:
    """Raise InvalidForm if the document is too large for a file, including as YAML."""
    if len(json.dumps(document, ensure_ascii=False)) > FILE_LIMIT_BYTES:
        sentence = f"The whole declaration is larger than {FILE_LIMIT_BYTES // 1024} KiB: shorten its texts or lists."
        raise InvalidForm("This is too long.", fields={"declaration": sentence})


def add_file(act: UserAct, blueprint_id: int, path: str, file: StoredFile) -> None:
    """Add a file, replacing one with the same path. Raises QuotaReached, Forbidden."""
    session = act.session
    check_bytes_left(session, act.user, file.size_bytes, limits_of(act.settings))
    blueprint = find_blueprint(session, act.user, blueprint_id, lock=True)
    if len(blueprint.files) >= MOST_FILES:
        raise Forbidden(f"At most {MOST_FILES} files.")
    remove_file(session, blueprint, path)
    session.add(BlueprintFile(blueprint_id=blueprint.id, path=path, sha256=file.sha256, size_bytes=file.size_bytes))
    blueprint.changed_at = act.now
    session.flush()


def remove_file(session: Session, blueprint: Blueprint, path: str) -> None:
    """Remove a file, if it exists."""
    session.execute(delete(BlueprintFile).where(BlueprintFile.blueprint_id == blueprint.id, BlueprintFile.path == path))


def throw_away(session: Session, blueprint: Blueprint) -> None:
    """Delete a blueprint with its files; the competition that it was to change is unaffected."""
    session.execute(delete(BlueprintFile).where(BlueprintFile.blueprint_id == blueprint.id))
    session.execute(delete(Blueprint).where(Blueprint.id == blueprint.id))
