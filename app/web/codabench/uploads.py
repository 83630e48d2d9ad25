"""Uploads in Codabench's three steps: announce, send to a separate address, submit by key."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from anyio.to_thread import run_sync
from fastapi import Path, Request, Response

from app.base.db import reading, writing
from app.base.errors import Forbidden, InvalidForm, UploadTooLarge
from app.base.storage import StoredFile, UploadWriter, storage_of
from app.base.text import readable_size
from app.competitions.organisers import check_may_create
from app.declarations.bundle_uploads import announce_bundle, creation_by_key, sender_of
from app.models import User
from app.submissions.held_uploads import announce_upload, check_awaited, held_file, record_upload
from app.web.codabench.bodies import receive_body
from app.web.codabench.creating import check_may_send_bundles, receive_sent_bundle
from app.web.codabench.fields import SentFields, text_of
from app.web.codabench.views import AnnouncedUpload, CompletedUpload
from app.web.http.context import Server, ServerHere, public_address
from app.web.http.identity import ApiSubmitter, ApiSubmittingVisitor
from app.web.http.rate_limits import limits_of
from app.web.http.routers import page_router

router = page_router()

SUBMISSION, BUNDLE = "submission", "competition_bundle"
NAME_FIELDS = ("request_sassy_file_name", "filename")


@router.post("/api/datasets/", status_code=201)
@router.post("/api/data/", status_code=201)
def announce(
    request: Request, server: ServerHere, user: ApiSubmitter, visitor: ApiSubmittingVisitor, fields: SentFields
) -> AnnouncedUpload:
    """Announce the file of a submission, or a competition bundle, for users who may create competitions."""
    kind = text_of(fields, "type")
    if kind not in (SUBMISSION, BUNDLE):
        raise Forbidden(
            "Files of submissions are uploaded here (type=submission), and bundles (type=competition_bundle). "
            "Organisers declare other data sets in the browser or with `evergold apply`."
        )
    if kind == BUNDLE:
        check_may_send_bundles(visitor)
        check_may_create(user, server.settings.organise)
    limits = limits_of(request)
    limits.hit(limits.rules.uploads, f"user {user.id}", server.clock())
    _check_declared_size(server, text_of(fields, "file_size"))
    filename = next((text for name in NAME_FIELDS if (text := text_of(fields, name))), "")
    with writing(server.engine) as session:
        if kind == BUNDLE:
            key, secret = announce_bundle(session, user, server.clock())
        else:
            key, secret = announce_upload(session, user, filename, server.clock())
    return AnnouncedUpload(key=key, sassy_url=public_address(request, server, f"/api/uploads/{secret}/"))


@router.put("/api/uploads/{secret}/")
async def receive_file(request: Request, server: ServerHere, secret: Annotated[str, Path(max_length=100)]) -> Response:
    """Receive the announced file; knowing its secret address is the only permission needed."""
    sender = await run_sync(_sender_of_bundle, server, secret)
    if sender is not None:
        await receive_sent_bundle(request, server, secret, sender)
        return Response(status_code=200)
    await run_sync(_check_awaited, server, secret)
    file = await receive_body(request, UploadWriter(storage_of(server.settings), server.settings.upload_limit_bytes))
    await run_sync(_record, server, secret, file)
    return Response(status_code=200)


@router.put("/api/data/upload_completed/{key}/")
@router.put("/api/datasets/completed/{key}/")
def complete(server: ServerHere, user: ApiSubmitter, key: UUID) -> CompletedUpload:
    """Confirm that the file has arrived; its arrival was recorded already."""
    now = server.clock()
    with reading(server.engine) as session:
        if creation := creation_by_key(session, user, key, now):
            return CompletedUpload(key=key, status_id=creation.number)
        held_file(session, user, key, now)
    return CompletedUpload(key=key)


def _check_declared_size(server: Server, declared: str) -> None:
    limit_bytes = server.settings.upload_limit_bytes
    if declared and not (declared.isascii() and declared.isdigit() and len(declared) < 20):
        raise InvalidForm("Please correct the marked fields.", fields={"file_size": "This must be a number of bytes."})
    if declared and int(declared) > limit_bytes:
        raise UploadTooLarge(
            f"The file is larger than the {readable_size(limit_bytes)} allowed here.", limit_bytes=limit_bytes
        )


def _check_awaited(server: Server, secret: str) -> None:
    with reading(server.engine) as session:
        check_awaited(session, secret, server.clock())


def _sender_of_bundle(server: Server, secret: str) -> User | None:
    with reading(server.engine) as session:
        return sender_of(session, secret, server.clock())


def _record(server: Server, secret: str, file: StoredFile) -> None:
    with writing(server.engine) as session:
        record_upload(session, secret, file, server.clock())
