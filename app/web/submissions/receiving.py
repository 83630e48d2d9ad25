"""Receiving submissions: from an upload request to an accepted submission, for the API and for the form.

Hopeless uploads are refused before the file is read; the file is stored; limits are checked again under the lock;
workers are notified after the commit.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, partial
from typing import Any, TypeVar
from uuid import UUID

from anyio.to_thread import run_sync
from fastapi import Request
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import set_committed_value

from app.base.db import reading, writing
from app.base.errors import LimitReached, PhaseNotOpen
from app.base.logs import log
from app.base.queue import send_run
from app.base.storage import FolderStorage, storage_of
from app.base.together import has_single_writer, write_together
from app.cards.edits import field_names, form_of, sent_card
from app.cards.form import CardForm
from app.cards.systems import required_cards
from app.competitions.find import find_phase_task
from app.competitions.limits import declared_limits
from app.models import PhaseTask, Submission, User
from app.submissions.accept import (
    Accepted,
    Facts,
    accept_submission,
    check_submission_form,
    check_text_lengths,
    find_replay,
    load_context,
    look_up,
    precheck,
)
from app.web.http.arrival import (
    arrival_of,
    earlier_tries_answered,
    is_buffered,
    mark_received,
    wait_for_other_processes,
)
from app.web.http.context import Server
from app.web.http.multipart import Upload, incoming_of, receive_upload, store_whole
from app.web.http.rate_limits import limits_of
from evergold.scoring.tasks import needs_gpu

Answer = TypeVar("Answer")
Taken = TypeVar("Taken")

#: The form's checkbox: submit this file although it was submitted before.
AGAIN = "again"
#: Fields allowed besides the file.
UPLOAD_FIELDS = frozenset({"track", "system", "method", "description"})


@dataclass(frozen=True, slots=True)
class Target:
    """The target of an upload: names of competition, phase and task."""

    competition: str
    phase: str
    task: str


@dataclass(frozen=True, slots=True)
class Expected:
    """Requirements of an upload: phase and task, size limit, method card form, and a check before storing."""

    phase_task: PhaseTask
    limit_bytes: int
    form: CardForm
    check: Callable[[Mapping[str, str]], None]


@dataclass(frozen=True, slots=True)
class Received:
    """An accepted submission.

    untouched: the submission with its run and related rows as accepted, now or by an earlier attempt with the same
    Idempotency-Key; None if it has changed since. user: its sender; organises: the sender sees what organisers of the
    competition see.
    """

    submission_id: UUID
    untouched: Submission | None
    user: User
    organises: bool


async def receive_submission(
    request: Request,
    server: Server,
    sender: Callable[[], User],
    target: Target,
    answer: Callable[[Received], Answer],
    *,
    idempotency_key: str | None = None,
    extra_fields: frozenset[str] = frozenset(),
    on_fields: Callable[[Mapping[str, str]], None] = lambda fields: None,
    refuse_duplicate: bool = False,
) -> Answer:
    """Accept the upload and return the result of `answer`, called in the thread that accepted it.

    sender: returns the authenticated user; called once, in a thread, before anything else; raises the error that
    refuses them. more_fields: further fields of a form. before_file: called with the fields that precede the file, and
    again with all fields. asks_again: a file that the team submitted before needs the field AGAIN.
    """
    incoming, arrived_at, storage = incoming_of(request), list[datetime](), storage_of(server.settings)

    @cache
    def known_sender() -> User:
        user = sender()
        check_text_lengths("", "", idempotency_key)
        return user

    decided = partial(_decided, request, server, known_sender, idempotency_key)

    def refuse_early() -> Expected:
        user = known_sender()
        with reading(server.engine) as session:
            phase_task, now = _found(session, target), arrival_of(request, server)
            facts = look_up(session, user, phase_task, idempotency_key, now)
            return _refuse_early(session, request, server, user, phase_task, facts, now)

    def received_by(receive: Callable[..., Taken], expected: Expected) -> Taken:
        return receive(
            storage=storage,
            limit_bytes=expected.limit_bytes,
            fields=extra_fields | UPLOAD_FIELDS | field_names(expected.form),
            on_fields=on_fields,
            before_storing=_both(on_fields, expected.check),
        )

    def accepting(phase_task: PhaseTask, upload: Upload) -> Callable[..., Accepted]:
        again = refuse_duplicate and not upload.fields.get(AGAIN)
        return _accepting(known_sender(), phase_task, upload, idempotency_key, arrived_at[0], again)

    def accept(phase_task: PhaseTask, upload: Upload) -> Answer:
        accepted = write_together(server.engine, accepting(phase_task, upload))
        return answer(_received(accepted, phase_task, known_sender()))

    if is_buffered(request):  # nothing left to wait for: one thread does everything
        receive_whole = partial(store_whole, await request.body(), incoming.content_type)
        arrived_at.append(mark_received(request, server))

        def accept_in_one_go() -> Answer:
            user = known_sender()
            with writing(server.engine) as session:
                phase_task, now = _found(session, target), arrived_at[0]
                known = load_context(session, user, phase_task, idempotency_key, now)
                expected = _refuse_early(session, request, server, user, phase_task, known, now)
                upload = received_by(receive_whole, expected)
                accepted = accepting(phase_task, upload)(session, under_lock=known)
            return answer(_received(accepted, phase_task, user))

        def take_in() -> Answer:
            # Only the team lock can block here, so check everything once, under it.
            if not has_single_writer(server.engine) and isinstance(storage, FolderStorage):
                return accept_in_one_go()
            expected = refuse_early()
            return accept(expected.phase_task, received_by(receive_whole, expected))

        return await decided(take_in)
    expected = await decided(refuse_early)
    noted = replace(incoming, chunks=_noting_the_end(incoming.chunks, request, server, arrived_at))
    upload = await received_by(partial(receive_upload, noted), expected)
    await earlier_tries_answered(request, server)
    phase_task = await run_sync(_declared, server, target)  # the upload took a while: the declaration may have changed
    return await decided(partial(accept, phase_task, upload))


def _declared(server: Server, target: Target) -> PhaseTask:
    """Load outside the write lock so that other writers are not blocked."""
    with reading(server.engine) as session:
        return _found(session, target)


def _found(session: Session, target: Target) -> PhaseTask:
    return find_phase_task(session, target.competition, target.phase, target.task, with_files=False)


def _both(
    first: Callable[[Mapping[str, str]], None], second: Callable[[Mapping[str, str]], None]
) -> Callable[[Mapping[str, str]], None]:
    def check(fields: Mapping[str, str]) -> None:
        first(fields)
        second(fields)

    return check


async def _noting_the_end(
    chunks: AsyncIterator[bytes], request: Request, server: Server, arrived_at: list[datetime]
) -> AsyncIterator[bytes]:
    """Yield the chunks and record the arrival of the last one, which counts: a slow disk must not make anybody late."""
    async for chunk in chunks:
        yield chunk
    arrived_at.append(mark_received(request, server))


async def _decided(
    request: Request, server: Server, sender: Callable[[], User], key: str | None, decide: Callable[[], Taken]
) -> Taken:
    """Return the result of `decide`, called in a thread.

    An upload is not refused while an earlier attempt of it may still be accepted.
    """
    try:
        return await run_sync(decide)
    except (PhaseNotOpen, LimitReached):
        if not key or not await _stored_meanwhile(request, server, sender(), key):
            raise
    return await run_sync(decide)


async def _stored_meanwhile(request: Request, server: Server, user: User, key: str) -> bool:
    """Return True if another attempt of this upload was stored, once none is in flight."""
    await earlier_tries_answered(request, server)
    await wait_for_other_processes(request)
    return await run_sync(_was_accepted, server, user, key)


def _was_accepted(server: Server, user: User, key: str) -> bool:
    with reading(server.engine) as session:
        return find_replay(session, user, key) is not None


def _refuse_early(
    session: Session,
    request: Request,
    server: Server,
    user: User,
    phase_task: PhaseTask,
    facts: Facts,
    now: datetime,
) -> Expected:
    """Raise every refusal that is certain before the body is read."""
    limits, team, is_replay = limits_of(request), facts.team, facts.replayed is not None
    limits.hit(limits.rules.uploads, f"team {team.id}" if team else f"user {user.id}", server.clock())
    if not is_replay:
        precheck(session, user, facts, phase_task, now)
    declared, form = declared_limits(phase_task.phase, phase_task), form_of(phase_task)
    kept = required_cards(session, team.id, phase_task.task_id, form) if team else {}
    limit_bytes = min(declared.upload_bytes, server.settings.upload_limit_bytes)

    def check(fields: Mapping[str, str]) -> None:
        if not is_replay:
            check_submission_form(phase_task, **submission_form(fields, form), kept=kept)

    return Expected(phase_task, limit_bytes, form, check)


def submission_form(fields: Mapping[str, str], form: CardForm) -> dict[str, Any]:
    """Return the fields of an upload as arguments of `accept_submission`."""
    return {
        "track": fields.get("track"),
        "system": fields.get("system", ""),
        "method": fields.get("method", ""),
        "description": fields.get("description", ""),
        "card": sent_card(fields, form),
    }


def _accepting(
    user: User, phase_task: PhaseTask, upload: Upload, key: str | None, now: datetime, refuse_duplicate: bool
) -> Callable[..., Accepted]:
    """Bind accept_submission to this upload."""
    return partial(
        accept_submission,
        user=user,
        phase_task=phase_task,
        upload=upload.file,
        filename=upload.filename,
        **submission_form(upload.fields, form_of(phase_task)),
        idempotency_key=key,
        refuse_duplicate=refuse_duplicate,
        now=now,
    )


def _received(accepted: Accepted, phase_task: PhaseTask, user: User) -> Received:
    """Notify the workers of a new submission and return the result; called after the commit."""
    if accepted.created:
        log.info("submission_accepted", submission_id=str(accepted.submission.id), run_id=accepted.run_id)
        send_run(accepted.run_id, needs_gpu=needs_gpu(phase_task.task.task_type))  # if it fails, the sweep resends it
    untouched = _whole(accepted, phase_task, user) if accepted.is_untouched else None
    return Received(accepted.submission.id, untouched, user, user.is_administrator or accepted.sees_all)


def _whole(accepted: Accepted, phase_task: PhaseTask, user: User) -> Submission:
    """Attach loaded relations so the response needs no further queries."""
    if accepted.run is not None:
        set_committed_value(accepted.run, "scores", [])
    known: dict[str, object] = {"phase_task": phase_task, "user": user, "team": accepted.team, "runs": [accepted.run]}
    known["system"] = accepted.system
    for name, value in known.items():
        set_committed_value(accepted.submission, name, value)
    return accepted.submission
