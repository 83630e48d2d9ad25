"""Uploads in three steps, as Codabench has them: announced, sent to an address of their own, submitted by key."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from anyio.to_thread import run_sync
from fastapi import Path, Request, Response

from app.base.db import reading, writing
from app.base.errors import Forbidden, InvalidForm, UploadTooLarge
from app.base.storage import StoredFile, UploadWriter, storage_of
from app.base.text import readable_size
from app.submissions.held_uploads import announce_upload, check_awaited, held_file, record_upload
from app.web.codabench.fields import SentFields, text_of
from app.web.codabench.views import AnnouncedUpload, CompletedUpload
from app.web.http.context import Server, ServerHere, public_address
from app.web.http.identity import ApiSubmitter
from app.web.http.multipart import PIECE_BYTES
from app.web.http.rate_limits import limits_of
from app.web.http.routers import page_router

router = page_router()

SUBMISSION = "submission"
NAME_FIELDS = ("request_sassy_file_name", "filename")


@router.post("/api/datasets/", status_code=201)
@router.post("/api/data/", status_code=201)
def announce(request: Request, server: ServerHere, user: ApiSubmitter, fields: SentFields) -> AnnouncedUpload:
    """Make room for a submission's file; competitions are imported in the browser, and other data sets declared."""
    if text_of(fields, "type") != SUBMISSION:
        raise Forbidden(
            "Only files of submissions are uploaded here (type=submission). Organisers write or import a competition "
            "in the browser, or with `evergold import` and `evergold apply`."
        )
    limits = limits_of(request)
    limits.hit(limits.rules.uploads, f"user {user.id}", server.clock())
    _check_declared_size(server, text_of(fields, "file_size"))
    filename = next((text for name in NAME_FIELDS if (text := text_of(fields, name))), "")
    with writing(server.engine) as session:
        key, secret = announce_upload(session, user, filename, server.clock())
    return AnnouncedUpload(key=key, sassy_url=public_address(request, server, f"/api/uploads/{secret}/"))


@router.put("/api/uploads/{secret}/")
async def receive_file(request: Request, server: ServerHere, secret: Annotated[str, Path(max_length=100)]) -> Response:
    """Store the body as the file that was announced; its address is all that it needs."""
    await run_sync(_check_awaited, server, secret)
    writer = UploadWriter(storage_of(server.settings), server.settings.upload_limit_bytes)
    try:
        pending = bytearray()
        async for chunk in request.stream():
            pending += chunk
            if len(pending) >= PIECE_BYTES:
                await run_sync(writer.write, bytes(pending))
                pending.clear()
        file = await run_sync(_finish, writer, bytes(pending))
    finally:
        writer.discard()
    await run_sync(_record, server, secret, file)
    return Response(status_code=200)


@router.put("/api/data/upload_completed/{key}/")
@router.put("/api/datasets/completed/{key}/")
def complete(server: ServerHere, user: ApiSubmitter, key: UUID) -> CompletedUpload:
    """Confirm that the file is here: it was recorded when it had come."""
    with reading(server.engine) as session:
        held_file(session, user, key, server.clock())
    return CompletedUpload(key=key)


def _check_declared_size(server: Server, declared: str) -> None:
    limit_bytes = server.settings.upload_limit_bytes
    if declared and not (declared.isascii() and declared.isdigit() and len(declared) < 20):
        raise InvalidForm("Please correct what is marked.", fields={"file_size": "This must be a number of bytes."})
    if declared and int(declared) > limit_bytes:
        raise UploadTooLarge(
            f"The file is larger than the {readable_size(limit_bytes)} allowed here.", limit_bytes=limit_bytes
        )


def _check_awaited(server: Server, secret: str) -> None:
    with reading(server.engine) as session:
        check_awaited(session, secret, server.clock())


def _finish(writer: UploadWriter, rest: bytes) -> StoredFile:
    if rest:
        writer.write(rest)
    return writer.finish()


def _record(server: Server, secret: str, file: StoredFile) -> None:
    with writing(server.engine) as session:
        record_upload(session, secret, file, server.clock())
