"""A visit: what a route or a page that only reads works with, opened and closed around its function.

The session takes a connection with its first query and gives it back before the answer is sent, so that a slow client's
download never holds one. Routes that write, or wait, open their own sessions.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy.orm import Session

from app.base.db import reading
from app.competitions.visibility import Viewer
from app.models import User
from app.web.http.context import Server, server_of
from app.web.http.identity import ApiOrganiser, ApiUser, ApiViewer, ApiVisitor, ViewerHere, VisitorHere


@dataclass(frozen=True, slots=True)
class Visit:
    """A request that reads, with its session and who looks at what moment."""

    request: Request
    server: Server
    session: Session
    viewer: Viewer

    @property
    def now(self) -> datetime:
        """The moment that decides what the viewer sees."""
        return self.viewer.now


@dataclass(frozen=True, slots=True)
class UserVisit(Visit):
    """A visit of somebody who is logged in, as themselves."""

    user: User


def _viewer_now(request: Request, user: User | None) -> Viewer:
    """Return the viewer as themselves, at this moment."""
    return Viewer(user, server_of(request).clock())


@contextmanager
def visit_of(request: Request, viewer: Viewer) -> Iterator[Visit]:
    """Open the visit of this viewer; its session ends with the block."""
    server = server_of(request)
    with reading(server.engine) as session:
        yield Visit(request, server, session, viewer)


@contextmanager
def user_visit_of(request: Request, user: User) -> Iterator[UserVisit]:
    """Open the visit of a user who looks as themselves, now."""
    server = server_of(request)
    with reading(server.engine) as session:
        yield UserVisit(request, server, session, _viewer_now(request, user), user)


async def public_visit(request: Request) -> AsyncIterator[Visit]:
    """Visit as somebody who is not logged in, even if the request has a login."""
    with visit_of(request, _viewer_now(request, None)) as visit:
        yield visit


async def page_visit(request: Request, viewer: ViewerHere) -> AsyncIterator[Visit]:
    """Visit a page that organisers may preview in another role."""
    with visit_of(request, viewer) as visit:
        yield visit


async def plain_page_visit(request: Request, visitor: VisitorHere) -> AsyncIterator[Visit]:
    """Visit a page without previews."""
    with visit_of(request, _viewer_now(request, visitor.user)) as visit:
        yield visit


async def api_visit(request: Request, viewer: ApiViewer) -> AsyncIterator[Visit]:
    """Visit an API route that organisers may preview in another role."""
    with visit_of(request, viewer) as visit:
        yield visit


async def plain_api_visit(request: Request, visitor: ApiVisitor) -> AsyncIterator[Visit]:
    """Visit an API route without previews."""
    with visit_of(request, _viewer_now(request, visitor.user)) as visit:
        yield visit


async def api_user_visit(request: Request, user: ApiUser) -> AsyncIterator[UserVisit]:
    """Visit an API route for users."""
    with user_visit_of(request, user) as visit:
        yield visit


async def api_organiser_visit(request: Request, user: ApiOrganiser) -> AsyncIterator[UserVisit]:
    """Visit an API route for organisers; the route itself checks the user's rights."""
    with user_visit_of(request, user) as visit:
        yield visit


PublicVisit = Annotated[Visit, Depends(public_visit, scope="function")]
PageVisit = Annotated[Visit, Depends(page_visit, scope="function")]
PlainPageVisit = Annotated[Visit, Depends(plain_page_visit, scope="function")]
ApiVisit = Annotated[Visit, Depends(api_visit, scope="function")]
PlainApiVisit = Annotated[Visit, Depends(plain_api_visit, scope="function")]
ApiUserVisit = Annotated[UserVisit, Depends(api_user_visit, scope="function")]
ApiOrganiserVisit = Annotated[UserVisit, Depends(api_organiser_visit, scope="function")]
