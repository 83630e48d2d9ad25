"""The API of administrators about the running server: queue, storage, mails, refused requests, health, reports."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request

from app.administration import mails, queue
from app.administration.health import health_now
from app.administration.operations_views import (
    FailedMailList,
    HoldOut,
    QueuedAgainOut,
    QueueOut,
    RefusedList,
    SentAgainOut,
    ServerHealthOut,
    StorageOut,
)
from app.administration.refusals import list_refused
from app.administration.storage import count_unowned, storage_now
from app.base.db import writing
from app.moderation.reports import list_reports
from app.moderation.views import TextReportList, TextReportOut
from app.web.administration.access import ApiAdmin, ApiAdminVisit
from app.web.administration.operations_schemas import HoldIn, MailsIn, RunsIn
from app.web.http.context import ServerHere
from app.web.http.errors import error_responses
from app.web.http.routers import api_router

router = api_router("administration")

HOLDS = "/admin/holds"


@router.get(
    "/admin/queue",
    operation_id="read_queue",
    summary="Waiting and running jobs, and workers",
    responses=error_responses(401, 403),
)
def read_queue(visit: ApiAdminVisit) -> QueueOut:
    return queue.queue_now(visit.session, visit.server.settings, visit.now)


@router.put(
    HOLDS,
    operation_id="hold_scoring",
    summary="Pause scoring, or drain a machine",
    description=(
        "No new work starts there; running work continues, and nothing is lost. The hold lasts until it is lifted, "
        "even across restarts. Holding the same target again returns the first hold."
    ),
    responses=error_responses(401, 403, 404, 422),
)
def put_hold(server: ServerHere, user: ApiAdmin, form: HoldIn) -> HoldOut:
    with writing(server.engine) as session:
        target = queue.target_at(session, form.place, form.host)
        return queue.hold_scoring(server.act(session, user), target, form.reason)


@router.delete(
    HOLDS,
    operation_id="resume_scoring",
    summary="Resume scoring there",
    status_code=204,
    responses=error_responses(401, 403, 404, 422),
)
def delete_hold(
    server: ServerHere,
    user: ApiAdmin,
    place: Annotated[str, Query(max_length=300, description="place that was held; empty: the whole server")] = "",
    host: Annotated[str, Query(max_length=200, description="instead of a place: the drained machine")] = "",
) -> None:
    with writing(server.engine) as session:
        queue.resume_scoring(server.act(session, user), queue.target_at(session, place, host))


@router.post(
    "/admin/failed-runs/queue-again",
    operation_id="queue_any_failed_runs_again",
    summary="Run failed runs again, of any competition",
    responses=error_responses(401, 403, 422),
)
def post_runs_again(server: ServerHere, user: ApiAdmin, form: RunsIn) -> QueuedAgainOut:
    with writing(server.engine) as session:
        return QueuedAgainOut(queued=queue.run_again(server.act(session, user), form.runs))


@router.get(
    "/admin/storage",
    operation_id="read_storage",
    summary="Stored files by competition and kind, and free space",
    responses=error_responses(401, 403, 422),
)
def read_storage(
    visit: ApiAdminVisit,
    unowned: Annotated[bool, Query(description="also count files that nothing refers to")] = False,
) -> StorageOut:
    found = storage_now(visit.session, visit.server.settings)
    if not unowned:
        return found
    return found.model_copy(update={"unowned": count_unowned(visit.server.engine, visit.server.settings)})


@router.get(
    "/admin/failed-mails",
    operation_id="list_failed_mails",
    summary="Mails that could not be delivered, and why",
    responses=error_responses(401, 403),
)
def read_mails(visit: ApiAdminVisit) -> FailedMailList:
    return mails.failed_mails(visit.session)


@router.post(
    "/admin/failed-mails/send-again",
    operation_id="send_failed_mails_again",
    summary="Try failed mails again",
    responses=error_responses(401, 403, 422),
)
def post_mails_again(server: ServerHere, user: ApiAdmin, form: MailsIn) -> SentAgainOut:
    with writing(server.engine) as session:
        return SentAgainOut(mails=mails.try_again(server.act(session, user), form.mails))


@router.get(
    "/admin/refused-requests",
    operation_id="list_refused_requests",
    summary="Requests that rate limits refused, by hour and rule",
    responses=error_responses(401, 403),
)
def read_refused(request: Request, visit: ApiAdminVisit) -> RefusedList:
    return RefusedList(refused=list_refused(visit.session))


@router.get(
    "/admin/health",
    operation_id="read_server_health",
    summary="Health of all parts of the server",
    responses=error_responses(401, 403),
)
def read_health(visit: ApiAdminVisit) -> ServerHealthOut:
    return ServerHealthOut(parts=health_now(visit.server.engine, visit.server.settings, visit.now))


@router.get(
    "/admin/reports",
    operation_id="list_all_reports",
    summary="Reports of texts in all competitions, including closed ones",
    responses=error_responses(401, 403),
)
def read_reports(visit: ApiAdminVisit) -> TextReportList:
    found = list_reports(visit.session, None, also_closed=True)
    return TextReportList(reports=[TextReportOut.of(one, names_reporter=True) for one in found])
