"""Receiving validations: from an upload request to a queued validation, for the API and for the form."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from uuid import UUID, uuid4

from anyio.to_thread import run_sync
from fastapi import Request

from app.base.config import MEBIBYTE
from app.base.db import reading, writing
from app.base.logs import log
from app.base.queue import send_validation
from app.base.storage import UploadWriter, check_name, storage_of
from app.cards.edits import field_names, form_of
from app.competitions.find import find_phase_task
from app.competitions.limits import declared_limits
from app.models import User
from app.submissions.accept import check_text_lengths
from app.submissions.validations import (
    accept_validation,
    check_bytes_today,
    check_may_validate,
    find_validation_replay,
)
from app.web.http.context import Server
from app.web.http.multipart import FieldsCheck, Policy, Upload, accept_any_fields, receive
from app.web.http.rate_limits import limits_of
from app.web.submissions.receiving import Target
from evergold.scoring.tasks import needs_gpu


@dataclass(frozen=True, slots=True)
class ReceivedValidation:
    """A received validation. created: False if an earlier one had the same Idempotency-Key."""

    validation_id: UUID
    created: bool


async def receive_validation(
    request: Request,
    server: Server,
    user: User,
    target: Target,
    *,
    idempotency_key: str | None = None,
    extra_fields: frozenset[str] = frozenset(),
    on_fields: FieldsCheck = accept_any_fields,
) -> ReceivedValidation:
    """Receive a validation.

    extra_fields: further fields of a form, which are not stored. on_fields: called with the fields that precede the
    file.
    """
    limit_bytes, of_card = await run_sync(_refuse_early, request, server, user, target, idempotency_key)
    storage, validation_id = storage_of(server.settings), uuid4()
    name = check_name(validation_id)
    writer = UploadWriter(storage, limit_bytes, name=name)
    upload = await receive(request, Policy(writer, limit_bytes, extra_fields | of_card, on_fields))
    received = None
    try:
        received = await run_sync(_accept, server, user, target, upload, idempotency_key, validation_id)
    finally:
        if received is None or not received.created:  # refused, or an earlier one's
            await run_sync(partial(storage.remove, name))
    return received


def _refuse_early(
    request: Request, server: Server, user: User, target: Target, key: str | None
) -> tuple[int, frozenset[str]]:
    """Raise every refusal that is certain before the body is read; return the size limit and the method card fields."""
    check_text_lengths("", "", key)
    limits, now = limits_of(request), server.clock()
    with reading(server.engine) as session:
        phase_task = find_phase_task(session, target.competition, target.phase, target.task, with_files=False)
        limits.hit(limits.rules.validations, f"user {user.id}", now)
        if not (key and find_validation_replay(session, user, key, now)):
            check_may_validate(session, user, phase_task, now)
            check_bytes_today(session, user, _bytes_per_day(server), now)
        declared = declared_limits(phase_task.phase, phase_task)
        of_card = field_names(form_of(phase_task))
        return min(declared.upload_bytes, server.settings.upload_limit_bytes), of_card


def _bytes_per_day(server: Server) -> int:
    return server.settings.checked_mebibytes_per_day * MEBIBYTE


def _accept(
    server: Server, user: User, target: Target, upload: Upload, key: str | None, validation_id: UUID
) -> ReceivedValidation:
    with writing(server.engine) as session:
        phase_task = find_phase_task(session, target.competition, target.phase, target.task, with_files=False)
        accepted = accept_validation(
            session,
            user=user,
            phase_task=phase_task,
            upload=upload.file,
            filename=upload.filename,
            idempotency_key=key,
            validation_id=validation_id,
            bytes_per_day=_bytes_per_day(server),
            now=server.clock(),
        )
        is_for_gpu = needs_gpu(phase_task.task.task_type)
    if accepted.created:
        log.info("validation_accepted", validation_id=str(accepted.validation.id))
        send_validation(accepted.validation.id, needs_gpu=is_for_gpu)  # after the commit; else the sweep sends it
    return ReceivedValidation(accepted.validation.id, accepted.created)
