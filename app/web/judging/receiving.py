"""Receiving marks: from an upload request to marks in a round, for the API and for the form."""

from __future__ import annotations

from functools import partial

from anyio.to_thread import run_sync

from app.base.db import reading
from app.base.storage import UploadWriter, storage_of
from app.competitions.find import organised_task
from app.judging.imports import IMPORT_LIMIT_BYTES
from app.judging.organising import import_file
from app.judging.rounds import DEFAULT_NAME
from app.judging.views import ImportOut
from app.models import Right
from app.web.http.multipart import Policy, receive
from app.web.submissions.receiving import UploadRequest

#: The form field with the name of the round.
ROUND_FIELD = "round"


async def receive_marks(sent: UploadRequest, round_name: str = DEFAULT_NAME) -> ImportOut:
    """Import the uploaded marks. A field `round` of a form overrides `round_name`."""
    server, target = sent.server, sent.target
    await run_sync(_check, sent)
    storage = storage_of(server.settings)
    writer = UploadWriter(storage, IMPORT_LIMIT_BYTES)
    upload = await receive(sent.request, Policy(writer, IMPORT_LIMIT_BYTES, sent.extra_fields, sent.on_fields))
    bring = partial(import_file, server.engine, server.settings, user=sent.user, now=server.clock())
    place, name = (target.competition, target.phase, target.task), upload.fields.get(ROUND_FIELD, round_name)
    return await run_sync(bring, place, name, upload.file.sha256)


def _check(sent: UploadRequest) -> None:
    """Raise every error that is certain before the file is read."""
    target = sent.target
    with reading(sent.server.engine) as session:
        organised_task(session, sent.user, target.competition, target.phase, target.task, Right.SUBMISSIONS)
