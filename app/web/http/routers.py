"""Routers of the two kinds: the API's, which are in its description, and those of pages, which are not.

The application takes their routes as they are (`add_routes`). Included the framework's way, each request would be
matched twice, and each route created twice: half a second of a server's start.
"""

from __future__ import annotations

from fastapi import APIRouter, Depends
from fastapi.routing import APIRoute

from app.base import api_links
from app.web.http.gate import check_gate

_EVERYWHERE = (Depends(check_gate),)


class ForeignRouter(RuntimeError):
    """A router whose addresses no gate checks: a programming error, raised before the server starts."""


def api_router(tag: str | None = None) -> APIRouter:
    """Return a router for addresses under /api/v1; tag: its section in the API description."""
    return APIRouter(prefix=api_links.API, tags=[tag] if tag else [], dependencies=_EVERYWHERE)


def server_router(tag: str) -> APIRouter:
    """Return a router for information about the server, at unversioned addresses."""
    return APIRouter(tags=[tag], dependencies=_EVERYWHERE)


def page_router(prefix: str = "") -> APIRouter:
    """Return a router for pages."""
    return APIRouter(prefix=prefix, include_in_schema=False, dependencies=_EVERYWHERE)


def add_routes(whole: APIRouter, part: APIRouter) -> None:
    """Add all routes of the part; raise ForeignRouter unless all were created here, as only these have the gate."""
    if _EVERYWHERE[0] not in part.dependencies or not all(isinstance(route, APIRoute) for route in part.routes):
        raise ForeignRouter("A router, or one within it, was not made by app.web.http.routers.")
    whole.routes.extend(part.routes)
