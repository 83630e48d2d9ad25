"""The API of competitions: their phases, tasks, boards, dates, downloads and starter kits."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any

from fastapi import Query, Response

from app.base.errors import NotFound
from app.competitions import limits
from app.competitions.filters import CompetitionFilter
from app.competitions.find import boards_of, find_competition, find_phase_task, listed_competitions
from app.competitions.starter_kits import items_of_starter_kit
from app.competitions.views import CompetitionList, CompetitionOut, PhaseOut, describe_competition, describe_phase
from app.competitions.visibility import view_of
from app.submissions.downloads import file_access, file_viewer
from app.submissions.views import PhaseTaskOut, describe_phase_task
from app.teams.find import find_team
from app.web.http.caching import is_known, not_modified
from app.web.http.context import public_address
from app.web.http.errors import error_responses
from app.web.http.paths import CompetitionName, PhaseName, TaskName
from app.web.http.routers import api_router
from app.web.http.visit import PlainApiVisit, PublicVisit
from evergold.baselines.starter_kit import FOLDER, StarterTask, starter_kit

router = api_router("competitions")
_ZIP: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "A zip of `README.md`, `starter.py` and `starter.ipynb`.",
        "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
    },
    304: {"description": "Not changed (If-None-Match)."},
}


@router.get(
    "/competitions/{competition}/phases/{phase}/tasks/{task}/starter-kit.zip",
    operation_id="download_starter_kit",
    summary="Starter kit: a script and a notebook",
    description=(
        "Both load the blind file, call `predict` for each item, write and validate the predictions and, with an "
        "option, submit them. 404 if the task has no blind file or its type no baseline."
    ),
    response_class=Response,
    responses=_ZIP | error_responses(401, 404),
)
def download_starter_kit(
    visit: PlainApiVisit,
    competition: CompetitionName,
    phase: PhaseName,
    task: TaskName,
) -> Response:
    phase_task = find_phase_task(visit.session, competition, phase, task)
    items = items_of_starter_kit(phase_task, phase_task.task)
    if items is None:
        raise NotFound(f"Task '{task}' has no starter kit in phase '{phase}'.")
    content = starter_kit(
        StarterTask(
            server=public_address(visit.request, visit.server, ""),
            competition=competition,
            phase=phase,
            task=task,
            title=phase_task.task.title,
            task_type=phase_task.task.task_type,
            options=phase_task.options_of(phase_task.task),
            items=items,
        )
    )
    headers = {"ETag": f'"{hashlib.sha256(content).hexdigest()}"', "Cache-Control": "public, no-cache"}
    if is_known(visit.request, headers["ETag"]):
        return not_modified(headers)
    headers["Content-Disposition"] = f'attachment; filename="{FOLDER}.zip"'
    return Response(content, headers=headers, media_type="application/zip")


@router.get(
    "/competitions",
    operation_id="list_competitions",
    summary="All competitions, or those with a task type, in a language, or open now",
    responses=error_responses(422),
)
def read_competitions(
    visit: PublicVisit,
    task_type: Annotated[str, Query(max_length=100, description="name of a task type, see `evergold tasks`")] = "",
    language: Annotated[
        str, Query(max_length=20, description="language code such as `pt`, of a task of that type")
    ] = "",
    is_open: Annotated[bool, Query(alias="open", description="only competitions that accept submissions now")] = False,
) -> CompetitionList:
    now = visit.now
    wanted = CompetitionFilter(task_type, language, is_open)
    found = [one for one in listed_competitions(visit.session) if wanted.matches(one, now)]
    return CompetitionList(competitions=[describe_competition(one, visit.server.settings, now) for one in found])


@router.get(
    "/competitions/{competition}",
    operation_id="get_competition",
    summary="A competition with its phases, tasks and boards",
    responses=error_responses(404),
)
def read_competition(visit: PublicVisit, competition: CompetitionName) -> CompetitionOut:
    found = find_competition(visit.session, competition)
    return describe_competition(found, visit.server.settings, visit.now)


@router.get(
    "/competitions/{competition}/phases/{phase}",
    operation_id="get_phase",
    summary="A phase: its dates, limits, tasks and boards",
    responses=error_responses(404),
)
def read_phase(visit: PublicVisit, competition: CompetitionName, phase: PhaseName) -> PhaseOut:
    found = find_competition(visit.session, competition)
    for one in found.phases:
        if one.name == phase:
            return describe_phase(found, one, visit.server.settings, visit.now)
    names = ", ".join(f"'{one.name}'" for one in found.phases)
    raise NotFound(f"Competition '{competition}' has no phase '{phase}'; it has {names}.")


@router.get(
    "/competitions/{competition}/phases/{phase}/tasks/{task}",
    operation_id="get_task",
    summary="A task of a phase: limits, downloads, your quota",
    responses=error_responses(401, 404),
)
def read_task(visit: PlainApiVisit, competition: CompetitionName, phase: PhaseName, task: TaskName) -> PhaseTaskOut:
    session, now = visit.session, visit.now
    phase_task = find_phase_task(session, competition, phase, task)
    found = find_competition(session, competition)
    asked_in = next(one for one in found.phases if one.id == phase_task.phase_id)
    boards = [board for board in boards_of(found, asked_in) if board.task_id == phase_task.task_id]
    used = None
    if visit.viewer.user is not None:
        team = find_team(session, visit.viewer.user, found.id)
        used = limits.quota(session, team, phase_task, now, user=visit.viewer.user)
    view = view_of(session, phase_task, visit.viewer)
    files = file_access(found, asked_in, phase_task, file_viewer(session, found, visit.viewer.user), now)
    return describe_phase_task(phase_task, boards, visit.server.settings, used, view, files, now)
