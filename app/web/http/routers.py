"""The two kinds of routers: those of the API, which the API description includes, and those of pages.

The application adds their routes directly (`add_routes`). FastAPI's `include_router` would create each route twice and
match each request twice, which adds half a second to the start of a server.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.routing import APIRoute
from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.routing import Match
from starlette.types import Scope

from app.base import api_links
from app.base.db import reading
from app.competitions.access import check_no_archive, may_see, no_competition
from app.models import Competition, Stage, User
from app.web.http.context import Server, server_of
from app.web.http.identity import look_up_visitor, note_use
from app.web.http.paths import check_path

_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_PLACE = "/competitions/{competition}"
#: Addresses that may still be changed in an archived competition: its status and its people.
OPEN_IN_ARCHIVES = (f"{_PLACE}/life", f"{_PLACE}/roles", f"{_PLACE}/people", f"/admin{_PLACE}/owner")


#: Runs on each request, so it selects only the columns needed (descriptions and terms may be long), and bypasses the
#: ORM, which doubles the cost of a statement even where no objects are built.
_ASKED = select(Competition.id, Competition.stage, Competition.halt, Competition.halt_reason).where(
    Competition.name == bindparam("name")
)


async def check_gate(request: Request) -> None:
    """Raise NotFound for an invalid path or a hidden competition, and CompetitionArchived for a change of an archived
    one.
    """
    check_path(request)
    name = request.path_params.get("competition")
    if name is not None:
        await run_in_threadpool(check_competition, request, server_of(request), name)


def check_competition(request: Request, server: Server, name: str) -> None:
    """Raise NotFound if the visitor may not see the competition, CompetitionArchived if the request would change an
    archived one.

    This part of `check_gate` queries the database, so it runs in a thread.
    """
    with reading(server.engine) as session:
        asking = look_up_visitor(request, server, session)  # a matching route reports a wrong token
        found = session.connection().execute(_ASKED, {"name": name}).one_or_none()
        is_seen = found is not None and _is_seen(session, found.id, found.stage, asking.visitor.user)
    note_use(server, asking)
    if found is None or not is_seen:
        raise no_competition(name)
    if request.method not in _READING and not _is_open_in_archives(request):
        check_no_archive(found.halt, found.halt_reason)


def _is_seen(session: Session, competition_id: int, stage: Stage, user: User | None) -> bool:
    return stage == Stage.PUBLISHED or may_see(session, user, competition_id)


def _is_open_in_archives(request: Request) -> bool:
    template: str = request.scope["route"].path
    return any(place in template for place in OPEN_IN_ARCHIVES)


_EVERYWHERE = (Depends(check_gate),)


class PlacedRoute(APIRoute):
    """A route that compares its fixed beginning first, so that most requests need no match of its whole pattern."""

    def __init__(self, path: str, *arguments: Any, **options: Any) -> None:
        super().__init__(path, *arguments, **options)
        self._beginning = path.partition("{")[0]

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match like any route; behind a proxy with a path prefix, compare the whole pattern."""
        if not scope.get("root_path") and not scope["path"].startswith(self._beginning):
            return Match.NONE, {}
        return super().matches(scope)


class ForeignRouter(RuntimeError):
    """A router without the gate was added: a programming error, raised before the server starts."""


def api_router(tag: str | None = None) -> APIRouter:
    """Return a router for addresses under /api/v1; tag: its section in the API description."""
    tags: list[str | Enum] = [tag] if tag else []
    return APIRouter(prefix=api_links.API, tags=tags, dependencies=_EVERYWHERE, route_class=PlacedRoute)


def server_router(tag: str) -> APIRouter:
    """Return a router for information about the server, at unversioned addresses."""
    return APIRouter(tags=[tag], dependencies=_EVERYWHERE, route_class=PlacedRoute)


def page_router(prefix: str = "") -> APIRouter:
    """Return a router for pages, which the API description leaves out."""
    return APIRouter(prefix=prefix, include_in_schema=False, dependencies=_EVERYWHERE, route_class=PlacedRoute)


def add_routes(whole: APIRouter, part: APIRouter) -> None:
    """Add all routes of the part; raise ForeignRouter unless they were created by this module, whose routers have the
    gate.
    """
    if _EVERYWHERE[0] not in part.dependencies or not all(isinstance(route, APIRoute) for route in part.routes):
        raise ForeignRouter("A router, or one within it, was not made by app.web.http.routers.")
    whole.routes.extend(part.routes)
