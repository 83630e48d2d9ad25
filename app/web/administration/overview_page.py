"""The administrators' start page: an overview of the server, and what needs their attention."""

from __future__ import annotations

from fastapi import Response

from app.administration.overview import overview
from app.web.administration.access import AdminVisit
from app.web.html.administration import ADMIN, render_section
from app.web.http.routers import page_router

router = page_router()


@router.get(ADMIN)
def read_administration(visit: AdminVisit) -> Response:
    return render_section(visit, "administration/overview.html", found=overview(visit.session, visit.now))
