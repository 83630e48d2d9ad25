"""The API of exports for organisers: participants, registrations, predictions, and the log of downloads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Query, Response
from fastapi.responses import StreamingResponse
from pydantic import Field

from app.base import api_links
from app.base.db import reading, writing
from app.base.storage import storage_of
from app.competitions.find import organised
from app.exports.grades import grades_csv, list_grades
from app.exports.participants import list_participants, participants_csv, registrations_csv
from app.exports.predictions import ExportFilter, packed, submissions_to_export, zip_chunks
from app.exports.views import DownloadList, DownloadOut, ParticipantList
from app.models import Competition, Right, User
from app.people import audit
from app.submissions.downloads import DownloadFilter, all_downloads, downloads_csv, list_downloads
from app.submissions.organisers_list import chosen_submissions
from app.teams.registration import list_registrations
from app.web.http.context import Server, ServerHere
from app.web.http.csv_answers import TAKES_BOM, CsvResponse
from app.web.http.errors import error_responses
from app.web.http.identity import ApiOrganiser
from app.web.http.paths import CompetitionName
from app.web.http.routers import api_router
from app.web.http.schemas import RowId
from app.web.http.visit import ApiOrganiserVisit

router = api_router("organising")

_DOWNLOADS_CSV = (
    "downloaded_at,username,email,phase,task,file,sha256\r\n"
    "2026-01-10T12:00:00+00:00,ada,ada@example.org,evaluation,idiom-detection,items.csv,0f9d…\r\n"
)


class DownloadQuery(DownloadFilter):
    """The filters, and the page of the log to return."""

    before: RowId | None = Field(None, description="as in `next`")
    limit: int = Field(50, ge=1, le=200)


@router.get(
    "/competitions/{competition}/downloads",
    operation_id="list_downloads",
    summary="Downloads of files for participants, for organisers",
    description="Newest first; `next` leads to older ones. Downloads of files for everyone are not recorded.",
    responses=error_responses(401, 403, 404, 422),
)
def read_downloads(
    visit: ApiOrganiserVisit, competition: CompetitionName, query: Annotated[DownloadQuery, Query()]
) -> DownloadList:
    found = organised(visit.session, visit.user, competition, Right.SUBMISSIONS)
    downloads, cursor = list_downloads(visit.session, found, query, before=query.before, limit=query.limit)
    following = api_links.downloads(found.name, **{**query.model_dump(), "before": cursor})
    return DownloadList(
        downloads=[DownloadOut.model_validate(one, from_attributes=True) for one in downloads],
        next=following if cursor is not None else None,
    )


@router.get(
    "/competitions/{competition}/downloads.csv",
    operation_id="export_downloads",
    dependencies=TAKES_BOM,
    summary="Downloads of files for participants, as CSV, for organisers",
    description="Oldest first. Text that a spreadsheet would take for a formula begins with an apostrophe.",
    response_class=Response,
    responses={
        200: {
            "description": "The log.",
            "content": {"text/csv": {"schema": {"type": "string"}, "example": _DOWNLOADS_CSV}},
        },
        **error_responses(401, 403, 404, 422),
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
    return CsvResponse(text, headers=headers)


_CSV = "username,email,display_name,team,registered_at,sent evaluation\r\nada,ada@example.org,Ada,Ada,,3\r\n"

_GRADES_CSV = (
    "name,email,username,team,phase,task,score,best,submitted_at,late,submissions\r\n"
    "Ada,ada@example.org,ada,Ada,evaluation,idiom-detection,macro_f1 zero_shot/all,0.8125,"
    "2026-01-10T12:00:00+00:00,no,3\r\n"
)
_REGISTRATIONS_CSV = (
    "username,email,display_name,status,registered_at,terms_accepted_at,decided_at,decided_by,answer affiliation\r\n"
    "ada,ada@example.org,Ada,approved,2026-01-10T12:00:00+00:00,,2026-01-10T12:00:00+00:00,olga,A university\r\n"
)


@router.get(
    "/competitions/{competition}/predictions.zip",
    operation_id="export_predictions",
    summary="All predictions and method cards as one zip, for organisers",
    description=(
        "`TEAM/SUBMISSION-ID/FILE` with `card.json` beside it; `manifest.csv` and `manifest.json` list its team, "
        "time, sha256, state and scores. Everything is included, even what others may not see."
    ),
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "The zip.",
            "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
        },
        **error_responses(401, 403, 404, 422),
    },
)
def export_predictions(
    server: ServerHere,
    user: ApiOrganiser,
    competition: CompetitionName,
    wanted: Annotated[ExportFilter, Query()],
) -> StreamingResponse:
    now = server.clock()
    with reading(server.engine) as session:
        found = organised(session, user, competition, Right.SUBMISSIONS)
        chosen_submissions(session, found, wanted.submission or ())
        submissions = submissions_to_export(session, found, wanted, user, now)
    details = {**wanted.model_dump(include={"phase", "task", "only"}), "submissions": len(submissions)}
    details |= {"publishable": True} if wanted.publishable else {}
    _record(server, user, "export.predictions", found, details)
    files = packed(submissions, storage_of(server.settings))
    chunks = (chunk for chunk in zip_chunks(files, now) if chunk)
    kind = "publishable" if wanted.publishable else ""
    parts = (found.name, wanted.phase, wanted.task, wanted.only, kind, "predictions")
    name = "-".join(part for part in parts if part and part != "all")
    return StreamingResponse(chunks, media_type="application/zip", headers=_headers(f"{name}.zip"))


@router.get(
    "/competitions/{competition}/participants",
    operation_id="list_participants",
    summary="Who takes part, for organisers",
    responses=error_responses(401, 403, 404),
)
def read_participants(server: ServerHere, user: ApiOrganiser, competition: CompetitionName) -> ParticipantList:
    with reading(server.engine) as session:
        found = organised(session, user, competition, Right.SUBMISSIONS)
        listed = list_participants(session, found)
    _record(server, user, "export.participants", found, {"participants": len(listed)})
    return ParticipantList(participants=listed)


@router.get(
    "/competitions/{competition}/participants.csv",
    operation_id="export_participants",
    dependencies=TAKES_BOM,
    summary="Who takes part, as CSV, for organisers",
    description="Text that a spreadsheet would take for a formula begins with an apostrophe.",
    response_class=Response,
    responses={
        200: {
            "description": "The list.",
            "content": {"text/csv": {"schema": {"type": "string"}, "example": _CSV}},
        },
        **error_responses(401, 403, 404, 422),
    },
)
def export_participants(server: ServerHere, user: ApiOrganiser, competition: CompetitionName) -> Response:
    with reading(server.engine) as session:
        found = organised(session, user, competition, Right.SUBMISSIONS)
        listed = list_participants(session, found)
    _record(server, user, "export.participants", found, {"participants": len(listed)})
    text = participants_csv(found, listed)
    return CsvResponse(text, headers=_headers(f"{found.name}-participants.csv"))


@router.get(
    "/competitions/{competition}/grades.csv",
    operation_id="export_grades",
    dependencies=TAKES_BOM,
    summary="The best score of each participant, as CSV, for organisers",
    description=(
        "A row for each person, phase and task: the score that ranks the task's first board, at full precision, "
        "among their team's scored submissions that are not withdrawn; its time, and whether it was late."
    ),
    response_class=Response,
    responses={
        200: {
            "description": "The grades.",
            "content": {"text/csv": {"schema": {"type": "string"}, "example": _GRADES_CSV}},
        },
        **error_responses(401, 403, 404, 422),
    },
)
def export_grades(server: ServerHere, user: ApiOrganiser, competition: CompetitionName) -> Response:
    with reading(server.engine) as session:
        found = organised(session, user, competition, Right.SUBMISSIONS)
        grades = list_grades(session, found)
        text = grades_csv(grades)
    _record(server, user, "export.grades", found, {"grades": len(grades)})
    return CsvResponse(text, headers=_headers(f"{found.name}-grades.csv"))


@router.get(
    "/competitions/{competition}/registrations.csv",
    operation_id="export_registrations",
    dependencies=TAKES_BOM,
    summary="Who has registered, with their answers, as CSV, for organisers",
    description="Text that a spreadsheet would take for a formula begins with an apostrophe.",
    response_class=Response,
    responses={
        200: {
            "description": "The list.",
            "content": {"text/csv": {"schema": {"type": "string"}, "example": _REGISTRATIONS_CSV}},
        },
        **error_responses(401, 403, 404, 422),
    },
)
def export_registrations(server: ServerHere, user: ApiOrganiser, competition: CompetitionName) -> Response:
    with reading(server.engine) as session:
        found = organised(session, user, competition, Right.EDIT)
        rows = list_registrations(session, found)
        text = registrations_csv(found, rows)
    _record(server, user, "export.registrations", found, {"registrations": len(rows)})
    return CsvResponse(text, headers=_headers(f"{found.name}-registrations.csv"))


def _headers(name: str) -> dict[str, str]:
    """Return the headers of a download with personal or unpublished data: never cached."""
    return {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "private, no-store"}


def _record(server: Server, user: User, action: str, competition: Competition, details: Mapping[str, Any]) -> None:
    """Record an export before anything is sent; in its own transaction, since collecting the data may take long."""
    with writing(server.engine) as session:
        audit.record(session, user, action, f"competition {competition.name}", details, now=server.clock())
