"""The page of failed runs, for organisers: what went wrong on the server, and buttons to queue them again."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Form, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import Field

from app.base import links
from app.base.db import reading, writing
from app.base.errors import NotFound
from app.competitions.find import organised
from app.models import Right, User
from app.runs.failures import check_names, failed_runs, queue_again, queue_all_again
from app.web.html.forms import PageForm, Ticked
from app.web.html.guards import PageUser, form_guard
from app.web.html.rendering import render
from app.web.html.workspace import desk_of
from app.web.http.context import ServerHere
from app.web.http.routers import page_router
from app.web.http.schemas import RowId

router = page_router()

PLACE = "/competitions/{competition}/failed"
SHOWN = 200
#: The user who sends a form of this page.
Organiser = Annotated[User, Depends(form_guard(PLACE))]


class PlaceForm(PageForm):
    """A selection of failed runs by phase and task; empty: all. chosen: only the ticked runs, by id."""

    phase: str = ""
    task: str = ""
    chosen: Ticked = False
    run: list[RowId] = Field(default_factory=list, max_length=SHOWN)


@router.get(PLACE)
def read_failed(request: Request, server: ServerHere, user: PageUser, competition: str) -> Response:
    with reading(server.engine) as session:
        found = organised(session, user, competition, Right.SUBMISSIONS)
        runs = failed_runs(session, [found.id], SHOWN + 1)
        workspace = desk_of(session, found, user, server.clock())
    places = sorted({(run.phase, run.task) for run in runs})
    response = render(
        request,
        "submissions/failed.html",
        competition=found,
        workspace=workspace,
        runs=runs[:SHOWN],
        has_more=len(runs) > SHOWN,
        places=places if len(places) > 1 else [],
    )
    response.headers["Cache-Control"] = "no-store"
    return response


@router.post(f"{PLACE}/queue-again")
def send_all_again(
    server: ServerHere,
    user: Organiser,
    competition: str,
    form: Annotated[PlaceForm, Form()],
) -> Response:
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.SUBMISSIONS)
        phase, task = form.phase or None, form.task or None
        check_names(found, phase, task)
        if form.chosen:
            for run_id in form.run:
                queue_again(session, run_id, competition_id=found.id, actor=user, now=server.clock())
        else:
            queue_all_again(session, found.id, phase=phase, task=task, actor=user, now=server.clock())
    return RedirectResponse(links.failed(competition), 303)


@router.post(f"{PLACE}/{{run_id}}/queue-again")
def send_again(
    server: ServerHere,
    user: Organiser,
    competition: str,
    run_id: RowId,
) -> Response:
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.SUBMISSIONS)
        if not queue_again(session, run_id, competition_id=found.id, actor=user, now=server.clock()):
            raise NotFound(f"Competition '{competition}' has no failed run {run_id}.")
    return RedirectResponse(links.failed(competition), 303)
