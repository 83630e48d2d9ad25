"""Blueprints in the database: create, look up by owner, change under a lock, delete."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import delete, select
from sqlalchemy.orm import Session, joinedload, selectinload

from app.base.errors import EvergoldError, Forbidden, InvalidForm, NotFound
from app.base.storage import StoredFile
from app.competitions.organisers import OrganiserLimits, QuotaReached, check_bytes_left
from app.declarations.revisions.kept import present_revision
from app.models import Blueprint, BlueprintFile, Competition, Right, User
from app.people.rights import may_organise
from evergold.yaml_lines import FILE_LIMIT_BYTES

if TYPE_CHECKING:  # the sweep, which deletes blueprints, need not import declarations
    from app.declarations.revisions.documents import Document

#: Per person, at any time.
MOST_BLUEPRINTS = 20
#: Per blueprint.
MOST_FILES = 500


class ChangedMeanwhile(EvergoldError):
    """Somebody else, or the same person in another window, saved first."""

    status = 409
    code = "changed_meanwhile"


def begin_blueprint(session: Session, user: User, document: Document, now: datetime) -> Blueprint:
    """Create a blueprint of a new competition. Raises QuotaReached. The caller has checked the right to do so."""
    return _begin(session, user, Blueprint(document=document), now)


def begin_changes(session: Session, user: User, competition: Competition, now: datetime) -> Blueprint:
    """Return the user's blueprint of a competition, created from the current declaration if necessary."""
    query = select(Blueprint).where(Blueprint.owner_id == user.id, Blueprint.competition_id == competition.id)
    there = session.scalar(query)
    if there is not None:
        return there
    present = present_revision(session, competition)
    begun = Blueprint(document=present.document, competition_id=competition.id, base=present.number)
    blueprint = _begin(session, user, begun, now)
    session.add_all(
        BlueprintFile(blueprint_id=blueprint.id, path=file.path, sha256=file.sha256, size_bytes=file.size_bytes)
        for file in present.files
    )
    session.flush()
    return blueprint


def begin_copy(
    session: Session,
    user: User,
    competition: Competition,
    document: Document,
    limits: OrganiserLimits,
    now: datetime,
) -> Blueprint:
    """Create a blueprint from a competition's files and this document. The caller has checked the user's right."""
    blueprint = begin_blueprint(session, user, document, now)
    for file in present_revision(session, competition).files:
        add_file(session, user, blueprint.id, file.path, StoredFile(file.sha256, file.size_bytes), limits, now)
    return blueprint


def _begin(session: Session, user: User, blueprint: Blueprint, now: datetime) -> Blueprint:
    if len(list_blueprints(session, user)) >= MOST_BLUEPRINTS:
        raise QuotaReached(f"You have {MOST_BLUEPRINTS} unfinished competitions: finish or delete one first.")
    blueprint.owner_id, blueprint.made_at, blueprint.changed_at = user.id, now, now
    session.add(blueprint)
    session.flush()
    return blueprint


def list_blueprints(session: Session, user: User) -> list[Blueprint]:
    """List a user's blueprints, the last changed first."""
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


def save_document(
    session: Session, user: User, blueprint_id: int, version: int, document: Document, now: datetime
) -> Blueprint:
    """Save the document. version: the one that was edited. Raises ChangedMeanwhile."""
    blueprint = find_blueprint(session, user, blueprint_id, lock=True)
    if blueprint.version != version:
        raise ChangedMeanwhile("This was changed in another window in the meantime. The page shows the current values.")
    if blueprint.competition is not None and document.get("name") != blueprint.competition.name:
        raise InvalidForm(
            "Please correct the marked fields.", fields={"name": "The name of a competition cannot be changed."}
        )
    _check_size(document)
    blueprint.document, blueprint.changed_at = document, now
    blueprint.version += 1
    session.flush()
    return blueprint


def _check_size(document: Document) -> None:
    """Raise InvalidForm if the document is too large for a file; the check also tests the size of its YAML."""
    if len(json.dumps(document, ensure_ascii=False)) > FILE_LIMIT_BYTES:
        sentence = f"The whole declaration is larger than {FILE_LIMIT_BYTES // 1024} KiB: shorten its texts or lists."
        raise InvalidForm("This is too long.", fields={"declaration": sentence})


def add_file(
    session: Session,
    user: User,
    blueprint_id: int,
    path: str,
    file: StoredFile,
    limits: OrganiserLimits,
    now: datetime,
) -> None:
    """Add a file, replacing one of the same path. Raises QuotaReached, Forbidden."""
    check_bytes_left(session, user, file.size_bytes, limits)
    blueprint = find_blueprint(session, user, blueprint_id, lock=True)
    if len(blueprint.files) >= MOST_FILES:
        raise Forbidden(f"At most {MOST_FILES} files.")
    remove_file(session, blueprint, path)
    session.add(BlueprintFile(blueprint_id=blueprint.id, path=path, sha256=file.sha256, size_bytes=file.size_bytes))
    blueprint.changed_at = now
    session.flush()


def remove_file(session: Session, blueprint: Blueprint, path: str) -> None:
    """Remove a file, if it exists."""
    session.execute(delete(BlueprintFile).where(BlueprintFile.blueprint_id == blueprint.id, BlueprintFile.path == path))


def throw_away(session: Session, blueprint: Blueprint) -> None:
    """Delete a blueprint for good, with its files; the competition that it would have changed is unaffected."""
    session.execute(delete(BlueprintFile).where(BlueprintFile.blueprint_id == blueprint.id))
    session.execute(delete(Blueprint).where(Blueprint.id == blueprint.id))
