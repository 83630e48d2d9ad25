"""Revisions of a competition's declaration; the latest one is the current declaration.

`app.declarations.apply.precedence` creates them.
"""

from __future__ import annotations

from sqlalchemy import Select, select
from sqlalchemy.orm import Session, selectinload

from app.base.errors import NotFound
from app.models import Competition, Revision, RevisionSource


def newest_revision(session: Session, competition: Competition) -> Revision | None:
    """Return the current declaration with its files; None if nothing was applied since revisions were introduced."""
    return session.scalar(_of(competition).order_by(Revision.number.desc()).limit(1))


def last_from_file(session: Session, competition: Competition) -> Revision | None:
    """Return the declaration of the last applied file, with its files."""
    of_file = _of(competition).where(Revision.source == RevisionSource.FILE)
    return session.scalar(of_file.order_by(Revision.number.desc()).limit(1))


def present_revision(session: Session, competition: Competition) -> Revision:
    """Like `newest_revision`, but raise NotFound if there is none."""
    found = newest_revision(session, competition)
    if found is None:
        raise NotFound(
            f"No declaration of '{competition.name}' is kept yet: `evergold apply`, or the next start of the server, "
            "keeps the first one."
        )
    return found


def find_revision(session: Session, competition: Competition, number: int) -> Revision:
    """Return one revision with its files. Raises NotFound."""
    found = session.scalar(_of(competition).where(Revision.number == number))
    if found is None:
        raise NotFound(f"'{competition.name}' has no revision {number}.")
    return found


def list_revisions(
    session: Session, competition: Competition, *, limit: int, before: int | None = None
) -> list[Revision]:
    """List revisions, newest first, without their files. before: only those with a smaller number."""
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
