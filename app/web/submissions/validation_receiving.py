"""Receiving validations: from an upload request to a queued validation, for the API and for the form."""

from __future__ import annotations

from uuid import UUID, uuid4

from anyio.to_thread import run_sync

from app.base.config import MEBIBYTE, Settings
from app.base.db import reading, writing
from app.base.logs import log
from app.base.queue import send_validation
from app.base.storage import UploadWriter, check_name, storage_of
from app.cards.edits import field_names, form_of
from app.competitions.limits import declared_limits
from app.submissions.accept import Sender
from app.submissions.validations import (
    AcceptedValidation,
    FileToCheck,
    accept_validation,
    check_bytes_today,
    check_may_validate,
    find_validation_replay,
)
from app.web.http.multipart import Policy, Upload, receive
from app.web.http.rate_limits import limits_of
from app.web.submissions.receiving import UploadRequest, find_target
from evergold.scoring.tasks import needs_gpu


async def receive_validation(sent: UploadRequest) -> AcceptedValidation:
    """Store the file under the id of a new validation and queue it; other fields of the form are not stored."""
    policy, validation_id = await run_sync(_refuse_early, sent)
    upload = await receive(sent.request, policy)
    accepted = None
    try:
        accepted = await run_sync(_accept, sent, upload, validation_id)
    finally:
        if accepted is None or not accepted.created:  # refused, or an earlier one's
            await run_sync(storage_of(sent.server.settings).remove, check_name(validation_id))
    return accepted


def _refuse_early(sent: UploadRequest) -> tuple[Policy, UUID]:
    """Raise every error that is certain before the body is read; return the requirements of the body, and a new id."""
    user, key, settings = sent.user, sent.idempotency_key, sent.server.settings
    limits, now = limits_of(sent.request), sent.server.clock()
    with reading(sent.server.engine) as session:
        phase_task = find_target(session, sent.target)
        limits.hit(limits.rules.validations, f"user {user.id}", now)
        if not (key and find_validation_replay(session, user, key, now)):
            check_may_validate(session, user, phase_task, now)
            check_bytes_today(session, user, _bytes_per_day(settings), now)
        declared, of_card = declared_limits(phase_task.phase, phase_task), field_names(form_of(phase_task))
    limit_bytes, validation_id = min(declared.upload_bytes, settings.upload_limit_bytes), uuid4()
    writer = UploadWriter(storage_of(settings), limit_bytes, name=check_name(validation_id))
    return Policy(writer, limit_bytes, sent.extra_fields | of_card, sent.on_fields), validation_id


def _bytes_per_day(settings: Settings) -> int:
    return settings.checked_mebibytes_per_day * MEBIBYTE


def _accept(sent: UploadRequest, upload: Upload, validation_id: UUID) -> AcceptedValidation:
    with writing(sent.server.engine) as session:
        phase_task = find_target(session, sent.target)
        accepted = accept_validation(
            session,
            phase_task,
            Sender(sent.user, sent.server.clock(), sent.idempotency_key),
            FileToCheck(upload.file, upload.filename, validation_id=validation_id),
            bytes_per_day=_bytes_per_day(sent.server.settings),
        )
        is_for_gpu = needs_gpu(phase_task.task.task_type)
    if accepted.created:
        log.info("validation_accepted", validation_id=str(accepted.validation.id))
        send_validation(accepted.validation.id, needs_gpu=is_for_gpu)  # after the commit; else the sweep sends it
    return accepted
