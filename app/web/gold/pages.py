"""The gold page of a task in a phase, for organisers: its versions, and the form that seals a new one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from fastapi import Depends, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.errors import EvergoldError
from app.competitions.find import find_competition, organised_task
from app.gold.recorded import recipients
from app.gold.versions import UPLOAD_LIMIT_BYTES, is_for_another_program, list_gold, phases_with_same_task
from app.models import PhaseTask, Right
from app.web.gold.receiving import AHEAD, DESCRIBE, check_version_again, receive_gold, use_version
from app.web.html.guards import FormSender, PageUserVisit, SentUpload, UploadHere, form_again, form_guard
from app.web.html.rendering import render_page
from app.web.html.workspace import desk_of
from app.web.http import csrf
from app.web.http.paths import TaskNames, TaskNamesHere
from app.web.http.routers import page_router
from app.web.http.schemas import RowId
from app.web.http.visit import UserVisit
from app.web.submissions.receiving import UploadRequest
from evergold.scoring.errors import InvalidOptions
from evergold.scoring.task import read_options
from evergold.scoring.tasks import TASKS

router = page_router()

PLACE = "/competitions/{competition}/phases/{phase}/tasks/{task}/gold"


@router.get(PLACE)
def read_gold_page(visit: PageUserVisit, names: TaskNamesHere) -> Response:
    return _page(visit, names)


def _page(
    visit: UserVisit,
    names: TaskNames,
    typed: Mapping[str, str] | None = None,
    error: EvergoldError | None = None,
) -> Response:
    session = visit.session
    phase_task = organised_task(session, visit.user, *names, Right.GOLD)
    versions = list_gold(session, phase_task)
    has_key = bool(recipients(session, visit.server.settings.sealing_keys))
    found = find_competition(session, names.competition)
    workspace = desk_of(session, found, visit.viewer)
    return render_page(
        visit,
        "gold/page.html",
        may_store=False,
        workspace=workspace,
        phase_task=phase_task,
        phase=phase_task.phase,
        task=phase_task.task,
        versions=versions,
        is_for_another_program=is_for_another_program(session, phase_task, versions),
        others=[other for other in found.phases if phases_with_same_task(phase_task, [other])],
        advice=_advice(phase_task),
        has_key=has_key,
        limit_bytes=UPLOAD_LIMIT_BYTES,
        typed=typed or {},
        error=error,
    )


def _advice(phase_task: PhaseTask) -> str:
    """Return the task type's advice on what to declare, in a sentence; "" if it has none."""
    task = TASKS.get(phase_task.task.task_type)
    if task is None or task.advice is None:
        return ""
    try:
        return task.advice(read_options(task, phase_task.options_of(phase_task.task))) or ""
    except InvalidOptions:
        return ""


def _show_form(visit: UserVisit, upload: SentUpload, names: TaskNames, error: EvergoldError) -> Response:
    return _page(visit, names, upload.fields, error)


@router.post(PLACE)
@form_again(_show_form)
async def send_gold(upload: UploadHere, names: TaskNamesHere) -> Response:
    sent = UploadRequest(
        upload.request,
        names,
        authenticate=lambda: upload.user,
        extra_fields=frozenset({csrf.FORM_FIELD, DESCRIBE, AHEAD}),
        on_fields=upload.check,
    )
    await receive_gold(sent)
    if upload.fields.get(DESCRIBE):  # sent by the form of a draft's files, without a script
        return RedirectResponse(links.setup(names.competition, "files"), 303)
    return RedirectResponse(links.gold(*names), 303)


@router.post(f"{PLACE}/{{version}}/publish")
@form_again(_page)
def send_publish(
    sender: Annotated[FormSender, Depends(form_guard(PLACE))], names: TaskNamesHere, version: RowId
) -> Response:
    use_version(sender.server, sender.user, names, version)
    return RedirectResponse(links.gold(*names), 303)


@router.post(f"{PLACE}/{{version}}/check")
@form_again(_page)
def send_check(
    sender: Annotated[FormSender, Depends(form_guard(PLACE))], names: TaskNamesHere, version: RowId
) -> Response:
    check_version_again(sender.server, sender.user, names, version)
    return RedirectResponse(links.gold(*names), 303)
