"""Routers of the two kinds there are: the API's, which its description tells, and the pages', which it does not.

The application takes their routes as they are (`add_routes`). Were they included the framework's way, each request
would be matched twice, and each route made twice: half a second of a server's start.
"""

from __future__ import annotations

from fastapi import APIRouter, Depends
from fastapi.routing import APIRoute

from app.base import api_links
from app.web.http.gate import check_gate

_EVERYWHERE = (Depends(check_gate),)


class ForeignRouter(RuntimeError):
    """Routes that nobody checks the addresses of: our mistake, said before the server starts."""


def api_router(tag: str | None = None) -> APIRouter:
    """For addresses under /api/v1; tag: where the API's description has them."""
    return APIRouter(prefix=api_links.API, tags=[tag] if tag else [], dependencies=_EVERYWHERE)


def server_router(tag: str) -> APIRouter:
    """For what the server tells of itself, at addresses that need no version."""
    return APIRouter(tags=[tag], dependencies=_EVERYWHERE)


def page_router(prefix: str = "") -> APIRouter:
    """For pages."""
    return APIRouter(prefix=prefix, include_in_schema=False, dependencies=_EVERYWHERE)


def add_routes(whole: APIRouter, part: APIRouter) -> None:
    """All of the part's routes; raises ForeignRouter unless all were made here: others would be checked by nobody."""
    if _EVERYWHERE[0] not in part.dependencies or not all(isinstance(route, APIRoute) for route in part.routes):
        raise ForeignRouter("A router, or one within it, was not made by app.web.http.routers.")
    whole.routes.extend(part.routes)
