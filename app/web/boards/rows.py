"""The API of row marks: unranked with a footnote, disqualified with a reason, hidden."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Response

from app.base.db import writing
from app.boards.marks import clear_mark, list_marks, mark_row
from app.boards.views import RowMarkOut, RowMarksOut
from app.competitions.find import organised_task
from app.models import Right
from app.web.boards.schemas import RowMarkIn
from app.web.http.context import ServerHere
from app.web.http.errors import error_responses
from app.web.http.identity import ApiOrganiser
from app.web.http.paths import TaskNamesHere
from app.web.http.routers import api_router
from app.web.http.schemas import RowId
from app.web.http.visit import ApiOrganiserVisit

router = api_router("organising")

PLACE = "/competitions/{competition}/phases/{phase}/tasks/{task}/rows"


@router.get(
    PLACE,
    operation_id="list_row_marks",
    summary="Marked rows, for organisers",
    description="Teams and submissions that are unranked, disqualified or hidden on the boards of a task in a phase.",
    responses=error_responses(401, 403, 404),
)
def read_row_marks(visit: ApiOrganiserVisit, names: TaskNamesHere) -> RowMarksOut:
    phase_task = organised_task(visit.session, visit.user, *names, Right.SUBMISSIONS)
    return RowMarksOut(rows=list_marks(visit.session, phase_task))


@router.put(
    PLACE,
    operation_id="mark_row",
    summary="Mark a row as unranked, disqualified or hidden, for organisers",
    description=(
        "Marks a team, or one submission; the entry rule then chooses among the team's other submissions. This "
        "replaces an earlier mark. Official boards that are already frozen do not change."
    ),
    responses=error_responses(401, 403, 404, 422),
)
def put_row_mark(
    server: ServerHere,
    user: ApiOrganiser,
    names: TaskNamesHere,
    mark: RowMarkIn,
) -> RowMarkOut:
    with writing(server.engine) as session:
        phase_task = organised_task(session, user, *names, Right.SUBMISSIONS)
        return mark_row(
            server.act(session, user),
            phase_task,
            team=mark.team,
            submission_id=mark.submission,
            status=mark.status,
            note=mark.note,
        )


@router.delete(
    f"{PLACE}/{{mark_id}}",
    operation_id="clear_row",
    summary="Clear the mark of a row, for organisers",
    status_code=204,
    responses=error_responses(401, 403, 404, 422),
)
def delete_row_mark(
    server: ServerHere,
    user: ApiOrganiser,
    names: TaskNamesHere,
    mark_id: Annotated[RowId, Path(examples=[3])],
) -> Response:
    with writing(server.engine) as session:
        phase_task = organised_task(session, user, *names, Right.SUBMISSIONS)
        clear_mark(server.act(session, user), phase_task, mark_id)
    return Response(status_code=204)
