"""Downloads of stored files: always as attachments, without content sniffing, cached by their sha256."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import Path, Request, Response
from fastapi.responses import FileResponse, RedirectResponse

from app.base.db import reading, writing
from app.base.errors import EvergoldError, NotFound
from app.base.logs import log
from app.base.storage import local_file, storage_of, stored_name
from app.base.text import attachment
from app.competitions.find import find_phase_task
from app.models import Audience
from app.submissions.downloads import check_may_have, file_access, file_viewer, record_download
from app.web.http.caching import is_known, not_modified
from app.web.http.context import Server, ServerHere
from app.web.http.errors import error_responses
from app.web.http.identity import ApiVisitor
from app.web.http.paths import CompetitionName, PhaseName, TaskName
from app.web.http.routers import api_router

NOT_MODIFIED = 304
_RANGE = re.compile(r"^bytes=(\d*)-(\d*)$")

_BYTES: dict[str, Any] = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
#: Documented responses of every route that sends a stored file, besides its errors.
FILE_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file, byte by byte.", "content": _BYTES},
    206: {"description": "The part named by the Range header.", "content": _BYTES},
    304: {"description": "You have it already (If-None-Match)."},
    307: {"description": "The file at the store's own address, for some minutes; public files only."},
}
router = api_router("competitions")


class RangeNotSatisfiable(EvergoldError):
    status = 416
    code = "range_not_satisfiable"


@router.get(
    "/competitions/{competition}/phases/{phase}/tasks/{task}/files/{name}",
    operation_id="download_file",
    summary="A file of a task: blind input, template, public gold",
    description="404 `not_yet_there` before its moment, as a rule the start of the phase; some files are for those who "
    "take part, and each download of these is recorded for the organisers. Organisers have all at any time.",
    response_class=Response,
    responses=FILE_RESPONSES | error_responses(401, 403, 404, 416),
)
def download_file(
    request: Request,
    server: ServerHere,
    visitor: ApiVisitor,
    competition: CompetitionName,
    phase: PhaseName,
    task: TaskName,
    name: Annotated[str, Path(examples=["items.csv"])],
) -> Response:
    with reading(server.engine) as session:
        phase_task = find_phase_task(session, competition, phase, task)
        place = phase_task.phase.competition
        viewer = file_viewer(session, place, visitor.user)
        listed = file_access(place, phase_task.phase, phase_task, viewer, server.clock())
        access = next((one for one in listed if one.file.name == name), None)
        if access is None:
            raise NotFound(f"Task '{task}' has no file '{name}' in phase '{phase}'.")
        check_may_have(access, place)
    is_public = access.audience is Audience.EVERYONE
    response = stored_file_response(request, server, access.file.sha256, access.file.name, is_public=is_public)
    if not is_public and visitor.user is not None and response.status_code != NOT_MODIFIED:
        with writing(server.engine) as session:  # before anything is sent; ranges are recorded too
            record_download(session, phase_task, access.file, visitor.user, server.clock())
    return response


def stored_file_response(request: Request, server: Server, sha256: str, name: str, *, is_public: bool) -> Response:
    """Return the file as an attachment called `name`, a redirect to the store, or 304 if the client has it."""
    headers = {"ETag": f'"{sha256}"', "Cache-Control": "public, no-cache" if is_public else "private, no-cache"}
    if is_known(request, headers["ETag"]):
        return not_modified(headers)
    storage = storage_of(server.settings)
    if is_public and (address := storage.address(stored_name(sha256), name)):
        return RedirectResponse(address, 307, {"Cache-Control": "no-store"})  # the address expires within minutes
    try:
        path = local_file(storage, sha256)
    except FileNotFoundError:
        log.error("stored_file_missing", sha256=sha256)
        raise NotFound("This file is not in the server's storage any more; please contact the organisers.") from None
    check_range(request.headers.get("range"), path.stat().st_size)
    headers["Content-Disposition"] = attachment(name)
    return FileResponse(path, headers=headers, media_type="application/octet-stream")


def check_range(header: str | None, size_bytes: int) -> None:
    """Raise RangeNotSatisfiable unless the Range header is absent or requests a single range within the file."""
    if header is None:
        return
    found = _RANGE.match(header.strip())
    first, last = found.groups() if found else ("", "")
    is_tail = not first and last.isdigit() and int(last) > 0
    is_part = first.isdigit() and int(first) < size_bytes and (not last or int(first) <= int(last))
    if not (is_tail or is_part):
        raise RangeNotSatisfiable(f"The file has {size_bytes} bytes; ask for one part of them.", size_bytes=size_bytes)
