"""The pages of rescoring sets, for organisers: all of them, and the form that starts one; one, and who would move."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.db import reading
from app.base.errors import EvergoldError, Forbidden, InvalidForm, NotFound
from app.competitions.find import boards_of
from app.models import RescoringState
from app.rescoring.difference import difference_of
from app.rescoring.sets import NOTE_CHARACTERS, find_rescoring, list_rescorings
from app.web.html.guards import to_login
from app.web.html.rendering import check_form, render
from app.web.http.context import Server, ServerHere
from app.web.http.identity import Visitor, VisitorHere
from app.web.http.organised import organised
from app.web.http.schemas import RowId
from app.web.rescoring.api import drop, publish, start
from app.web.rescoring.schemas import NewRescoring

router = APIRouter()

FormText = Annotated[str, Form()]
PLACE = "/competitions/{competition}/rescoring"


@router.get(PLACE)
def read_rescorings(request: Request, server: ServerHere, visitor: VisitorHere, competition: str) -> Response:
    if visitor.user is None:
        return to_login(request)
    return _list_page(request, server, visitor, competition, {})


@router.post(PLACE)
def send_rescoring(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    competition: str,
    tasks: Annotated[list[str] | None, Form()] = None,
    note: FormText = "",
    gold_version: FormText = "",
    with_rejected: FormText = "",
    csrf_token: FormText = "",
) -> Response:
    if visitor.user is None or visitor.login is None:
        return to_login(request)
    check_form(request, csrf_token)
    typed = {"tasks": tasks or [], "note": note, "gold_version": gold_version, "with_rejected": with_rejected}
    try:
        number = start(server, visitor.user, competition, _wanted(typed))
    except (NotFound, Forbidden):
        raise
    except EvergoldError as error:
        return _list_page(request, server, visitor, competition, typed, error)
    return RedirectResponse(links.rescoring(competition, number), 303)


@router.get(f"{PLACE}/{{rescoring}}")
def read_rescoring(
    request: Request, server: ServerHere, visitor: VisitorHere, competition: str, rescoring: RowId
) -> Response:
    if visitor.user is None:
        return to_login(request)
    return _page(request, server, visitor, competition, rescoring)


@router.post(f"{PLACE}/{{rescoring}}/publish")
def send_publish(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    competition: str,
    rescoring: RowId,
    tell_teams: FormText = "",
    csrf_token: FormText = "",
) -> Response:
    if visitor.user is None or visitor.login is None:
        return to_login(request)
    check_form(request, csrf_token)
    try:
        publish(server, visitor.user, competition, rescoring, tell_teams=bool(tell_teams))
    except (NotFound, Forbidden):
        raise
    except EvergoldError as error:
        return _page(request, server, visitor, competition, rescoring, error)
    return RedirectResponse(links.rescoring(competition, rescoring), 303)


@router.post(f"{PLACE}/{{rescoring}}/drop")
def send_drop(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    competition: str,
    rescoring: RowId,
    csrf_token: FormText = "",
) -> Response:
    if visitor.user is None or visitor.login is None:
        return to_login(request)
    check_form(request, csrf_token)
    try:
        drop(server, visitor.user, competition, rescoring)
    except (NotFound, Forbidden):
        raise
    except EvergoldError as error:
        return _page(request, server, visitor, competition, rescoring, error)
    return RedirectResponse(links.rescoring(competition, rescoring), 303)


def _wanted(typed: Mapping[str, Any]) -> NewRescoring:
    """What a form says; a version that is no number is told with everything else that is wrong."""
    said = typed["gold_version"].strip()
    version = int(said) if said.isascii() and said.isdecimal() and len(said) < 10 else None
    if said and not version:
        raise InvalidForm("Please correct what is marked.", fields={"gold_version": f"'{said[:40]}' is no version."})
    return NewRescoring(
        tasks=typed["tasks"], note=typed["note"], gold_version=version, with_rejected=bool(typed["with_rejected"])
    )


def _list_page(
    request: Request,
    server: Server,
    visitor: Visitor,
    competition: str,
    typed: Mapping[str, Any],
    error: EvergoldError | None = None,
) -> Response:
    with reading(server.engine) as session:
        found = organised(session, visitor.user, competition)
        sets = list_rescorings(session, found)
    tasks = [(phase, one.task) for phase in found.phases for one in phase.phase_tasks]
    response = render(
        request,
        "rescoring/list.html",
        error.status if error else 200,
        competition=found,
        sets=sets,
        tasks=tasks,
        note_characters=NOTE_CHARACTERS,
        typed=typed,
        error=error,
    )
    response.headers["Cache-Control"] = "no-store"
    return response


def _page(
    request: Request,
    server: Server,
    visitor: Visitor,
    competition: str,
    number: int,
    error: EvergoldError | None = None,
) -> Response:
    with reading(server.engine) as session:
        found = organised(session, visitor.user, competition)
        rescoring = find_rescoring(session, found, number)
        is_dropped = rescoring.state == RescoringState.DROPPED
        difference = None if is_dropped else difference_of(session, rescoring)
    response = render(
        request,
        "rescoring/page.html",
        error.status if error else 200,
        competition=found,
        rescoring=rescoring,
        is_open=rescoring.state == RescoringState.OPEN,
        difference=difference,
        shown={(phase.name, board.name) for phase in found.phases for board in boards_of(found, phase)},
        error=error,
    )
    response.headers["Cache-Control"] = "no-store"
    return response
