"""The API's own page: Swagger UI, served by us; with the viewer's CSRF token, so that "Try it out" may write too."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from app.web.html.rendering import render
from app.web.http.identity import VisitorHere

router = APIRouter(include_in_schema=False)


@router.get("/docs")
def read_docs(request: Request, visitor: VisitorHere) -> Response:
    return render(request, "docs.html")
