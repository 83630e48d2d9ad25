"""The API of sealed gold, for organisers: upload a version, put it in use, list versions. No route reads gold."""

from __future__ import annotations

from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import Path, Request
from sqlalchemy.orm import Session

from app.base.db import reading
from app.boards.leaks import leaks_in
from app.competitions.find import organised, organised_task
from app.competitions.views import LeakList, describe_leak
from app.gold.versions import list_gold
from app.gold.views import GoldList, describe_gold
from app.models import Right, User
from app.web.gold.receiving import check_version_again, receive_gold, use_version
from app.web.http.context import Server, ServerHere
from app.web.http.errors import error_responses
from app.web.http.identity import ApiOrganiser
from app.web.http.openapi import upload_body
from app.web.http.paths import CompetitionName, TaskNames, TaskNamesHere
from app.web.http.routers import api_router
from app.web.http.schemas import RowId
from app.web.http.visit import ApiOrganiserVisit
from app.web.submissions.receiving import UploadRequest

router = api_router("organising")

PLACE = "/competitions/{competition}/phases/{phase}/tasks/{task}/gold"
TaskName = Annotated[str, Path(examples=["idiom-detection"])]

_FIELDS: dict[str, dict[str, Any]] = {
    "also": {"type": "string", "description": "further phases with this task, separated by commas"},
    "publish": {"type": "boolean", "description": "put it in use at once, even if another version is in use"},
    "public": {
        "type": "boolean",
        "description": "the gold is public: where the phase allows it, teams see its items. The setting is "
        "sealed with the gold and cannot be added later. Send it, and `also`, before the file",
    },
    "reader": {
        "type": "string",
        "description": (
            "your public key (X25519, 64 hexadecimal digits), for which problems with their values are sealed, see "
            "`explanation`. Send it before the file"
        ),
    },
}
_BODY = upload_body(
    "a file, or a zip of a folder", _FIELDS, also="post-evaluation", publish=False, public=False, file="gold.csv"
)


@router.get(
    "/competitions/{competition}/leaks",
    operation_id="list_leaks",
    summary="Share of each hidden gold that teams can infer from scores, for organisers",
    description=(
        "An upper bound: no team can infer more, whatever it submits, and few infer as much. Workers measure the "
        "gold; until then `share` is null."
    ),
    responses=error_responses(401, 403, 404),
)
def read_leaks(visit: ApiOrganiserVisit, competition: CompetitionName) -> LeakList:
    leaks = leaks_in(visit.session, organised(visit.session, visit.user, competition, Right.GOLD))
    return LeakList(leaks=[describe_leak(one.phase.name, one.phase_task.task.name, one.leak) for one in leaks])


@router.get(
    PLACE,
    operation_id="list_gold",
    summary="The versions of a task's sealed gold, for organisers",
    responses=error_responses(401, 403, 404),
)
def read_gold_list(visit: ApiOrganiserVisit, names: TaskNamesHere) -> GoldList:
    return _versions(visit.session, visit.user, names)


@router.post(
    PLACE,
    operation_id="put_gold",
    summary="Upload a new version of a task's gold, for organisers",
    description=(
        "It is sealed as it arrives: this process can store it but never read it again. A worker checks it; the "
        "first version is used as soon as it passes, a later one when it is published."
    ),
    status_code=201,
    responses=error_responses(400, 401, 403, 404, 408, 409, 413, 415, 422, 507),
    openapi_extra=_BODY,
)
async def create_gold_version(
    request: Request, server: ServerHere, user: ApiOrganiser, names: TaskNamesHere
) -> GoldList:
    target = names
    await receive_gold(UploadRequest(request, target, lambda: user))
    return await run_sync(_versions_now, server, user, target)


@router.post(
    f"{PLACE}/{{version}}/publish",
    operation_id="publish_gold",
    summary="Use a version of gold for new submissions, for organisers",
    description="Existing scores do not change until they are rescored. Boards then show its commitment.",
    responses=error_responses(401, 403, 404, 409, 422),
)
def publish_gold_version(server: ServerHere, user: ApiOrganiser, names: TaskNamesHere, version: RowId) -> GoldList:
    use_version(server, user, names, version)
    return _versions_now(server, user, names)


@router.post(
    f"{PLACE}/{{version}}/check",
    operation_id="check_gold",
    summary="Have a worker check a version of gold (again), for organisers",
    description=(
        "Checks that the task type can read it and that it fits the items, for example after a change of items or "
        "options. The version in use stays in use, whatever the result, which the list shows."
    ),
    status_code=202,
    responses=error_responses(401, 403, 404, 422),
)
def check_gold_version(server: ServerHere, user: ApiOrganiser, names: TaskNamesHere, version: RowId) -> GoldList:
    check_version_again(server, user, names, version)
    return _versions_now(server, user, names)


def _versions_now(server: Server, user: User, names: TaskNames) -> GoldList:
    """Return the current gold versions, after a change."""
    with reading(server.engine) as session:
        return _versions(session, user, names)


def _versions(session: Session, user: User, names: TaskNames) -> GoldList:
    phase_task = organised_task(session, user, *names, Right.GOLD)
    return describe_gold(session, phase_task, list_gold(session, phase_task))
