"""The page of a validation; live until its state is final."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from anyio.to_thread import run_sync
from fastapi import Query, Request, Response

from app.models import CHECKED, User, ValidationStatus
from app.submissions.validations import KEPT, get_validation
from app.submissions.views import STATUS_WORDS
from app.web.html.guards import PageUserVisit
from app.web.html.rendering import render_page
from app.web.html.workspace import workspace_of_task
from app.web.http.context import ServerHere
from app.web.http.identity import VisitorHere
from app.web.http.routers import page_router
from app.web.http.visit import UserVisit, user_visit_of
from app.web.submissions.waiting import LIVE_SECONDS, check_own_validation, wait_for_check

router = page_router()


@router.get("/validations/{validation_id}")
def read_validation(visit: PageUserVisit, validation_id: UUID) -> Response:
    shown = _shown(visit, validation_id)
    workspace = workspace_of_task(visit.session, shown["validation"].phase_task, visit.viewer, "submit")
    return render_page(visit, "submissions/validation.html", **shown, workspace=workspace, is_update=False)


@router.get("/validations/{validation_id}/live")
async def read_live_validation(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    validation_id: UUID,
    seen: Annotated[str | None, Query(max_length=40)] = None,
) -> Response:
    """Return the live part of the page as soon as the status differs from `seen`."""
    if visitor.user is None:  # logged out meanwhile: redirect the whole page
        return Response(status_code=204, headers={"HX-Refresh": "true"})
    await run_sync(check_own_validation, server, visitor.user, validation_id)
    await wait_for_check(request, visitor.user, validation_id, seconds=LIVE_SECONDS, seen=seen)
    return await run_sync(_live_part, request, visitor.user, validation_id, seen)


def _live_part(request: Request, user: User, validation_id: UUID, seen: str | None) -> Response:
    with user_visit_of(request, user) as visit:
        shown = _shown(visit, validation_id)
        return render_page(visit, "submissions/validation_live.html", **shown, is_update=seen != shown["status"])


def _shown(visit: UserVisit, validation_id: UUID) -> dict[str, Any]:
    """Return the template context of the page and its live part."""
    validation = get_validation(visit.session, validation_id, visit.user, visit.now)
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
