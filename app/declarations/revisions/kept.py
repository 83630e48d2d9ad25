"""Revisions of a competition's declaration, of which the latest is the current one.

`app.declarations.apply.precedence` creates them.
"""

from __future__ import annotations

import re

from sqlalchemy import Select, select
from sqlalchemy.orm import Session, selectinload

from app.base.errors import NotFound
from app.base.times import in_utc
from app.models import Competition, Revision, RevisionSource


def newest_revision(session: Session, competition: Competition) -> Revision | None:
    """Return the current declaration with its files; None if nothing was applied since revisions exist."""
    return session.scalar(_of(competition).order_by(Revision.number.desc()).limit(1))


def last_from_file(session: Session, competition: Competition) -> Revision | None:
    """Return the declaration of the last applied file, with its files; None if there is none."""
    of_file = _of(competition).where(Revision.source == RevisionSource.FILE)
    return session.scalar(of_file.order_by(Revision.number.desc()).limit(1))


def present_revision(session: Session, competition: Competition) -> Revision:
    """Return the current declaration with its files; raise NotFound if there is none."""
    found = newest_revision(session, competition)
    if found is None:
        raise NotFound(
            f"No declaration of '{competition.name}' is stored yet: `evergold apply` or the next start of the server "
            "stores the first one."
        )
    return found


def edits_since_file(session: Session, competition: Competition) -> list[Revision]:
    """List the edits and undos since a file was last applied unchanged, oldest first, without their files.

    A file that was merged with edits does not end them.
    """
    found: list[Revision] = []
    query = select(Revision).where(Revision.competition_id == competition.id).order_by(Revision.number.desc())
    later: Revision | None = None
    for revision in session.scalars(query):
        if revision.source == RevisionSource.FILE and (later is None or later.source != RevisionSource.MERGE):
            break
        if revision.source in (RevisionSource.EDIT, RevisionSource.UNDO):
            found.append(revision)
        later = revision
    return found[::-1]


def revision_mark(revision: Revision, competition: str) -> str:
    """Return the first line of an export, by which a changed export is compared with the right revision."""
    when = in_utc(revision.made_at.replace(microsecond=0))
    return f"Revision {revision.number} of '{competition}', of {when}, by {revision.author}."


def marked_revision(session: Session, competition: Competition, mark: str) -> Revision | None:
    """Return the revision that has this mark, with its files; None if it is not one of this server."""
    number = _MARK.match(mark)
    found = session.scalar(_of(competition).where(Revision.number == int(number[1]))) if number else None
    return found if found is not None and revision_mark(found, competition.name) == mark else None


#: Begins a mark; nine digits are more revisions than a competition has.
_MARK = re.compile(r"Revision ([0-9]{1,9}) of ")


def find_revision(session: Session, competition: Competition, number: int) -> Revision:
    """Return one revision with its files. Raises NotFound."""
    found = session.scalar(_of(competition).where(Revision.number == number))
    if found is None:
        raise NotFound(f"'{competition.name}' has no revision {number}.")
    return found


def list_revisions(
    session: Session, competition: Competition, *, limit: int, before: int | None = None
) -> list[Revision]:
    """List revisions, newest first, without their files. before: only revisions with a smaller number."""
    query = select(Revision).where(Revision.competition_id == competition.id).order_by(Revision.number.desc())
    if before is not None:
        query = query.where(Revision.number < before)
    return list(session.scalars(query.limit(limit)))


def revisions_since(session: Session, competition: Competition, number: int) -> list[Revision]:
    """List the revisions after this one, oldest first, without their files."""
    query = select(Revision).where(Revision.competition_id == competition.id, Revision.number > number)
    return list(session.scalars(query.order_by(Revision.number)))


def _of(competition: Competition) -> Select[Revision]:
    return select(Revision).where(Revision.competition_id == competition.id).options(selectinload(Revision.files))
