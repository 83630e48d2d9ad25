"""Receiving submissions: from an upload request to an accepted submission, for the API and for the form.

Uploads that cannot be accepted are refused before the file is read; the file is stored; limits are checked again under
the lock; workers are notified after the commit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TypeVar
from uuid import UUID

from anyio.to_thread import run_sync
from fastapi import Request
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import set_committed_value

from app.base.db import reading
from app.base.errors import LimitReached, PhaseNotOpen
from app.base.logs import log
from app.base.queue import send_run
from app.base.storage import UploadWriter, storage_of
from app.base.together import write_together
from app.cards.edits import field_names, form_of, sent_card
from app.cards.systems import required_cards
from app.competitions.find import find_phase_task
from app.competitions.limits import declared_limits
from app.models import PhaseTask, Submission, User
from app.submissions.accept import (
    Accepted,
    Sender,
    SubmissionForm,
    UploadContext,
    accept_submission,
    check_key,
    check_submission_form,
    find_replay,
    look_up,
    precheck,
)
from app.web.http.arrival import arrival_of, earlier_tries_answered, is_buffered, wait_for_other_processes
from app.web.http.context import Server, server_of
from app.web.http.multipart import FieldsCheck, Policy, Upload, accept_any_fields, receive
from app.web.http.paths import TaskNames
from app.web.http.rate_limits import limits_of
from evergold.scoring.tasks import needs_gpu

Result = TypeVar("Result")

#: The form's checkbox: submit this file although it was submitted before.
AGAIN = "again"
#: Fields allowed besides the file.
UPLOAD_FIELDS = frozenset({"track", "system", "method", "description"})


@dataclass(frozen=True)
class UploadRequest:
    """A request that uploads a file, before its body is read.

    authenticate: returns the sender or raises an error; called once, before anything else.
    extra_fields: further fields of a form. on_fields: called with the fields that precede the file. refuse_duplicate: a
    file that the team submitted before is accepted only with the field AGAIN.
    """

    request: Request
    target: TaskNames
    authenticate: Callable[[], User]
    idempotency_key: str | None = None
    extra_fields: frozenset[str] = frozenset()
    on_fields: FieldsCheck = accept_any_fields
    refuse_duplicate: bool = False

    @cached_property
    def user(self) -> User:
        user = self.authenticate()
        check_key(self.idempotency_key)
        return user

    @property
    def server(self) -> Server:
        return server_of(self.request)


@dataclass(frozen=True, slots=True)
class Received:
    """An accepted submission.

    untouched: the submission with its run and related rows as accepted, now or by an earlier attempt with the same
    Idempotency-Key; None if it has changed since. user: its sender; organises: whether the sender may see all
    submissions of the competition.
    """

    submission_id: UUID
    untouched: Submission | None
    user: User
    organises: bool


async def receive_submission(sent: UploadRequest, answer: Callable[[Received], Result]) -> Result:
    """Accept the upload and return the result of `answer`, called in the thread that accepted it.

    Small and large files use the same code: a separate path for small files, in one thread and on PostgreSQL in one
    transaction, saved only 7 % of the web process's CPU time (decision 069).
    """
    phase_task, policy = await _decided(sent, partial(_refuse_early, sent))
    upload = await receive(sent.request, policy)
    await earlier_tries_answered(sent.request, sent.server)
    if not is_buffered(sent.request):  # the upload took a while: the declaration may have changed
        phase_task = await run_sync(_load_target, sent)
    return await _decided(sent, lambda: answer(_accept(sent, phase_task, upload)))


def _refuse_early(sent: UploadRequest) -> tuple[PhaseTask, Policy]:
    """Raise every error that is certain before the body is read; return the task and the requirements of the body."""
    user, server, limits = sent.user, sent.server, limits_of(sent.request)
    with reading(server.engine) as session:
        phase_task = find_target(session, sent.target)
        sender = Sender(user, arrival_of(sent.request, server), sent.idempotency_key)
        context = look_up(session, phase_task, sender)
        counted_for = f"team {context.team.id}" if context.team else f"user {user.id}"
        limits.hit(limits.rules.uploads, counted_for, server.clock())
        if context.replayed is None:
            precheck(session, context)
        return phase_task, _policy(session, sent, context)


def _policy(session: Session, sent: UploadRequest, context: UploadContext) -> Policy:
    """Return the requirements of a body: its size, its fields, and their contents."""
    phase_task, settings, team = context.phase_task, sent.server.settings, context.team
    form = form_of(phase_task)
    kept = required_cards(session, team.id, phase_task.task_id, form) if team else {}
    limit_bytes = min(declared_limits(phase_task.phase, phase_task).upload_bytes, settings.upload_limit_bytes)

    def check_all(fields: Mapping[str, str]) -> None:
        sent.on_fields(fields)
        if context.replayed is None:
            check_submission_form(phase_task, _form(phase_task, fields), kept)

    return Policy(
        UploadWriter(storage_of(settings), limit_bytes),
        limit_bytes,
        sent.extra_fields | UPLOAD_FIELDS | field_names(form),
        on_fields=sent.on_fields,
        before_storing=check_all,
    )


def _accept(sent: UploadRequest, phase_task: PhaseTask, upload: Upload) -> Received:
    """Create the submission under the team's lock, with every check; notify the workers after the commit."""
    sender = Sender(sent.user, upload.arrived_at, sent.idempotency_key)
    is_confirmed = bool(upload.fields.get(AGAIN))
    refuse_duplicate = sent.refuse_duplicate and not is_confirmed
    form = _form(phase_task, upload.fields, upload.filename, refuse_duplicate=refuse_duplicate)
    accepted = write_together(
        sent.server.engine, lambda session: accept_submission(session, phase_task, upload.file, sender, form)
    )
    submission = accepted.submission
    if accepted.created:
        log.info("submission_accepted", submission_id=str(submission.id), run_id=accepted.run_id)
        send_run(accepted.run_id, needs_gpu=needs_gpu(phase_task.task.task_type))  # if it fails, the sweep resends it
    if accepted.is_untouched:
        _attach_relations(accepted, phase_task, sent.user)
    organises = sent.user.is_administrator or accepted.sees_all
    return Received(submission.id, submission if accepted.is_untouched else None, sent.user, organises)


def _attach_relations(accepted: Accepted, phase_task: PhaseTask, user: User) -> None:
    """Attach loaded relations so that the response needs no further queries."""
    known = {
        "phase_task": phase_task,
        "user": user,
        "team": accepted.team,
        "system": accepted.system,
        "runs": [accepted.run],
    }
    for name, value in known.items():
        set_committed_value(accepted.submission, name, value)


def _form(
    phase_task: PhaseTask, fields: Mapping[str, str], filename: str = "", *, refuse_duplicate: bool = False
) -> SubmissionForm:
    return SubmissionForm(
        filename,
        fields.get("track"),
        fields.get("system", ""),
        fields.get("method", ""),
        fields.get("description", ""),
        sent_card(fields, form_of(phase_task)),
        refuse_duplicate,
    )


def _load_target(sent: UploadRequest) -> PhaseTask:
    """Load the task outside the write lock so that other writers are not blocked."""
    with reading(sent.server.engine) as session:
        return find_target(session, sent.target)


def find_target(session: Session, target: TaskNames) -> PhaseTask:
    """Return the task in the phase with all parent objects; raise NotFound."""
    return find_phase_task(session, target.competition, target.phase, target.task, with_files=False)


async def _decided(sent: UploadRequest, decide: Callable[[], Result]) -> Result:
    """Return the result of `decide`, called in a thread.

    An upload is not refused while an earlier attempt may still be accepted.
    """
    try:
        return await run_sync(decide)
    except (PhaseNotOpen, LimitReached):
        if not sent.idempotency_key or not await _stored_meanwhile(sent, sent.idempotency_key):
            raise
    return await run_sync(decide)


async def _stored_meanwhile(sent: UploadRequest, key: str) -> bool:
    """Return True if another attempt of this upload was stored, after waiting until none is in flight."""
    await earlier_tries_answered(sent.request, sent.server)
    await wait_for_other_processes(sent.request)
    return await run_sync(_was_accepted, sent.server, sent.user, key)


def _was_accepted(server: Server, user: User, key: str) -> bool:
    with reading(server.engine) as session:
        return find_replay(session, user, key) is not None
