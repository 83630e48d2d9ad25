"""The page on which organisers say that a row is unranked, disqualified or hidden, and take it back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.db import reading, writing
from app.base.errors import InvalidForm
from app.boards.marks import NOTE_CHARACTERS, clear_mark, entrants, list_marks, mark_row
from app.competitions.find import boards_of, find_competition
from app.models import RowStatus
from app.web.boards.rows import organised
from app.web.html.guards import to_login
from app.web.html.rendering import check_form, render
from app.web.http.context import Server, ServerHere
from app.web.http.identity import Visitor, VisitorHere
from app.web.http.schemas import RowId

router = APIRouter()

FormText = Annotated[str, Form()]
PLACE = "/competitions/{competition}/phases/{phase}/tasks/{task}/rows"
Place = tuple[str, str, str]


@router.get(PLACE)
def read_rows(
    request: Request, server: ServerHere, visitor: VisitorHere, competition: str, phase: str, task: str
) -> Response:
    if visitor.user is None:
        return to_login(request)
    return _page(request, server, visitor, (competition, phase, task), {})


@router.post(PLACE)
def send_mark(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    competition: str,
    phase: str,
    task: str,
    team: FormText = "",
    submission: FormText = "",
    status: FormText = "",
    note: FormText = "",
    csrf_token: FormText = "",
) -> Response:
    place = competition, phase, task
    if visitor.user is None:
        return RedirectResponse(f"/login?next={links.rows(*place)}", 303)
    check_form(request, csrf_token)
    typed = {"team": team, "submission": submission, "status": status, "note": note}
    try:
        with writing(server.engine) as session:
            phase_task = organised(session, visitor.user, place)
            chosen, submission_id = _read(status, submission.strip())
            mark_row(
                session,
                phase_task,
                team=team,
                submission_id=submission_id,
                status=chosen,
                note=note,
                actor=visitor.user,
                now=server.clock(),
            )
    except InvalidForm as error:
        return _page(request, server, visitor, place, typed, error)
    return RedirectResponse(links.rows(*place), 303)


@router.post(f"{PLACE}/{{mark_id}}/clear")
def send_clear(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    competition: str,
    phase: str,
    task: str,
    mark_id: RowId,
    csrf_token: FormText = "",
) -> Response:
    place = competition, phase, task
    if visitor.user is None:
        return RedirectResponse(f"/login?next={links.rows(*place)}", 303)
    check_form(request, csrf_token)
    with writing(server.engine) as session:
        phase_task = organised(session, visitor.user, place)
        clear_mark(session, phase_task, mark_id, actor=visitor.user, now=server.clock())
    return RedirectResponse(links.rows(*place), 303)


def _read(status: str, submission: str) -> tuple[RowStatus, UUID | None]:
    """What was chosen and typed; raises InvalidForm."""
    wrong = {}
    if status not in tuple(RowStatus):
        wrong["status"] = "Choose one."
    try:
        submission_id = UUID(submission) if submission else None
    except ValueError:
        wrong["submission"] = "This is no submission's id."
    if wrong:
        raise InvalidForm("Please correct what is marked.", fields=wrong)
    return RowStatus(status), submission_id


def _page(
    request: Request,
    server: Server,
    visitor: Visitor,
    place: Place,
    typed: Mapping[str, str],
    error: InvalidForm | None = None,
) -> Response:
    with reading(server.engine) as session:
        phase_task = organised(session, visitor.user, place)
        marks = list_marks(session, phase_task)
        teams = entrants(session, phase_task)
        competition = find_competition(session, place[0])
    phase = next(one for one in competition.phases if one.id == phase_task.phase_id)
    boards = [board for board in boards_of(competition, phase) if board.task_id == phase_task.task_id]
    return render(
        request,
        "boards/rows.html",
        error.status if error else 200,
        competition=competition,
        phase=phase,
        task=phase_task.task,
        place=place,
        boards=boards,
        marks=marks,
        teams=teams,
        typed=typed,
        error=error,
        note_characters=NOTE_CHARACTERS,
    )
