"""Submitting for clients of Codabench: one upload for several tasks of a phase, accepted for all or for none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from fastapi import Request
from sqlalchemy.orm import Session

from app.base.db import reading
from app.base.errors import EvergoldError, Forbidden, InvalidForm, NotFound, UploadTooLarge
from app.base.logs import log
from app.base.queue import send_run
from app.base.storage import StoredFile
from app.base.text import readable_size
from app.base.together import write_together
from app.cards.edits import is_of_team
from app.competitions.find import find_phase_task
from app.competitions.limits import declared_limits
from app.models import PhaseTask, User
from app.submissions.accept import Accepted, Sender, SubmissionForm, accept_submission, look_up, precheck
from app.submissions.held_uploads import HeldFile, held_file
from app.teams.registration import RegistrationNeeded
from app.web.codabench.fields import Fields, SentFields, key_in, row_id, row_ids, text_of
from app.web.codabench.find import phase_by_id, submissions_by_number, task_by_key
from app.web.codabench.numbers import SubmissionNumber, id_with, number_of
from app.web.codabench.views import CanSubmit, CreatedSubmission
from app.web.http.arrival import arrival_of
from app.web.http.context import Server, ServerHere, public_address
from app.web.http.identity import ApiSubmitter, ApiUser
from app.web.http.rate_limits import limits_of
from app.web.http.routers import page_router
from app.web.http.schemas import RowId
from evergold.scoring.tasks import needs_gpu

router = page_router()

SUBMITTED = "Submitted"


@dataclass(frozen=True, slots=True)
class UploadToTasks:
    """A file for tasks of one phase, all from `find_phase_task`. key: the idempotency key of the request."""

    phase_tasks: Sequence[PhaseTask]
    held: HeldFile
    user: User
    arrived_at: datetime
    form: SubmissionForm
    key: UUID | None = None

    def sender(self, phase_task: PhaseTask) -> Sender:
        repeated = f"codabench {self.key} {phase_task.id}" if self.key else None
        return Sender(self.user, self.arrived_at, repeated)


@router.get("/api/can_make_submission/{phase_id}/")
def can_submit(request: Request, server: ServerHere, user: ApiUser, phase_id: RowId) -> CanSubmit:
    """Return whether an upload to all tasks of the phase would be accepted now, and if not, the reason.

    Clients print the reason in a terminal, so it links to the registration page by its absolute address.
    """
    now = server.clock()
    with reading(server.engine) as session:
        try:
            for phase_task in _tasks_of(session, phase_id, user, ()):
                precheck(session, look_up(session, phase_task, Sender(user, now)))
        except NotFound:
            raise
        except RegistrationNeeded as refusal:
            page = str(refusal.details["registration"])
            reason = refusal.message.replace(page, public_address(request, server, page))
            return CanSubmit(can=False, reason=reason)
        except EvergoldError as refusal:
            return CanSubmit(can=False, reason=refusal.message)
    return CanSubmit(can=True, reason=None)


@router.post("/api/submissions/", status_code=201)
def create_submission(
    request: Request, server: ServerHere, user: ApiSubmitter, fields: SentFields
) -> CreatedSubmission:
    """Submit an uploaded file to the given tasks of the phase, or to all. The same key returns the same submission."""
    phase_id, key, wanted = row_id(fields, "phase"), key_in(fields, "data"), row_ids(fields, "tasks")
    arrived_at = arrival_of(request, server)
    with reading(server.engine) as session:
        phase_tasks = _tasks_of(session, phase_id, user, wanted)
        held = held_file(session, user, key, server.clock())
    upload = UploadToTasks(phase_tasks, held, user, arrived_at, _form(fields, held.filename), key)
    return _submit(request, server, upload)


@router.post("/api/submissions/{submission_number}/re_run_submission/", status_code=201)
def submit_again(
    request: Request, server: ServerHere, user: ApiSubmitter, submission_number: SubmissionNumber, task_key: UUID
) -> CreatedSubmission:
    """Submit the file of an earlier submission of the team to a task, as a new submission under all its rules."""
    with reading(server.engine) as session:
        earlier = submissions_by_number(session, submission_number, user)[0]
        if not is_of_team(session, earlier, user):
            raise Forbidden("Only its team can submit this file again.")
        if earlier.file_cleared_at is not None:
            raise NotFound("This submission was rejected and its file has been deleted.")
        place = task_by_key(session, task_key, user)
        phase_tasks = [find_phase_task(session, *place.names, with_files=False)]
    form = SubmissionForm(earlier.filename, earlier.track, earlier.system.name if earlier.system else "")
    held = HeldFile(StoredFile(earlier.sha256, earlier.size_bytes), earlier.filename)
    return _submit(request, server, UploadToTasks(phase_tasks, held, user, arrival_of(request, server), form))


def _tasks_of(session: Session, phase_id: int, user: User, wanted: Sequence[int]) -> list[PhaseTask]:
    """Return the given tasks of the phase, or all of them; raise NotFound or InvalidForm."""
    competition, phase = phase_by_id(session, phase_id, user)
    there = {one.id: one.task.name for one in phase.phase_tasks}
    if unknown := [number for number in wanted if number not in there]:
        words = f"The phase has the tasks {', '.join(map(str, there))}, and not {', '.join(map(str, unknown))}."
        raise InvalidForm("Please correct the marked fields.", fields={"tasks": words})
    if not there:
        raise InvalidForm("Please correct the marked fields.", fields={"phase": "This phase has no task."})
    return [
        find_phase_task(session, competition.name, phase.name, name, with_files=False)
        for number, name in there.items()
        if not wanted or number in wanted
    ]


def _form(fields: Fields, filename: str) -> SubmissionForm:
    texts = (text_of(fields, name) for name in ("track", "system", "method", "description"))
    track, system, method, description = texts
    return SubmissionForm(filename, track or None, system, method, description)


def _submit(request: Request, server: Server, upload: UploadToTasks) -> CreatedSubmission:
    limits = limits_of(request)
    limits.hit(limits.rules.uploads, f"user {upload.user.id}", server.clock())
    _check_sizes(upload)
    accepted = write_together(server.engine, lambda session: accept_for_all(session, upload))
    for one, phase_task in zip(accepted, upload.phase_tasks, strict=True):
        if one.created:
            log.info("submission_accepted", submission_id=str(one.submission.id), run_id=one.run_id)
            send_run(one.run_id, needs_gpu=needs_gpu(phase_task.task.task_type))  # if it fails, the sweep resends it
    number = number_of(accepted[0].submission.id)
    return CreatedSubmission(id=number, status=SUBMITTED, phase=upload.phase_tasks[0].phase_id)


def accept_for_all(session: Session, upload: UploadToTasks) -> list[Accepted]:
    """Create a submission for each task, all with one number; after an error the caller must roll back."""
    accepted: list[Accepted] = []
    for phase_task in upload.phase_tasks:
        first_id = id_with(number_of(accepted[0].submission.id)) if accepted else None
        form = replace(upload.form, submission_id=first_id)
        accepted.append(accept_submission(session, phase_task, upload.held.file, upload.sender(phase_task), form))
    return accepted


def _check_sizes(upload: UploadToTasks) -> None:
    for phase_task in upload.phase_tasks:
        limit_bytes = declared_limits(phase_task.phase, phase_task).upload_bytes
        if upload.held.file.size_bytes > limit_bytes:
            raise UploadTooLarge(
                f"The file is larger than the {readable_size(limit_bytes)} allowed here.", limit_bytes=limit_bytes
            )
