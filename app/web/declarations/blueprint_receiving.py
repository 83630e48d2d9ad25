"""Receiving files of a blueprint: stored as they arrive, one by one or as a zip."""

from __future__ import annotations

from pathlib import PurePosixPath

from anyio.to_thread import run_sync
from fastapi import Request

from app.base.db import reading, writing
from app.base.errors import InvalidForm
from app.base.storage import StoredFile, UploadWriter, local_file, storage_of
from app.competitions.organisers import check_may_create, limits_of, used_bytes
from app.declarations.blueprints.kept import add_file, begin_blueprint
from app.declarations.blueprints.zips import Brought, read_zip
from app.models import User
from app.web.declarations.editing_turns import editing
from app.web.html.guards import SentUpload
from app.web.http import csrf
from app.web.http.context import Server
from app.web.http.multipart import FieldsCheck, Policy, Upload, accept_any_fields, receive
from app.web.http.room import room_left, within
from evergold.scoring.characters import can_be_name

FIELDS = frozenset({csrf.FORM_FIELD})
NAME_CHARACTERS = 200


async def receive_file(upload: SentUpload, blueprint_id: int) -> None:
    """Store the file, replacing one of the same name; raise NotFound, which leaves the uploaded file unreferenced."""
    received = await _received(upload.request, upload.server, upload.user, upload.check)
    await run_sync(_keep_file, upload.server, upload.user, blueprint_id, _name(received), received.file)


async def receive_zip(request: Request, server: Server, user: User, on_fields: FieldsCheck = accept_any_fields) -> int:
    """Create a blueprint from the zip and return its id."""
    await run_sync(check_may_create, user, server.settings.organise)
    received = await _received(request, server, user, on_fields)
    async with editing(request):
        return await run_sync(_begin, server, user, received.file)


async def _received(request: Request, server: Server, user: User, on_fields: FieldsCheck) -> Upload:
    with within(await room_left(server, user), server.settings.upload_limit_bytes) as limit_bytes:
        writer = UploadWriter(storage_of(server.settings), limit_bytes)
        return await receive(request, Policy(writer, limit_bytes, FIELDS, on_fields))


def _begin(server: Server, user: User, file: StoredFile) -> int:
    settings, limits = server.settings, limits_of(server.settings)
    with reading(server.engine) as session:
        room = limits.bytes - used_bytes(session, user) if not user.is_administrator else limits.bytes
    storage = storage_of(settings)
    brought: Brought = read_zip(local_file(storage, file.sha256), storage, room)
    with writing(server.engine) as session:
        act = server.act(session, user)
        blueprint = begin_blueprint(act, brought.document)
        for path, stored in brought.files.items():
            add_file(act, blueprint.id, path, stored)
        return blueprint.id


def _keep_file(server: Server, user: User, blueprint_id: int, path: str, file: StoredFile) -> None:
    with writing(server.engine) as session:
        add_file(server.act(session, user), blueprint_id, path, file)


def _name(upload: Upload) -> str:
    """Return the last part of the path that a browser may send; raise InvalidForm for an invalid name."""
    name = PurePosixPath(upload.filename.replace("\\", "/")).name
    if not name or name in (".", "..") or not can_be_name(name) or len(name) > NAME_CHARACTERS:
        raise InvalidForm("This file cannot be stored.", fields={"file": "Give the file a name of letters and digits."})
    return name
