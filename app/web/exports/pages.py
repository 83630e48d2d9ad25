"""Pages of exports for organisers, and of the log of downloads."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response

from app.base import links
from app.competitions.find import organised
from app.models import Right
from app.submissions.downloads import DownloadFilter, files_downloaded, list_downloads
from app.web.html.guards import PageUserVisit
from app.web.html.rendering import render_page
from app.web.html.workspace import desk_of
from app.web.http.routers import page_router
from app.web.http.schemas import RowId

router = page_router()


@router.get("/competitions/{competition}/exports")
def read_exports(visit: PageUserVisit, competition: str) -> Response:
    found = organised(visit.session, visit.user, competition, Right.SUBMISSIONS)
    workspace = desk_of(visit.session, found, visit.viewer)
    return render_page(visit, "exports/page.html", competition=found, workspace=workspace)


PAGE_LENGTH = 50


class DownloadQuery(DownloadFilter):
    """The filters, and where the page starts."""

    before: RowId | None = None


@router.get("/competitions/{competition}/downloads")
def read_downloads(visit: PageUserVisit, competition: str, query: Annotated[DownloadQuery, Query()]) -> Response:
    session = visit.session
    found = organised(session, visit.user, competition, Right.SUBMISSIONS)
    downloads, cursor = list_downloads(session, found, query, before=query.before, limit=PAGE_LENGTH)
    files = files_downloaded(session, found)
    workspace = desk_of(session, found, visit.viewer)
    return render_page(
        visit,
        "exports/downloads.html",
        competition=found,
        workspace=workspace,
        downloads=downloads,
        files=files,
        wanted=query,
        following=links.downloads(found.name, **{**query.model_dump(), "before": cursor}) if cursor else None,
    )
