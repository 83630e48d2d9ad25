"""Serves stored images that our pages show."""

from __future__ import annotations

from fastapi import Request, Response
from fastapi.responses import FileResponse

from app.base.errors import NotFound
from app.base.logs import log
from app.base.storage import local_file, storage_of
from app.web.http.caching import is_known, not_modified
from app.web.http.context import Server

_NOTHING = "default-src 'none'; sandbox; frame-ancestors 'none'"


def image_response(request: Request, server: Server, sha256: str, media_type: str) -> Response:
    """Return an image that the server rendered; its policy blocks all scripts when it is opened directly."""
    headers = {"ETag": f'"{sha256}"', "Cache-Control": "private, max-age=86400", "Content-Security-Policy": _NOTHING}
    if is_known(request, headers["ETag"]):
        return not_modified(headers)
    try:
        path = local_file(storage_of(server.settings), sha256)
    except FileNotFoundError:
        log.error("stored_file_missing", sha256=sha256)
        raise NotFound("This image is missing from the server's storage; please contact the organisers.") from None
    return FileResponse(path, headers=headers, media_type=media_type)
