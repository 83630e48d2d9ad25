"""Pages of exports for organisers, and of the log of downloads."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request, Response

from app.base import links
from app.base.db import reading
from app.competitions.find import organised
from app.competitions.visibility import Viewer
from app.models import Right
from app.submissions.downloads import DownloadFilter, files_downloaded, list_downloads
from app.web.html.guards import PageUser
from app.web.html.rendering import render
from app.web.html.workspace import desk_of
from app.web.http.context import ServerHere
from app.web.http.routers import page_router
from app.web.http.schemas import RowId

router = page_router()


@router.get("/competitions/{competition}/exports")
def read_exports(request: Request, server: ServerHere, user: PageUser, competition: str) -> Response:
    with reading(server.engine) as session:
        found = organised(session, user, competition, Right.SUBMISSIONS)
        workspace = desk_of(session, found, Viewer(user, server.clock()))
    return render(request, "exports/page.html", competition=found, workspace=workspace)


PAGE_LENGTH = 50
Name = Annotated[str, Query(max_length=200)]


@router.get("/competitions/{competition}/downloads")
def read_downloads(
    request: Request,
    server: ServerHere,
    user: PageUser,
    competition: str,
    username: Name = "",
    file: Name = "",
    before: Annotated[RowId | None, Query()] = None,
) -> Response:
    wanted = DownloadFilter(username.strip(), file)
    with reading(server.engine) as session:
        found = organised(session, user, competition, Right.SUBMISSIONS)
        downloads, cursor = list_downloads(session, found, wanted, before=before, limit=PAGE_LENGTH)
        files = files_downloaded(session, found)
        workspace = desk_of(session, found, Viewer(user, server.clock()))
    return render(
        request,
        "exports/downloads.html",
        competition=found,
        workspace=workspace,
        downloads=downloads,
        files=files,
        wanted=wanted,
        is_first=before is None,
        following=links.downloads(found.name, username=wanted.user, file=file, before=cursor) if cursor else None,
    )
