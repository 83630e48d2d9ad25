"""From an upload request to an accepted submission: the same way for the API and for the form on the page.

What is hopeless is refused before the file is read; the file is stored; the limits are checked again under the lock;
the workers are told after the commit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from uuid import UUID

from anyio.to_thread import run_sync
from fastapi import Request

from app.db import reading, writing
from app.models import User
from app.queries import find_phase_task
from app.queue import send_run
from app.routes.serving import Serving
from app.submissions import accept_submission, check_words, find_replay, precheck
from app.uploads import Incoming, Upload, receive_upload
from scoring.tasks import TASKS


@dataclass(frozen=True, slots=True)
class Target:
    """Where an upload goes: names of competition, phase and task."""

    competition: str
    phase: str
    task: str


@dataclass(frozen=True, slots=True)
class Received:
    """created: False when an Idempotency-Key brought back an earlier submission."""

    submission_id: UUID
    created: bool


async def receive_submission(
    request: Request,
    serving: Serving,
    user: User,
    target: Target,
    *,
    idempotency_key: str | None = None,
    more_fields: frozenset[str] = frozenset(),
    before_file: Callable[[Mapping[str, str]], None] = lambda fields: None,
) -> Received:
    """The accepted submission. `more_fields`: what a form sends besides; `before_file` sees them before the file."""
    limit_bytes = await run_sync(_refuse_early, serving, user, target, idempotency_key)
    upload = await receive_upload(
        _incoming(request),
        folder=serving.settings.storage_dir,
        limit_bytes=limit_bytes,
        fields=more_fields | {"track", "method", "description"},
        before_file=before_file,
    )
    return await run_sync(_accept, serving, user, target, upload, idempotency_key)


def _refuse_early(serving: Serving, user: User, target: Target, idempotency_key: str | None) -> int:
    """Every refusal that is sure before a byte was read; returns how large the file may be."""
    check_words("", "", idempotency_key)
    with reading(serving.engine) as session:
        phase_task = find_phase_task(session, target.competition, target.phase, target.task)
        if not (idempotency_key and find_replay(session, user, idempotency_key)):
            precheck(session, user, phase_task, serving.clock())
        return min(phase_task.phase.upload_limit_bytes, serving.settings.upload_limit_bytes)


def _accept(serving: Serving, user: User, target: Target, upload: Upload, key: str | None) -> Received:
    now = serving.clock()  # the file is complete: this moment counts
    with writing(serving.engine) as session:
        phase_task = find_phase_task(session, target.competition, target.phase, target.task)
        accepted = accept_submission(
            session,
            user=user,
            phase_task=phase_task,
            upload=upload.file,
            filename=upload.filename,
            track=upload.fields.get("track"),
            method=upload.fields.get("method", ""),
            description=upload.fields.get("description", ""),
            idempotency_key=key,
            now=now,
        )
        needs_gpu = TASKS[phase_task.task.task_type].needs_gpu
    if accepted.created:
        send_run(accepted.run_id, needs_gpu=needs_gpu)  # after the commit; if it fails, the sweep sends it
    return Received(accepted.submission.id, accepted.created)


def _incoming(request: Request) -> Incoming:
    declared = request.headers.get("content-length", "")
    return Incoming(
        chunks=request.stream(),
        content_type=request.headers.get("content-type", ""),
        content_length=int(declared) if declared.isdigit() else None,
    )
