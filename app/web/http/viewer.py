"""The viewer of a page or API response: the user, or for organisers (`?as=`) a participant or the public.

Viewing as another never shows more. Tokens without the scope `organise` see what participants see.
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
    """The user, None if anonymous. seen_as: the role to view as, None for the user's own."""

    user: User | None
    seen_as: SeenAs | None


def viewer_as(visitor: Visitor, seen_as: SeenAs | None) -> Viewer:
    """Return the viewer; anonymous for the public view."""
    if seen_as is SeenAs.PUBLIC or visitor.user is None:
        return Viewer(None, seen_as)
    may_organise = visitor.token is None or TokenScope.ORGANISE in scopes_of(visitor.token)
    return Viewer(visitor.user, seen_as or (None if may_organise else SeenAs.PARTICIPANT))


async def page_viewer(visitor: VisitorHere, seen_as: SeenAsParameter = None) -> Viewer:
    """Return the viewer of a page."""
    return viewer_as(visitor, seen_as)


async def api_viewer(visitor: ApiVisitor, seen_as: SeenAsParameter = None) -> Viewer:
    """Return the viewer of an API route."""
    return viewer_as(visitor, seen_as)


ViewerHere = Annotated[Viewer, Depends(page_viewer)]
ApiViewer = Annotated[Viewer, Depends(api_viewer)]
