"""The page of organisers' exports; the files themselves come from the API."""

from __future__ import annotations

from fastapi import Request, Response

from app.base.db import reading
from app.competitions.find import organised
from app.models import Right
from app.web.html.guards import PageUser
from app.web.html.rendering import render
from app.web.html.workspace import desk_of
from app.web.http.context import ServerHere
from app.web.http.routers import page_router

router = page_router()


@router.get("/competitions/{competition}/exports")
def read_exports(request: Request, server: ServerHere, user: PageUser, competition: str) -> Response:
    with reading(server.engine) as session:
        found = organised(session, user, competition, Right.SUBMISSIONS)
        workspace = desk_of(session, found, user, server.clock())
    return render(request, "exports/page.html", competition=found, workspace=workspace)
