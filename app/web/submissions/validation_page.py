"""The page of a validation, live until it has ended."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from anyio.to_thread import run_sync
from fastapi import Query, Request, Response

from app.base.db import reading
from app.models import CHECKED, User, ValidationStatus
from app.submissions.validations import KEPT, get_validation
from app.web.html.guards import PageUser
from app.web.html.rendering import render
from app.web.html.workspace import workspace_of_task
from app.web.http.context import Server, ServerHere
from app.web.http.identity import VisitorHere
from app.web.http.routers import page_router
from app.web.http.viewer import Viewer
from app.web.submissions.page import LIVE_SECONDS
from app.web.submissions.validation_schemas import STATUS_WORDS
from app.web.submissions.waiting import wait_for_check

router = page_router()


@router.get("/validations/{validation_id}")
def read_validation(request: Request, server: ServerHere, user: PageUser, validation_id: UUID) -> Response:
    shown = _shown(server, user, validation_id)
    with reading(server.engine) as session:
        validation, now = shown["validation"], server.clock()
        workspace = workspace_of_task(session, validation.phase_task, Viewer(user, None), now, "submit")
    return render(request, "submissions/validation.html", **shown, workspace=workspace, is_update=False)


@router.get("/validations/{validation_id}/live")
async def read_live(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    validation_id: UUID,
    seen: Annotated[str | None, Query(max_length=40)] = None,
) -> Response:
    """The part of the page that changes, as soon as the status is not `seen` any more."""
    if visitor.user is None:  # logged out meanwhile: redirect the whole page
        return Response(status_code=204, headers={"HX-Refresh": "true"})
    await run_sync(_shown, server, visitor.user, validation_id)  # NotFound for others
    await wait_for_check(request, server, visitor.user, validation_id, seconds=LIVE_SECONDS, seen=seen)
    shown = await run_sync(_shown, server, visitor.user, validation_id)
    return render(request, "submissions/validation_live.html", **shown, is_update=seen != shown["status"])


def _shown(server: Server, user: User, validation_id: UUID) -> dict[str, Any]:
    """Return the template context of the page and its live part."""
    with reading(server.engine) as session:
        validation = get_validation(session, validation_id, user, server.clock())
    phase = validation.phase_task.phase
    status = ValidationStatus(validation.status)
    return {
        "validation": validation,
        "status": status,
        "message": STATUS_WORDS[status],
        "is_final": status in CHECKED,
        "phase": phase,
        "competition": phase.competition,
        "task": validation.phase_task.task,
        "kept_until": validation.asked_at + KEPT,
    }
