"""The page of what organisers take home; the files themselves come from the API."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from app.base.db import reading
from app.competitions.find import find_competition
from app.people.roles import check_may_organise
from app.web.html.guards import to_login
from app.web.html.rendering import render
from app.web.http.context import ServerHere
from app.web.http.identity import VisitorHere

router = APIRouter()


@router.get("/competitions/{competition}/exports")
def read_exports(request: Request, server: ServerHere, visitor: VisitorHere, competition: str) -> Response:
    if visitor.user is None:
        return to_login(request)
    with reading(server.engine) as session:
        found = find_competition(session, competition)
        check_may_organise(session, visitor.user, found)
    return render(request, "exports/page.html", competition=found)
