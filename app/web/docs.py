"""The interactive API page: self-hosted Swagger UI with the viewer's CSRF token, so that "Try it out" can also send
changes.
"""

from __future__ import annotations

from fastapi import Request, Response

from app.web.html.rendering import render
from app.web.http.identity import VisitorHere
from app.web.http.routers import page_router

router = page_router()


@router.get("/docs")
def read_docs(request: Request, visitor: VisitorHere) -> Response:
    return render(request, "docs.html")
