"""The starter kit of a task: a script and a notebook that contain its address."""

from __future__ import annotations

import hashlib
from typing import Any

from fastapi import Request, Response

from app.base.db import reading
from app.base.errors import NotFound
from app.competitions.find import find_phase_task
from app.competitions.starter_kits import items_of_starter_kit
from app.web.http.caching import is_known, not_modified
from app.web.http.context import ServerHere, public_address
from app.web.http.errors import error_responses
from app.web.http.identity import ApiVisitor
from app.web.http.paths import CompetitionName, PhaseName, TaskName
from app.web.http.routers import api_router
from evergold.baselines.starter_kit import FOLDER, StarterTask, starter_kit

router = api_router("competitions")
_ZIP: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "A zip of `starter.py` and `starter.ipynb`.",
        "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
    },
    304: {"description": "You have it already (If-None-Match)."},
}


@router.get(
    "/competitions/{competition}/phases/{phase}/tasks/{task}/starter-kit.zip",
    operation_id="download_starter_kit",
    summary="A script and a notebook to begin with",
    description="Both load the blind file, write a baseline's predictions, validate and, with an option, submit "
    "them. 404 where the task has no blind file, or its type no baseline.",
    response_class=Response,
    responses=_ZIP | error_responses(401, 404),
)
def download_starter_kit(
    request: Request,
    server: ServerHere,
    visitor: ApiVisitor,
    competition: CompetitionName,
    phase: PhaseName,
    task: TaskName,
) -> Response:
    with reading(server.engine) as session:
        phase_task = find_phase_task(session, competition, phase, task)
        items = items_of_starter_kit(phase_task, phase_task.task)
        if items is None:
            raise NotFound(f"Task '{task}' has no starter kit in phase '{phase}'.")
        content = starter_kit(
            StarterTask(
                server=public_address(request, server, ""),
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
    if is_known(request, headers["ETag"]):
        return not_modified(headers)
    headers["Content-Disposition"] = f'attachment; filename="{FOLDER}.zip"'
    return Response(content, headers=headers, media_type="application/zip")
