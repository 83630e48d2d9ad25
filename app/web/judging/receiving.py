"""Receiving marks: from an upload request to marks in a round, for the API and for the form."""

from __future__ import annotations

from functools import partial

from anyio.to_thread import run_sync
from fastapi import Request

from app.base.db import reading
from app.base.storage import UploadWriter, storage_of
from app.competitions.find import organised_task
from app.judging.imports import IMPORT_LIMIT_BYTES
from app.judging.organising import import_file
from app.judging.rounds import DEFAULT_NAME
from app.judging.views import ImportOut
from app.models import Right, User
from app.web.http.context import Server
from app.web.http.multipart import FieldsCheck, Policy, accept_any_fields, receive
from app.web.submissions.receiving import Target

#: The form field with the name of the round.
ROUND_FIELD = "round"


async def receive_marks(
    request: Request,
    server: Server,
    user: User,
    target: Target,
    *,
    round_name: str = DEFAULT_NAME,
    fields: frozenset[str] = frozenset(),
    on_fields: FieldsCheck = accept_any_fields,
) -> ImportOut:
    """Import the uploaded marks.

    fields: further fields of a form; its `round` overrides `round_name`.
    """
    await run_sync(_check, server, user, target)
    storage = storage_of(server.settings)
    writer = UploadWriter(storage, IMPORT_LIMIT_BYTES)
    upload = await receive(request, Policy(writer, IMPORT_LIMIT_BYTES, fields, on_fields))
    bring = partial(import_file, server.engine, storage, user=user, now=server.clock())
    place, name = (target.competition, target.phase, target.task), upload.fields.get(ROUND_FIELD, round_name)
    return await run_sync(bring, place, name, upload.file.sha256)


def _check(server: Server, user: User, target: Target) -> None:
    """Raise every refusal that is certain before the file is read."""
    with reading(server.engine) as session:
        organised_task(session, user, target.competition, target.phase, target.task, Right.SUBMISSIONS)
