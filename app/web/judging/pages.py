"""The pages of human judgement: the rounds of a competition, and what a round comes to, with its organisers' forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy.orm import Session

from app.base import links
from app.base.db import reading
from app.base.errors import EvergoldError, Forbidden, NotFound
from app.competitions.find import find_competition
from app.judging.annotators import appoint, dismiss, list_assignments
from app.judging.results import open_texts, progress_of
from app.judging.rounds import discard_round, find_round, list_rounds, publish_round, withdraw_round
from app.judging.selection import AUTOMATIC_METRICS
from app.judging.summary import summary_of
from app.models import Competition, JudgingRound, User
from app.people.roles import check_may_organise, may_organise
from app.web.html.drawings import drawings_of, svg_response
from app.web.html.guards import to_login
from app.web.html.rendering import check_form, render
from app.web.http.context import Server, ServerHere
from app.web.http.identity import Visitor, VisitorHere
from app.web.judging import use_cases as judging_work
from app.web.judging.figures import figures_of

router = APIRouter()

FormText = Annotated[str, Form()]
ROUNDS = "/competitions/{competition}/judging"


@router.get(ROUNDS)
def read_rounds(request: Request, server: ServerHere, visitor: VisitorHere, competition: str) -> Response:
    """The rounds of a competition: for organisers all, for annotators what they are asked to judge."""
    if visitor.user is None:
        return to_login(request)
    with reading(server.engine) as session:
        found = find_competition(session, competition)
        mine = list_assignments(session, visitor.user, found)
        organises = may_organise(session, visitor.user, found)
        if not organises and not mine:
            raise Forbidden("This is for the organisers of the competition, and for those whom they asked to judge.")
        rounds = list_rounds(session, found) if organises else []
    places = [
        (phase, phase_task)
        for phase in found.phases
        for phase_task in phase.phase_tasks
        if organises and phase_task.task.task_type in AUTOMATIC_METRICS
    ]
    return render(
        request, "judging/rounds.html", competition=found, rounds=rounds, places=places, mine=mine, organises=organises
    )


# ----------------------------------------------------------------------------------------------------------- one round


@router.get(f"{ROUNDS}/{{round_name}}")
def read_round(
    request: Request, server: ServerHere, visitor: VisitorHere, competition: str, round_name: str
) -> Response:
    return _round_page(request, server, visitor.user, competition, round_name)


@router.get(f"{ROUNDS}/{{round_name}}/figures/{{name}}.svg")
def read_figure(server: ServerHere, visitor: VisitorHere, competition: str, round_name: str, name: str) -> Response:
    """The scatter of one language, or of their mean, as a file."""
    with reading(server.engine) as session:
        found = find_competition(session, competition)
        judging = find_round(session, found, round_name)
        summary = summary_of(session, found, judging, visitor.user, server.clock())
    figures = figures_of(found, judging, summary)
    if not figures:
        raise NotFound("There is no such figure here.")
    return svg_response(figures, name, f"{competition}-{round_name}")


@router.post(f"{ROUNDS}/{{round_name}}/publish")
def send_publish(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    competition: str,
    round_name: str,
    unfinished: FormText = "",
    csrf_token: FormText = "",
) -> Response:
    deed: dict[str, Any] = {"unfinished": bool(unfinished), "now": server.clock()}
    return _change(request, server, visitor, competition, round_name, csrf_token, publish_round, deed)


@router.post(f"{ROUNDS}/{{round_name}}/withdraw")
def send_withdraw(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    competition: str,
    round_name: str,
    csrf_token: FormText = "",
) -> Response:
    return _change(
        request, server, visitor, competition, round_name, csrf_token, withdraw_round, {"now": server.clock()}
    )


@router.post(f"{ROUNDS}/{{round_name}}/discard")
def send_discard(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    competition: str,
    round_name: str,
    csrf_token: FormText = "",
) -> Response:
    return _change(
        request,
        server,
        visitor,
        competition,
        round_name,
        csrf_token,
        discard_round,
        {"now": server.clock()},
        links.judging(competition),
    )


@router.post(f"{ROUNDS}/{{round_name}}/annotators")
def send_annotator(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    competition: str,
    round_name: str,
    language: FormText = "",
    username: FormText = "",
    leave: FormText = "",
    csrf_token: FormText = "",
) -> Response:
    """Appoint somebody, or (with `leave`) let them go."""
    deed: dict[str, Any] = {"language": language, "username": username, "now": server.clock()}
    change = dismiss if leave else appoint
    return _change(request, server, visitor, competition, round_name, csrf_token, change, deed)


def _change(
    request: Request,
    server: Server,
    visitor: Visitor,
    competition: str,
    round_name: str,
    csrf_token: str,
    deed: Callable[..., object],
    arguments: Mapping[str, Any],
    then: str = "",
) -> Response:
    """Do it and show the round again, or why it was not done."""
    if visitor.user is None or visitor.login is None:
        return to_login(request)
    check_form(request, csrf_token)

    def do(session: Session, found: Competition, judging: JudgingRound) -> None:
        deed(session, found, judging, actor=visitor.user, **arguments)

    try:
        judging_work.change(server, visitor.user, competition, round_name, do)
    except EvergoldError as error:
        with reading(server.engine) as session:
            check_may_organise(session, visitor.user, find_competition(session, competition))
        typed = {name: str(value) for name, value in arguments.items() if name in ("language", "username")}
        return _round_page(request, server, visitor.user, competition, round_name, typed, error)
    return RedirectResponse(then or links.judging(competition, round_name), 303)


def _round_page(
    request: Request,
    server: Server,
    user: User | None,
    competition: str,
    round_name: str,
    typed: Mapping[str, str] | None = None,
    error: EvergoldError | None = None,
) -> Response:
    with reading(server.engine) as session:
        found = find_competition(session, competition)
        judging = find_round(session, found, round_name)
        summary = summary_of(session, found, judging, user, server.clock())
        organises = may_organise(session, user, found)
        progress = progress_of(session, judging) if organises else []
        left = open_texts(session, judging) if organises else {}
    figures = figures_of(found, judging, summary)
    return render(
        request,
        "judging/round.html",
        error.status if error else 200,
        competition=found,
        judging=judging,
        summary=summary,
        organises=organises,
        progress=progress,
        left=left,
        drawings=drawings_of(figures, f"{links.judging(competition, round_name)}/figures", ""),
        typed=typed or {},
        error=error,
    )
