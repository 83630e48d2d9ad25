"""Downloads of stored files: always as attachments, without content sniffing, cached by their sha256."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Path, Request, Response
from fastapi.responses import FileResponse, RedirectResponse

from app.base.db import reading, writing
from app.base.errors import EvergoldError, NotFound
from app.base.logs import log
from app.base.storage import local_file, sealed_storage_of, storage_of, stored_name
from app.base.text import attachment
from app.competitions.find import find_phase_task
from app.models import Audience, PhaseTask, User
from app.submissions.downloads import FileAccess, check_may_have, file_access, file_named, file_viewer, record_download
from app.web.http.caching import is_known, not_modified
from app.web.http.context import Server, ServerHere, server_of
from app.web.http.errors import error_responses
from app.web.http.identity import ApiVisitor
from app.web.http.paths import TaskNames, TaskNamesHere
from app.web.http.routers import api_router

NOT_MODIFIED = 304
_RANGE = re.compile(r"^bytes=(\d*)-(\d*)$")

_BYTES: dict[str, Any] = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
#: Documented responses of every route that sends a stored file, besides its errors.
FILE_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"description": "The content of the file.", "content": _BYTES},
    206: {"description": "The part named by the Range header.", "content": _BYTES},
    304: {"description": "Not changed (If-None-Match)."},
    307: {"description": "A redirect to the store's address, valid for some minutes; public files only."},
}
router = api_router("competitions")


class RangeNotSatisfiable(EvergoldError):
    status = 416
    code = "range_not_satisfiable"


@router.get(
    "/competitions/{competition}/phases/{phase}/tasks/{task}/files/{name}",
    operation_id="download_file",
    summary="A file of a task: blind input, template, public gold",
    description=(
        "404 `not_yet_there` before the file is available, usually from the start of the phase. Some files are only "
        "for participants; each download of these is recorded for the organisers. Organisers can download all files "
        "at any time."
    ),
    response_class=Response,
    responses=FILE_RESPONSES | error_responses(401, 403, 404, 416),
)
def download_file(
    request: Request,
    server: ServerHere,
    visitor: ApiVisitor,
    names: TaskNamesHere,
    name: Annotated[str, Path(examples=["items.csv"])],
) -> Response:
    opened = open_task_file(server, visitor.user, names, name)
    file = opened.access.file
    response = stored_file_response(request, file.sha256, file.name, is_public=opened.is_public)
    if response.status_code != NOT_MODIFIED:
        note_download(server, opened, visitor.user)
    return response


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file of a task that this user may download now."""

    phase_task: PhaseTask
    access: FileAccess

    @property
    def is_public(self) -> bool:
        return self.access.audience is Audience.EVERYONE


def open_task_file(server: Server, user: User | None, names: TaskNames, name: str) -> OpenedFile:
    """Return the file of this task. Raises NotFound, NotYetThere, NotAuthenticated, RegistrationNeeded."""
    with reading(server.engine) as session:
        phase_task = find_phase_task(session, *names)
        place = phase_task.phase.competition
        listed = file_access(place, phase_task.phase, phase_task, file_viewer(session, place, user), server.clock())
        access = file_named(listed, names, name)
        check_may_have(access, place)
    return OpenedFile(phase_task, access)


def note_download(server: Server, opened: OpenedFile, user: User | None) -> None:
    """Record the download of a file for participants before anything is sent, including downloads of a part."""
    if not opened.is_public and user is not None:
        with writing(server.engine) as session:
            record_download(session, opened.phase_task, opened.access.file, user, server.clock())


def stored_file_response(
    request: Request, sha256: str, name: str, *, is_public: bool, by_worker: bool = False
) -> Response:
    """Return the file as an attachment called `name`, a redirect to the store, or 304 if the client has it.

    by_worker: True for a file that a worker wrote.
    """
    headers = {"ETag": f'"{sha256}"', "Cache-Control": "public, no-cache" if is_public else "private, no-cache"}
    if is_known(request, headers["ETag"]):
        return not_modified(headers)
    settings = server_of(request).settings
    storage = sealed_storage_of(settings) if by_worker else storage_of(settings)
    if is_public and (address := storage.address(stored_name(sha256), name)):
        return RedirectResponse(address, 307, {"Cache-Control": "no-store"})  # the address expires within minutes
    try:
        path = local_file(storage, sha256)
    except FileNotFoundError:
        log.error("stored_file_missing", sha256=sha256)
        raise NotFound("This file is missing from the server's storage; please contact the organisers.") from None
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
        raise RangeNotSatisfiable(f"The file has {size_bytes} bytes; request one range of them.", size_bytes=size_bytes)
