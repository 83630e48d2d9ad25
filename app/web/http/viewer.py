"""Whose eyes see what is asked for: one's own, or by `?as=` those of a participant or of the public, for organisers.

Borrowed eyes never see more. A token that is not meant for organising sees what participants see.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query

from app.competitions.visibility import SeenAs
from app.models import TokenScope, User
from app.people.auth import scopes_of
from app.web.http.identity import ApiVisitor, Visitor, VisitorHere

SeenAsParameter = Annotated[
    SeenAs | None,
    Query(alias="as", description="for organisers: what participants, or people who are not logged in, see here"),
]


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who looks, None for anybody; seen_as: as whom, None for oneself."""

    user: User | None
    seen_as: SeenAs | None


def viewer_as(visitor: Visitor, seen_as: SeenAs | None) -> Viewer:
    """Nobody's eyes for the public's."""
    if seen_as is SeenAs.PUBLIC or visitor.user is None:
        return Viewer(None, seen_as)
    may_organise = visitor.token is None or TokenScope.ORGANISE in scopes_of(visitor.token)
    return Viewer(visitor.user, seen_as or (None if may_organise else SeenAs.PARTICIPANT))


async def page_viewer(visitor: VisitorHere, seen_as: SeenAsParameter = None) -> Viewer:
    """For pages."""
    return viewer_as(visitor, seen_as)


async def api_viewer(visitor: ApiVisitor, seen_as: SeenAsParameter = None) -> Viewer:
    """For the API."""
    return viewer_as(visitor, seen_as)


ViewerHere = Annotated[Viewer, Depends(page_viewer)]
ApiViewer = Annotated[Viewer, Depends(api_viewer)]
