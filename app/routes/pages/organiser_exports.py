"""The page of what organisers take home; the files themselves come from the API."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from app.db import reading
from app.queries import find_competition
from app.roles import check_may_organise
from app.routes.identity import VisitorHere
from app.routes.pages.login import to_login
from app.routes.pages.rendering import render
from app.routes.serving import ServingHere

router = APIRouter()


@router.get("/competitions/{competition}/exports")
def read_exports(request: Request, serving: ServingHere, visitor: VisitorHere, competition: str) -> Response:
    if visitor.user is None:
        return to_login(request)
    with reading(serving.engine) as session:
        found = find_competition(session, competition)
        check_may_organise(session, visitor.user, found)
    return render(request, "exports.html", competition=found)
