"""A competition, for those who organise it."""

from __future__ import annotations

from sqlalchemy.orm import Session

from app.competitions.find import find_competition
from app.models import Competition, User
from app.people.roles import check_may_organise

# --------------------------------------------------------------------------------------- for the API and for the pages


def organised(session: Session, user: User | None, competition: str) -> Competition:
    """The competition, for its organisers; raises NotFound, NotAuthenticated, Forbidden."""
    found = find_competition(session, competition)
    check_may_organise(session, user, found)
    return found
