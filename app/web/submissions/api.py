"""The API of submissions: upload, wait for scores, list, compare, download, method cards, problems as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import urlencode
from uuid import UUID

from anyio.to_thread import run_sync
from fastapi import Header, Path, Query, Request, Response, Security
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.orm import Session

from app.base import api_links, links
from app.base.db import reading, writing
from app.base.errors import NotFound
from app.base.text import spreadsheet_safe
from app.cards.edits import card_history, card_number, card_of_submission, edit_card, form_of, frozen_by, is_of_team
from app.cards.systems import NAME_CHARACTERS as SYSTEM_CHARACTERS
from app.cards.views import SubmissionCardOut
from app.competitions.visibility import Viewer
from app.feedback.compare import compare
from app.feedback.documents import describe_submission_seen
from app.feedback.items import Showing, compare_items
from app.feedback.scores import own_scores_of_all, own_scores_of_new
from app.feedback.standings import standings_of_all
from app.feedback.views import ComparisonOut, SubmissionList, SubmissionOut, describe_comparison, describe_submission
from app.models import TokenScope, User
from app.runs.stages import stage_of
from app.submissions.accept import DESCRIPTION_CHARACTERS, KEY_CHARACTERS, METHOD_CHARACTERS
from app.submissions.choices import choose_entry, put_back, withdraw_choice, withdraw_submission
from app.submissions.find import OwnFilter, current_run, get_submission, list_submissions
from app.web.http.arrival import DirectRoute, is_rush
from app.web.http.context import Server, ServerHere, server_of
from app.web.http.csv_answers import TAKES_BOM, CsvResponse
from app.web.http.errors import error_responses
from app.web.http.files import FILE_RESPONSES, stored_file_response
from app.web.http.identity import ApiSubmitter, ApiUser, ApiViewer, api_user, submitter_of
from app.web.http.openapi import upload_body
from app.web.http.paths import TaskNames, check_path
from app.web.http.routers import api_router, check_competition
from app.web.http.visit import ApiUserVisit, ApiVisit
from app.web.submissions.receiving import Received, UploadRequest, receive_submission
from app.web.submissions.schemas import CardIn
from app.web.submissions.waiting import check_visible, wait_for_change

router = api_router("submissions")


@router.get(
    "/submissions/{submission_id}/card",
    operation_id="get_card",
    summary="The method card of a submission",
    description=(
        "With the organisers' fields and all changes so far. For its team and the organisers; others see cards in "
        "the rows of boards, if these show names."
    ),
    responses=error_responses(401, 404, 422),
)
def read_card(visit: ApiUserVisit, submission_id: UUID) -> SubmissionCardOut:
    return _card(visit.session, visit.user, submission_id)


@router.put(
    "/submissions/{submission_id}/card",
    operation_id="edit_card",
    summary="Write the method card of a submission",
    description=(
        "Send the whole card. 409 `card_frozen` once the official board of the phase is frozen. If there are "
        "errors, nothing is changed and all are reported at once, by field (`fields.NAME` for answers). `system` "
        "renames the system. With `version`, 409 `card_changed` if somebody else has changed the card since."
    ),
    responses=error_responses(401, 403, 404, 409, 422),
)
def put_card(
    server: ServerHere,
    user: ApiSubmitter,
    submission_id: UUID,
    card: CardIn,
    version: Annotated[int | None, Query(ge=0, le=2**31 - 1, description="version of the card that you edited")] = None,
) -> SubmissionCardOut:
    with writing(server.engine) as session:
        submission = get_submission(session, submission_id, user)
        sent = card.model_dump(exclude={"system"})
        edit_card(server.act(session, user), submission, sent, version=version, name=card.system)
    with reading(server.engine) as session:
        return _card(session, user, submission_id)


def _card(session: Session, user: User, submission_id: UUID) -> SubmissionCardOut:
    submission = get_submission(session, submission_id, user)
    frozen = frozen_by(session, submission)
    return SubmissionCardOut(
        submission=submission.id,
        system=submission.system.name if submission.system else "",
        card=card_of_submission(session, submission),
        form=form_of(submission.phase_task),
        version=card_number(session, submission),
        is_editable=frozen is None and is_of_team(session, submission, user),
        frozen_at=frozen.made_at if frozen else None,
        history=card_history(session, submission),
        page=links.card(submission.id),
    )


class ItemsQuery(BaseModel):
    """A selection of the items of two submissions, and a page of it."""

    model_config = ConfigDict(frozen=True)

    show: Showing = Field(
        Showing.ALL,
        description=(
            "items to show: all, those whose predictions differ, those where only `a` or only `b` is right (or "
            "closer), …"
        ),
    )
    start: int = Field(0, ge=0, le=2**31 - 1, description="number of items to skip")
    limit: int = Field(1000, ge=1, le=5000)


@router.get(
    "/submissions/{submission_id}/comparison/{other_id}",
    operation_id="compare_submissions",
    summary="Two submissions to one task side by side",
    description=(
        "A is the older submission, B the newer, whatever the order in the request; scores that rank boards come "
        "first. Only scores that were computed in the same way and that the phases show are compared. Items are "
        "included only if the gold of both is public and they were scored since; otherwise `items.hidden` has the "
        "reason. 409 `not_comparable` for submissions to two tasks, or not scored (yet)."
    ),
    responses=error_responses(401, 404, 409, 422),
)
def compare_submissions(
    _: ApiUser,
    visit: ApiVisit,
    submission_id: UUID,
    other_id: UUID,
    query: Annotated[ItemsQuery, Query()],
) -> ComparisonOut:
    found = compare(visit.session, submission_id, other_id, visit.viewer)
    items = compare_items(visit.session, found)
    shown, end = items.selected(query.show), query.start + query.limit
    following = None
    if end < len(shown):
        next_page = urlencode({"show": query.show.value, "start": end, "limit": query.limit})
        following = f"{api_links.comparison(submission_id, other_id)}?{next_page}"
    return describe_comparison(found, items, shown[query.start : end], following)


COLUMNS = ("file", "line", "column", "severity", "code", "message", "text")
PROBLEMS_CSV_RESPONSE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "One line per problem.",
        "content": {
            "text/csv": {
                "schema": {"type": "string"},
                "example": f'{",".join(COLUMNS)}\n,14,ID,error,duplicate-id,"id 203 appears twice",203\n',
            }
        },
    }
}


def problems_csv_response(problems: Sequence[Mapping[str, Any]], filename: str) -> Response:
    """Return the problems as a download named after the file."""
    stem = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in filename) or "file"
    headers = {
        "Content-Disposition": f'attachment; filename="{stem}-problems.csv"',
        "Cache-Control": "private, no-cache",
    }
    return CsvResponse(problems_csv(problems), headers=headers)


def problems_csv(problems: Sequence[Mapping[str, Any]]) -> str:
    """Return the problems as CSV, with texts from the user's file escaped against spreadsheet formulas."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for problem in problems:
        writer.writerow([_cell(problem.get(column)) for column in COLUMNS])
    return text.getvalue()


def _cell(value: Any) -> Any:
    return spreadsheet_safe(value) if isinstance(value, str) else value


PAGE_LENGTH = 50

_UPLOAD_FIELDS: dict[str, dict[str, Any]] = {
    "track": {"type": "string", "description": "one of the competition's tracks; leave it out if there are none"},
    "system": {
        "type": "string",
        "maxLength": SYSTEM_CHARACTERS,
        "description": (
            "name of your system, whose submissions share a method card; the fields sent here are added to it; "
            "default: the method"
        ),
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

    sent = UploadRequest(request, TaskNames(competition, phase, task), sender, idempotency_key)
    place, body = await receive_submission(sent, answer)
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
    "A repeated request with the same `Idempotency-Key` is the same submission: again a 202, with the same ID.",
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
    description=(
        "With `wait` the answer comes once the state is final (`scored`, `rejected`, `failed`) or the time is over: "
        "check `status`. Status and scores come together. With `seen` it also comes once `stamp` has changed: "
        "whenever the state changes, and about once a second during a long scoring. At most ten requests of a "
        "person may wait at the same time; more get a 429."
    ),
    responses=error_responses(401, 404, 422, 429),
)
async def read_submission(
    request: Request,
    server: ServerHere,
    user: ApiUser,
    viewer: ApiViewer,
    submission_id: UUID,
    wait: Annotated[float, Query(ge=0, le=3600, description="seconds; the server may wait less long")] = 0,
    seen: Annotated[str | None, Query(max_length=40, description="the last `stamp` that you received")] = None,
) -> SubmissionOut:
    await run_sync(check_visible, server, submission_id, viewer.user)
    await wait_for_change(request, user, submission_id, seconds=wait, seen=seen)
    return await run_sync(load_submission, server, submission_id, viewer.at(server.clock()))


class ListQuery(OwnFilter):
    """The filters and the page of the list."""

    limit: int = Field(PAGE_LENGTH, ge=1, le=200)
    ranks_then: bool = Field(False, description="include `rank_then` and `up` of each submission, which takes longer")


@router.get(
    "/submissions",
    operation_id="list_submissions",
    summary="Your teams' submissions",
    description="Newest first; `next`, also given in the `Link` header, leads to older ones.",
    responses=error_responses(401, 404, 422),
)
def read_submissions(
    response: Response, user: ApiUser, visit: ApiVisit, query: Annotated[ListQuery, Query()]
) -> SubmissionList:
    session, viewer = visit.session, visit.viewer
    found, cursor = list_submissions(session, user, query, limit=query.limit)
    own = own_scores_of_all(session, found, viewer)
    standings = standings_of_all(session, found, own, viewer, with_history=query.ranks_then)
    listed = [
        describe_submission(
            one,
            stage_of(session, current_run(one), one.phase_task.task.task_type, viewer.now),
            own[one.id],
            standings[one.id],
        )
        for one in found
    ]
    following = None
    if cursor is not None:
        chosen = query.model_dump(mode="json", exclude={"after", "ranks_then"}, exclude_none=True)
        following = f"{api_links.API}/submissions?{urlencode({**chosen, 'after': str(cursor)})}"
        response.headers["Link"] = f'<{following}>; rel="next"'
    return SubmissionList(submissions=listed, next=following)


@router.put(
    "/submissions/{submission_id}/choice",
    operation_id="choose_submission",
    summary="Choose this submission as the entry",
    description=(
        "For phases with the entry rule `chosen`: on every board for which the submission has scores, or on one of "
        "them. The team's last choice counts. 409 `no_choice` if there is nothing (more) to choose."
    ),
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
    return load_submission(server, submission_id, Viewer(user, server.clock()))


@router.delete(
    "/submissions/{submission_id}/choice",
    operation_id="withdraw_choice",
    summary="Undo the choice of this submission",
    description="The phase's rule for teams without a choice then applies.",
    responses=error_responses(401, 403, 404, 409, 422),
)
def withdraw(server: ServerHere, user: ApiSubmitter, submission_id: UUID) -> SubmissionOut:
    with writing(server.engine) as session:
        withdraw_choice(session, submission_id, user, server.clock())
    return load_submission(server, submission_id, Viewer(user, server.clock()))


@router.put(
    "/submissions/{submission_id}/withdrawal",
    operation_id="withdraw_submission",
    summary="Withdraw a submission",
    description=(
        "Possible until the phase closes. The submission then counts on no board unless restored, but still against "
        "the quota; its team and the organisers keep its file and scores. 409 `not_withdrawable` if it does not "
        "count anyway, or if it is too late."
    ),
    responses=error_responses(401, 403, 404, 409, 422),
)
def put_withdrawal(server: ServerHere, user: ApiSubmitter, submission_id: UUID) -> SubmissionOut:
    with writing(server.engine) as session:
        withdraw_submission(session, submission_id, user, server.clock())
    return load_submission(server, submission_id, Viewer(user, server.clock()))


@router.delete(
    "/submissions/{submission_id}/withdrawal",
    operation_id="put_submission_back",
    summary="Restore a withdrawn submission",
    description=(
        "The submission counts again; if teams choose, it must be chosen again. Its team can do this until the "
        "phase closes, if it sees its own scores; organisers can at any time. 409 `not_withdrawable` if it is too "
        "late."
    ),
    responses=error_responses(401, 403, 404, 409, 422),
)
def delete_withdrawal(server: ServerHere, user: ApiSubmitter, submission_id: UUID) -> SubmissionOut:
    with writing(server.engine) as session:
        put_back(session, submission_id, user, server.clock())
    return load_submission(server, submission_id, Viewer(user, server.clock()))


@router.get(
    "/submissions/{submission_id}/file",
    operation_id="download_submission",
    summary="The file as you sent it",
    response_class=Response,
    responses=FILE_RESPONSES | error_responses(401, 404, 416, 422),
)
def download_submission(visit: ApiUserVisit, submission_id: UUID) -> Response:
    submission = get_submission(visit.session, submission_id, visit.user)
    visit.session.close()  # the file may come from far away, and needs no connection
    if submission.file_cleared_at is not None:
        days = visit.server.settings.rejected_days
        raise NotFound(
            f"This file was rejected, and rejected files are deleted after {days} days; the list of its problems stays."
        )
    name = submission.filename or str(submission.id)
    return stored_file_response(visit.request, submission.sha256, name, is_public=False)


@router.get(
    "/submissions/{submission_id}/problems.csv",
    operation_id="get_problems_csv",
    dependencies=TAKES_BOM,
    summary="Problems of the file by line, as CSV",
    description="Errors of a rejected file, warnings of a scored one; the same as `problems` of the submission.",
    response_class=Response,
    responses=PROBLEMS_CSV_RESPONSE | error_responses(401, 404, 422),
)
def read_problems_csv(visit: ApiUserVisit, submission_id: UUID) -> Response:
    submission = get_submission(visit.session, submission_id, visit.user)
    return problems_csv_response(current_run(submission).problems, submission.filename)


# ------------------------------------------------------------------------------------------------------------ waiting


def _accepted_submission(request: Request, server: Server, received: Received) -> SubmissionOut:
    """Return the API object of a submission that was just accepted, without loading it again.

    It has no scores, choices or rescorings yet. Its queue position is left out while other uploads are queued.
    """
    if received.untouched is None:
        return load_submission(server, received.submission_id, Viewer(received.user, server.clock()))
    now = server.clock()
    with reading(server.engine) as session:
        run, task_type = current_run(received.untouched), received.untouched.phase_task.task.task_type
        stage = stage_of(session, run, task_type, now, with_position=not is_rush(request))
        own = own_scores_of_new(session, received.untouched, now, organises=received.organises)
        return describe_submission(received.untouched, stage, own, [])


def load_submission(server: Server, submission_id: UUID, viewer: Viewer) -> SubmissionOut:
    """Return the submission as this viewer may see it; raise NotFound."""
    with reading(server.engine) as session:
        return describe_submission_seen(session, get_submission(session, submission_id, viewer.user), viewer)
