"""The API of validations: upload a file to check it without submitting it, and read the problems found."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from anyio.to_thread import run_sync
from fastapi import Header, Query, Request, Response

from app.base.db import reading
from app.models import User
from app.submissions.accept import KEY_CHARACTERS
from app.submissions.validations import get_validation
from app.submissions.views import ValidationOut, describe_validation
from app.web.http.context import Server, ServerHere
from app.web.http.csv_answers import TAKES_BOM
from app.web.http.errors import error_responses
from app.web.http.identity import ApiSubmitter, ApiUser
from app.web.http.openapi import upload_body
from app.web.http.paths import TaskNamesHere
from app.web.http.routers import api_router
from app.web.http.visit import ApiUserVisit
from app.web.submissions.api import PROBLEMS_CSV_RESPONSE, problems_csv_response
from app.web.submissions.receiving import UploadRequest
from app.web.submissions.validation_receiving import receive_validation
from app.web.submissions.waiting import wait_for_check

router = api_router("submissions")


@router.post(
    "/competitions/{competition}/phases/{phase}/tasks/{task}/validations",
    operation_id="create_validation",
    summary="Validate a file without submitting it",
    description=(
        "A worker reads the file like a submission but does not score it. It uses no quota and does not count, "
        "nobody else sees it, and it is deleted after a day. The number of validations per person is limited. A "
        "repeated request with the same `Idempotency-Key` is the same check."
    ),
    status_code=202,
    responses=error_responses(400, 401, 403, 404, 408, 409, 413, 415, 422, 429, 507),
    openapi_extra=upload_body("your predictions", file="my_predictions.csv"),
)
async def create_validation(
    request: Request,
    response: Response,
    server: ServerHere,
    user: ApiSubmitter,
    names: TaskNamesHere,
    idempotency_key: Annotated[
        str | None, Header(description=f"at most {KEY_CHARACTERS} characters of your choice, new for each check")
    ] = None,
) -> ValidationOut:
    sent = UploadRequest(request, names, lambda: user, idempotency_key)
    accepted = await receive_validation(sent)
    validation = await run_sync(_load, server, accepted.validation.id, user)
    response.headers["Location"] = validation.links.self
    return validation


@router.get(
    "/validations/{validation_id}",
    operation_id="get_validation",
    summary="The result of a validation",
    description=(
        "With `wait` the answer comes once the state is final (`valid`, `invalid`, `failed`) or the time is over: "
        "check `status`."
    ),
    responses=error_responses(401, 404, 422, 429),
)
async def read_validation(
    request: Request,
    server: ServerHere,
    user: ApiUser,
    validation_id: UUID,
    wait: Annotated[float, Query(ge=0, le=3600, description="seconds; the server may wait less long")] = 0,
) -> ValidationOut:
    await run_sync(_load, server, validation_id, user)
    await wait_for_check(request, user, validation_id, seconds=wait)
    return await run_sync(_load, server, validation_id, user)


@router.get(
    "/validations/{validation_id}/problems.csv",
    operation_id="get_validation_problems_csv",
    dependencies=TAKES_BOM,
    summary="Problems of a validated file, as CSV",
    response_class=Response,
    responses=PROBLEMS_CSV_RESPONSE | error_responses(401, 404, 422),
)
def read_validation_problems(visit: ApiUserVisit, validation_id: UUID) -> Response:
    validation = get_validation(visit.session, validation_id, visit.user, visit.now)
    return problems_csv_response(validation.problems, validation.filename)


def _load(server: Server, validation_id: UUID, user: User) -> ValidationOut:
    with reading(server.engine) as session:
        return describe_validation(get_validation(session, validation_id, user, server.clock()))
