"""A visit: the context of a reading route or page, opened before its function and closed after it.

The session takes a connection with its first query and releases it before the response is sent, so that a slow download
never holds one. Routes that write, or wait, open their own sessions.
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
from app.web.http.identity import (
    ApiOrganiser,
    ApiUser,
    ApiViewer,
    ApiVisitor,
    ViewerHere,
    Visitor,
    VisitorHere,
    viewer_as,
)


@dataclass(frozen=True, slots=True)
class Visit:
    """The context of a reading request, with its session and its viewer."""

    request: Request
    server: Server
    session: Session
    viewer: Viewer

    @property
    def now(self) -> datetime:
        """The current time for all decisions of this request."""
        return self.viewer.now


@dataclass(frozen=True, slots=True)
class UserVisit(Visit):
    """A visit of a logged-in user, not previewed as somebody else."""

    user: User


def _viewer_now(request: Request, user: User | None) -> Viewer:
    """Return the viewer without a preview role, at the current time."""
    return Viewer(user, server_of(request).clock())


def _viewer_of(request: Request, visitor: Visitor) -> Viewer:
    """Return the viewer without a preview role; a token without the scope `organise` views as a participant."""
    return viewer_as(visitor, server_of(request).clock(), None)


@contextmanager
def visit_of(request: Request, viewer: Viewer) -> Iterator[Visit]:
    """Open the visit of this viewer; its session ends with the block."""
    server = server_of(request)
    with reading(server.engine) as session:
        yield Visit(request, server, session, viewer)


@contextmanager
def user_visit_of(request: Request, user: User) -> Iterator[UserVisit]:
    """Open the visit of a logged-in user, without a preview role."""
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
    """Visit a page that cannot be previewed."""
    with visit_of(request, _viewer_of(request, visitor)) as visit:
        yield visit


async def api_visit(request: Request, viewer: ApiViewer) -> AsyncIterator[Visit]:
    """Visit an API route that organisers may preview in another role."""
    with visit_of(request, viewer) as visit:
        yield visit


async def plain_api_visit(request: Request, visitor: ApiVisitor) -> AsyncIterator[Visit]:
    """Visit an API route that cannot be previewed."""
    with visit_of(request, _viewer_of(request, visitor)) as visit:
        yield visit


async def api_user_visit(request: Request, user: ApiUser) -> AsyncIterator[UserVisit]:
    """Visit an API route that requires a logged-in user."""
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
