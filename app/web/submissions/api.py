"""The API of submissions: upload a file, wait for its scores, list one's submissions, download the file."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode
from uuid import UUID

from anyio.to_thread import run_sync
from fastapi import Header, Path, Query, Request, Response, Security

from app.base import api_links
from app.base.db import reading, writing
from app.base.errors import NotFound
from app.cards.systems import NAME_CHARACTERS as SYSTEM_CHARACTERS
from app.feedback.scores import own_scores_of, own_scores_of_all, own_scores_of_new
from app.feedback.standings import standings_of_all, standings_of_one
from app.models import RunStatus, TokenScope, User
from app.runs.stages import stage_of
from app.submissions.accept import DESCRIPTION_CHARACTERS, KEY_CHARACTERS, METHOD_CHARACTERS
from app.submissions.choices import choose_entry, withdraw_choice
from app.submissions.find import current_run, get_submission, list_submissions
from app.submissions.withdrawal import put_back, withdraw_submission
from app.web.http.arrival import is_rush
from app.web.http.context import Server, ServerHere, server_of
from app.web.http.direct import DirectRoute
from app.web.http.errors import error_responses
from app.web.http.files import FILE_RESPONSES, stored_file_response
from app.web.http.gate import check_competition
from app.web.http.identity import ApiSubmitter, ApiUser, api_user, submitter_of
from app.web.http.openapi import upload_body
from app.web.http.paths import check_path
from app.web.http.routers import api_router
from app.web.http.viewer import ApiViewer, Viewer
from app.web.submissions.problems_csv import PROBLEMS_CSV_RESPONSE, problems_csv_response
from app.web.submissions.receiving import Received, Target, receive_submission
from app.web.submissions.schemas import SubmissionList, SubmissionOut, submission_out
from app.web.submissions.waiting import check_visible, wait_for_change

router = api_router("submissions")

PAGE_LENGTH = 50

_UPLOAD_FIELDS: dict[str, dict[str, Any]] = {
    "track": {"type": "string", "description": "one of the competition's tracks; left out where there are none"},
    "system": {
        "type": "string",
        "maxLength": SYSTEM_CHARACTERS,
        "description": "the name of your system: its runs share a method card, which what is sent here adds to; "
        "default: the method",
    },
    "method": {"type": "string", "maxLength": METHOD_CHARACTERS, "description": "a few words, shown on the board"},
    "description": {
        "type": "string",
        "maxLength": DESCRIPTION_CHARACTERS,
        "description": "notes for yourself and the organisers",
    },
}
_UPLOAD_BODY = upload_body(
    "your predictions", _UPLOAD_FIELDS, file="my_predictions.csv", method="XLM-R large", description="seed 17"
)


async def create_submission(
    request: Request,
    competition: Annotated[str, Path(examples=["demo"])],
    phase: Annotated[str, Path(examples=["evaluation"])],
    task: Annotated[str, Path(examples=["idiom-detection"])],
    idempotency_key: Annotated[
        str | None,
        Header(description=f"at most {KEY_CHARACTERS} characters of your choice, new for each submission"),
    ] = None,
) -> Response:
    server = server_of(request)
    check_path(request)

    def sender() -> User:
        check_competition(request, server, competition)
        return submitter_of(request, server)

    def answer(received: Received) -> tuple[str, bytes]:
        submission = _accepted_submission(request, server, received)
        return submission.links.self, submission.model_dump_json().encode()

    target = Target(competition, phase, task)
    place, body = await receive_submission(request, server, sender, target, answer, idempotency_key=idempotency_key)
    response = Response(body, 202, media_type="application/json")
    response.headers["Location"] = place
    return response


router.add_api_route(
    "/competitions/{competition}/phases/{phase}/tasks/{task}/submissions",
    create_submission,
    methods=["POST"],
    route_class_override=DirectRoute,
    operation_id="create_submission",
    summary="Submit predictions",
    description="The file is stored and scored by a worker, usually within a second; wait for the end at the address "
    "in `Location`. The server's clock, when the file has fully arrived, decides whether the phase is open. "
    "With an `Idempotency-Key` a repeated request is the same submission: again a 202, with the same id.",
    status_code=202,
    response_model=SubmissionOut,
    responses=error_responses(400, 401, 403, 404, 408, 409, 413, 415, 422, 429, 507),
    openapi_extra=_UPLOAD_BODY,
    dependencies=[Security(api_user, scopes=[TokenScope.SUBMIT])],
)


@router.get(
    "/submissions/{submission_id}",
    operation_id="get_submission",
    summary="A submission, its scores and its problems",
    description="With `wait` the answer comes as soon as the state is final (`scored`, `rejected`, `failed`), or when "
    "the time is over: look at `status`. Status and scores come together. With `seen` it comes as soon as `stamp` is "
    "another, too: when the state changes, and about once a second while a long scoring goes on. Ten requests of one "
    "person may wait at a time, others get a 429.",
    responses=error_responses(401, 404, 422, 429),
)
async def read_submission(
    request: Request,
    server: ServerHere,
    user: ApiUser,
    viewer: ApiViewer,
    submission_id: UUID,
    wait: Annotated[float, Query(ge=0, le=3600, description="seconds; the server may wait less long")] = 0,
    seen: Annotated[str | None, Query(max_length=40, description="the `stamp` that you have")] = None,
) -> SubmissionOut:
    await run_sync(check_visible, server, submission_id, viewer.user)
    await wait_for_change(request, server, user, submission_id, seconds=wait, seen=seen)
    return await run_sync(load_submission, server, submission_id, viewer)


@router.get(
    "/submissions",
    operation_id="list_submissions",
    summary="Your teams' submissions",
    description="Newest first; `next`, also given in the `Link` header, leads to older ones.",
    responses=error_responses(401, 404, 422),
)
def read_submissions(
    response: Response,
    server: ServerHere,
    user: ApiUser,
    viewer: ApiViewer,
    competition: Annotated[str | None, Query(description="only of this competition")] = None,
    phase: Annotated[str | None, Query(description="only of this phase")] = None,
    task: Annotated[str | None, Query(description="only of this task")] = None,
    status: Annotated[RunStatus | None, Query(description="only in this state")] = None,
    after: Annotated[UUID | None, Query(description="as in `next`")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = PAGE_LENGTH,
    ranks_then: Annotated[bool, Query(description="also `rank_then` and `up` of each run, which takes longer")] = False,
) -> SubmissionList:
    filters = {"competition": competition, "phase": phase, "task": task}
    with reading(server.engine) as session:
        found, cursor = list_submissions(
            session, user, **filters, status=status, with_withdrawn=True, after=after, limit=limit
        )
        now = server.clock()
        own = own_scores_of_all(session, found, viewer.user, now, seen_as=viewer.seen_as)
        standings = standings_of_all(session, found, viewer.user, now, seen_as=viewer.seen_as, with_history=ranks_then)
        listed = [
            submission_out(
                one,
                stage_of(session, current_run(one), one.phase_task.task.task_type, now),
                own[one.id],
                standings[one.id],
            )
            for one in found
        ]
    following = None
    if cursor is not None:
        asked = {**filters, "status": status and status.value}
        chosen = {name: value for name, value in asked.items() if value is not None}
        following = f"{api_links.API}/submissions?{urlencode({**chosen, 'limit': limit, 'after': str(cursor)})}"
        response.headers["Link"] = f'<{following}>; rel="next"'
    return SubmissionList(submissions=listed, next=following)


@router.put(
    "/submissions/{submission_id}/choice",
    operation_id="choose_submission",
    summary="Let this submission be the one that counts",
    description="Where the entry rule of the phase is `chosen`: on every board whose setting the submission entered, "
    "or on one of them. The last choice of the team counts. 409 `no_choice` where there is nothing (more) to choose.",
    responses=error_responses(401, 403, 404, 409, 422),
)
def choose_submission(
    server: ServerHere,
    user: ApiSubmitter,
    submission_id: UUID,
    board: Annotated[str | None, Query(description="only on this board")] = None,
) -> SubmissionOut:
    with writing(server.engine) as session:
        choose_entry(session, submission_id, user, server.clock(), board=board)
    return load_submission(server, submission_id, Viewer(user, None))


@router.delete(
    "/submissions/{submission_id}/choice",
    operation_id="withdraw_choice",
    summary="Choose this submission no longer",
    description="The phase's rule for teams without a choice then applies.",
    responses=error_responses(401, 403, 404, 409, 422),
)
def withdraw(server: ServerHere, user: ApiSubmitter, submission_id: UUID) -> SubmissionOut:
    with writing(server.engine) as session:
        withdraw_choice(session, submission_id, user, server.clock())
    return load_submission(server, submission_id, Viewer(user, None))


@router.put(
    "/submissions/{submission_id}/withdrawal",
    operation_id="withdraw_submission",
    summary="Withdraw a submission",
    description="Until the phase closes; it then counts on no board, unless restored, but against the quota; its "
    "file and scores stay for its team and the organisers. 409 `not_withdrawable`: it counts nowhere, or too late.",
    responses=error_responses(401, 403, 404, 409, 422),
)
def put_withdrawal(server: ServerHere, user: ApiSubmitter, submission_id: UUID) -> SubmissionOut:
    with writing(server.engine) as session:
        withdraw_submission(session, submission_id, user, server.clock())
    return load_submission(server, submission_id, Viewer(user, None))


@router.delete(
    "/submissions/{submission_id}/withdrawal",
    operation_id="put_submission_back",
    summary="Put a withdrawn submission back",
    description="It counts again; where teams choose, it has to be chosen again. For its team until the phase closes, "
    "where it sees its own scores; for organisers at any time. 409 `not_withdrawable` where it is too late.",
    responses=error_responses(401, 403, 404, 409, 422),
)
def delete_withdrawal(server: ServerHere, user: ApiSubmitter, submission_id: UUID) -> SubmissionOut:
    with writing(server.engine) as session:
        put_back(session, submission_id, user, server.clock())
    return load_submission(server, submission_id, Viewer(user, None))


@router.get(
    "/submissions/{submission_id}/file",
    operation_id="download_submission",
    summary="The file as you sent it",
    response_class=Response,
    responses=FILE_RESPONSES | error_responses(401, 404, 416, 422),
)
def download_submission(request: Request, server: ServerHere, user: ApiUser, submission_id: UUID) -> Response:
    with reading(server.engine) as session:
        submission = get_submission(session, submission_id, user)
    if submission.file_cleared_at is not None:
        days = server.settings.rejected_days
        raise NotFound(
            f"This file was rejected, and such files are kept for {days} days; what was wrong with it stays."
        )
    name = submission.filename or str(submission.id)
    return stored_file_response(request, server, submission.sha256, name, is_public=False)


@router.get(
    "/submissions/{submission_id}/problems.csv",
    operation_id="get_problems_csv",
    summary="What is wrong with the file, line by line, as CSV",
    description="Errors of a rejected file, warnings of a scored one; the same as `problems` of the submission.",
    response_class=Response,
    responses=PROBLEMS_CSV_RESPONSE | error_responses(401, 404, 422),
)
def read_problems_csv(server: ServerHere, user: ApiUser, submission_id: UUID) -> Response:
    with reading(server.engine) as session:
        submission = get_submission(session, submission_id, user)
    return problems_csv_response(current_run(submission).problems, submission.filename)


# ------------------------------------------------------------------------------------------------------------ waiting


def _accepted_submission(request: Request, server: Server, received: Received) -> SubmissionOut:
    """Return a submission just accepted, without loading it again; it has no scores, choices or rescorings yet.

    Its queue position is left out while other uploads are queued.
    """
    if received.untouched is None:
        return load_submission(server, received.submission_id, Viewer(received.user, None))
    now = server.clock()
    with reading(server.engine) as session:
        run, task_type = current_run(received.untouched), received.untouched.phase_task.task.task_type
        stage = stage_of(session, run, task_type, now, with_position=not is_rush(request))
        own = own_scores_of_new(session, received.untouched, now, organises=received.organises)
        return submission_out(received.untouched, stage, own, [])


def load_submission(server: Server, submission_id: UUID, viewer: Viewer) -> SubmissionOut:
    """Return the submission as this viewer may see it; raise NotFound."""
    now = server.clock()
    with reading(server.engine) as session:
        submission = get_submission(session, submission_id, viewer.user)
        stage = stage_of(session, current_run(submission), submission.phase_task.task.task_type, now)
        own = own_scores_of(session, submission, viewer.user, now, seen_as=viewer.seen_as)
        standings = standings_of_one(session, submission, viewer.user, now, seen_as=viewer.seen_as)
        return submission_out(submission, stage, own, standings)
