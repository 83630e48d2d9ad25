"""The page of a task's gold in a phase, for organisers: its versions, and the form that seals a new one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.db import reading
from app.base.errors import EvergoldError, Forbidden, NotFound
from app.competitions.find import find_competition, find_phase_task
from app.gold.versions import UPLOAD_LIMIT_BYTES, list_gold, phases_with_same_task, recipients
from app.models import Phase
from app.people.roles import check_may_organise
from app.web.gold.api import publish_version
from app.web.gold.receiving import FIELDS, receive_gold
from app.web.html.guards import to_login
from app.web.html.rendering import check_form, render
from app.web.http import csrf
from app.web.http.context import Server, ServerHere
from app.web.http.identity import Visitor, VisitorHere
from app.web.http.schemas import RowId
from app.web.submissions.receiving import Target

router = APIRouter()

FormText = Annotated[str, Form()]
PLACE = "/competitions/{competition}/phases/{phase}/tasks/{task}/gold"


@router.get(PLACE)
def read_gold_page(
    request: Request, server: ServerHere, visitor: VisitorHere, competition: str, phase: str, task: str
) -> Response:
    if visitor.user is None:
        return to_login(request)
    return _page(request, server, visitor, Target(competition, phase, task), {})


@router.post(PLACE)
async def send_gold(
    request: Request, server: ServerHere, visitor: VisitorHere, competition: str, phase: str, task: str
) -> Response:
    if visitor.user is None or visitor.login is None:
        return to_login(request)
    target = Target(competition, phase, task)
    typed: dict[str, str] = {}

    def before_file(fields: Mapping[str, str]) -> None:
        typed.update({name: fields[name] for name in FIELDS if name in fields})
        check_form(request, fields.get(csrf.FORM_FIELD))

    try:
        await receive_gold(
            request,
            server,
            visitor.user,
            target,
            more_fields=frozenset({csrf.FORM_FIELD}),
            before_file=before_file,
        )
    except (NotFound, Forbidden):
        raise
    except EvergoldError as error:
        return await run_sync(_page, request, server, visitor, target, typed, error)
    return RedirectResponse(links.gold(competition, phase, task), 303)


@router.post(f"{PLACE}/{{version}}/publish")
def send_publish(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    competition: str,
    phase: str,
    task: str,
    version: RowId,
    csrf_token: FormText = "",
) -> Response:
    if visitor.user is None or visitor.login is None:
        return to_login(request)
    check_form(request, csrf_token)
    target = Target(competition, phase, task)
    try:
        publish_version(server, visitor.user, target, version)
    except (NotFound, Forbidden):
        raise
    except EvergoldError as error:
        return _page(request, server, visitor, target, {}, error)
    return RedirectResponse(links.gold(competition, phase, task), 303)


def _page(
    request: Request,
    server: Server,
    visitor: Visitor,
    target: Target,
    typed: Mapping[str, str],
    error: EvergoldError | None = None,
) -> Response:
    with reading(server.engine) as session:
        phase_task = find_phase_task(session, target.competition, target.phase, target.task)
        check_may_organise(session, visitor.user, phase_task.phase.competition)
        versions = list_gold(session, phase_task)
        has_key = bool(recipients(session, server.settings.sealing_keys))
        phases = find_competition(session, target.competition).phases
    others: list[Phase] = [phase for phase in phases if phases_with_same_task(phase_task, [phase])]
    response = render(
        request,
        "gold/page.html",
        error.status if error else 200,
        phase_task=phase_task,
        phase=phase_task.phase,
        task=phase_task.task,
        versions=versions,
        others=others,
        has_key=has_key,
        limit_bytes=UPLOAD_LIMIT_BYTES,
        typed=typed,
        error=error,
    )
    response.headers["Cache-Control"] = "no-store"
    return response
