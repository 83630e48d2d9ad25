"""The API of a task's results: every phase and board side by side, as JSON and CSV, with 304 if unchanged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import Request, Response

from app.base.db import reading
from app.boards.side_by_side import Results, build_results, find_task, results_version
from app.competitions.find import find_competition
from app.models import Competition, CompetitionTask
from app.web.boards.api import cache_control, viewer_tag
from app.web.boards.results_schemas import ResultsOut, results_csv, results_out
from app.web.http.caching import is_known, not_modified, strong_etag
from app.web.http.context import Server, ServerHere
from app.web.http.errors import error_responses
from app.web.http.paths import CompetitionName, TaskName
from app.web.http.routers import api_router
from app.web.http.viewer import ApiViewer, Viewer

router = api_router("boards")

_VARY = "Accept-Encoding, Authorization, Cookie"
_CSV: dict[str, Any] = {
    "schema": {"type": "string"},
    "example": "team,kind,source,practice/zero-shot,evaluation/zero-shot\r\nAda Lovelace,team,,0.75,0.7037\r\n",
}
_NOT_MODIFIED: dict[int | str, dict[str, Any]] = {304: {"description": "You have it already (If-None-Match)."}}

Written = Callable[[Competition, CompetitionTask, Results], Response]


@router.get(
    "/competitions/{competition}/tasks/{task}/results.csv",
    operation_id="get_results_csv",
    summary="A task's results side by side, as CSV",
    description="All digits that the phases show; no value is an empty field. Text that a spreadsheet would take for a "
    "formula begins with an apostrophe.",
    response_class=Response,
    responses={200: {"description": "The results.", "content": {"text/csv": _CSV}}}
    | _NOT_MODIFIED
    | error_responses(401, 404, 422),
)
def read_results_csv(
    request: Request, server: ServerHere, viewer: ApiViewer, competition: CompetitionName, task: TaskName
) -> Response:
    return _answer(request, server, viewer, (competition, task), _csv)


@router.get(
    "/competitions/{competition}/tasks/{task}/results",
    operation_id="get_results",
    summary="A task's results side by side: all phases, all boards",
    description="A column for each phase and board of the task, a row for each team, baseline and published system; a "
    "cell has the ranking score of the team's row on that board. Send the `ETag` back in `If-None-Match`: the answer "
    "is 304 as long as nothing changed.",
    response_model=ResultsOut,
    responses=_NOT_MODIFIED | error_responses(401, 404, 422),
)
def read_results(
    request: Request, server: ServerHere, viewer: ApiViewer, competition: CompetitionName, task: TaskName
) -> Response:
    return _answer(request, server, viewer, (competition, task), _json)


def _answer(request: Request, server: Server, viewer: Viewer, place: tuple[str, str], written: Written) -> Response:
    now = server.clock()
    with reading(server.engine) as session:
        competition = find_competition(session, place[0])
        task = find_task(competition, place[1])
        version = results_version(session, competition, task, viewer.user, now, seen_as=viewer.seen_as)
        etag = strong_etag(request, version, viewer_tag(session, competition, viewer), request.url.path)
        headers = {"ETag": etag, "Cache-Control": cache_control(viewer.user), "Vary": _VARY}
        if is_known(request, etag):
            return not_modified(headers)
        results = build_results(session, competition, task, viewer.user, now, seen_as=viewer.seen_as)
    response = written(competition, task, results)
    response.headers.update(headers)
    return response


def _json(competition: Competition, task: CompetitionTask, results: Results) -> Response:
    return Response(results_out(competition, task, results).model_dump_json(), media_type="application/json")


def _csv(competition: Competition, task: CompetitionTask, results: Results) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{competition.name}-{task.name}.csv"'}
    return Response(results_csv(results), media_type="text/csv", headers=headers)
