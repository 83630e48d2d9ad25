"""Revisions: what a competition's declaration was, and is. The newest one is the declaration that holds.

`app.declarations.apply.revisions` keeps them.
"""

from __future__ import annotations

from sqlalchemy import Select, select
from sqlalchemy.orm import Session, selectinload

from app.base.errors import NotFound
from app.models import Competition, Revision, RevisionSource


def newest_revision(session: Session, competition: Competition) -> Revision | None:
    """The declaration that holds, its files loaded; None: nothing was applied since revisions are kept."""
    return session.scalar(_of(competition).order_by(Revision.number.desc()).limit(1))


def last_from_file(session: Session, competition: Competition) -> Revision | None:
    """What the file said when it was applied the last time; its files loaded."""
    of_file = _of(competition).where(Revision.source == RevisionSource.FILE)
    return session.scalar(of_file.order_by(Revision.number.desc()).limit(1))


def present_revision(session: Session, competition: Competition) -> Revision:
    """As `newest_revision`; raises NotFound."""
    found = newest_revision(session, competition)
    if found is None:
        raise NotFound(
            f"No declaration of '{competition.name}' is kept yet: `evergold apply`, or the next start of the server, "
            "keeps the first one."
        )
    return found


def find_revision(session: Session, competition: Competition, number: int) -> Revision:
    """One of them, its files loaded; raises NotFound."""
    found = session.scalar(_of(competition).where(Revision.number == number))
    if found is None:
        raise NotFound(f"'{competition.name}' has no revision {number}.")
    return found


def list_revisions(
    session: Session, competition: Competition, *, limit: int, before: int | None = None
) -> list[Revision]:
    """The newest first, without their files; `before`: only those with a smaller number."""
    query = select(Revision).where(Revision.competition_id == competition.id).order_by(Revision.number.desc())
    if before is not None:
        query = query.where(Revision.number < before)
    return list(session.scalars(query.limit(limit)))


def revisions_since(session: Session, competition: Competition, number: int) -> list[Revision]:
    """Those that came after this one, the oldest first, without their files."""
    query = select(Revision).where(Revision.competition_id == competition.id, Revision.number > number)
    return list(session.scalars(query.order_by(Revision.number)))


def _of(competition: Competition) -> Select[Revision]:
    return select(Revision).where(Revision.competition_id == competition.id).options(selectinload(Revision.files))
