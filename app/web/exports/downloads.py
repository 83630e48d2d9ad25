"""The API of the download log, page by page or as CSV, for organisers."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response

from app.base import api_links
from app.base.db import reading, writing
from app.competitions.find import organised
from app.models import Right
from app.people import audit
from app.submissions.download_log import DownloadFilter, all_downloads, downloads_csv, list_downloads
from app.web.exports.download_schemas import DownloadList, download_out
from app.web.http.context import ServerHere
from app.web.http.errors import error_responses
from app.web.http.identity import ApiOrganiser
from app.web.http.paths import CompetitionName
from app.web.http.routers import api_router
from app.web.http.schemas import RowId

router = api_router("organising")

_CSV = (
    "downloaded_at,username,email,phase,task,file,sha256\r\n"
    "2026-01-10T12:00:00+00:00,ada,ada@example.org,evaluation,idiom-detection,items.csv,0f9d…\r\n"
)


@router.get(
    "/competitions/{competition}/downloads",
    operation_id="list_downloads",
    summary="Who downloaded files that are for participants, for organisers",
    description="Newest first; `next` leads to older ones. Files for everyone are not in it.",
    responses=error_responses(401, 403, 404, 422),
)
def read_downloads(
    server: ServerHere,
    user: ApiOrganiser,
    competition: CompetitionName,
    username: Annotated[str, Query(max_length=100, description="only of this user")] = "",
    file: Annotated[str, Query(max_length=200, description="only of this file")] = "",
    before: Annotated[RowId | None, Query(description="as in `next`")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> DownloadList:
    with reading(server.engine) as session:
        found = organised(session, user, competition, Right.SUBMISSIONS)
        downloads, cursor = list_downloads(session, found, DownloadFilter(username, file), before=before, limit=limit)
        following = api_links.downloads(found.name, username=username, file=file, before=cursor, limit=limit)
        return DownloadList(
            downloads=[download_out(one) for one in downloads], next=following if cursor is not None else None
        )


@router.get(
    "/competitions/{competition}/downloads.csv",
    operation_id="export_downloads",
    summary="Who downloaded files that are for participants, as CSV, for organisers",
    description="Oldest first. Text that a spreadsheet would take for a formula begins with an apostrophe.",
    response_class=Response,
    responses={
        200: {"description": "The log.", "content": {"text/csv": {"schema": {"type": "string"}, "example": _CSV}}},
        **error_responses(401, 403, 404),
    },
)
def export_downloads(server: ServerHere, user: ApiOrganiser, competition: CompetitionName) -> Response:
    with reading(server.engine) as session:
        found = organised(session, user, competition, Right.SUBMISSIONS)
        text = downloads_csv(all_downloads(session, found))
    with writing(server.engine) as session:
        audit.record(session, user, "export.downloads", f"competition {found.name}", {}, now=server.clock())
    headers = {
        "Content-Disposition": f'attachment; filename="{found.name}-downloads.csv"',
        "Cache-Control": "private, no-store",
    }
    return Response(text, media_type="text/csv", headers=headers)
