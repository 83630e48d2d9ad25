"""The page of runs that failed on our side, for organisers: why, and the buttons that have them scored after all."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.db import reading, writing
from app.base.errors import NotFound
from app.runs.failures import failed_runs, queue_again, queue_all_again
from app.web.html.guards import to_login
from app.web.html.rendering import check_form, render
from app.web.http.context import ServerHere
from app.web.http.identity import VisitorHere
from app.web.http.organised import organised
from app.web.http.schemas import RowId
from app.web.submissions.failures import check_names

router = APIRouter()

FormText = Annotated[str, Form()]
PLACE = "/competitions/{competition}/failed"
SHOWN = 200


@router.get(PLACE)
def read_failed(request: Request, server: ServerHere, visitor: VisitorHere, competition: str) -> Response:
    if visitor.user is None:
        return to_login(request)
    with reading(server.engine) as session:
        found = organised(session, visitor.user, competition)
        runs = failed_runs(session, [found.id], SHOWN + 1)
    places = sorted({(run.phase, run.task) for run in runs})
    response = render(
        request,
        "submissions/failed.html",
        competition=found,
        runs=runs[:SHOWN],
        has_more=len(runs) > SHOWN,
        places=places if len(places) > 1 else [],
    )
    response.headers["Cache-Control"] = "no-store"
    return response


@router.post(f"{PLACE}/queue-again")
def send_all_again(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    competition: str,
    phase: FormText = "",
    task: FormText = "",
    csrf_token: FormText = "",
) -> Response:
    if visitor.user is None or visitor.login is None:
        return to_login(request)
    check_form(request, csrf_token)
    with writing(server.engine) as session:
        found = organised(session, visitor.user, competition)
        check_names(found, phase or None, task or None)
        queue_all_again(
            session, found.id, phase=phase or None, task=task or None, actor=visitor.user, now=server.clock()
        )
    return RedirectResponse(links.failed(competition), 303)


@router.post(f"{PLACE}/{{run_id}}/queue-again")
def send_again(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    competition: str,
    run_id: RowId,
    csrf_token: FormText = "",
) -> Response:
    if visitor.user is None or visitor.login is None:
        return to_login(request)
    check_form(request, csrf_token)
    with writing(server.engine) as session:
        found = organised(session, visitor.user, competition)
        if not queue_again(session, run_id, competition_id=found.id, actor=visitor.user, now=server.clock()):
            raise NotFound(f"Competition '{competition}' has no failed run {run_id}.")
    return RedirectResponse(links.failed(competition), 303)
