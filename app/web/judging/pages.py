"""The pages of human judgement: the rounds of a competition, and the results of a round, with forms for organisers."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Form, Request, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.db import reading, writing
from app.base.errors import EvergoldError, Forbidden, NotFound
from app.competitions.find import find_competition, organised
from app.judging.annotators import appoint, dismiss, list_assignments
from app.judging.organising import organised_round
from app.judging.results import open_texts, progress_of
from app.judging.rounds import discard_round, find_round, list_rounds, publish_round, withdraw_round
from app.judging.selection import AUTOMATIC_METRICS
from app.judging.summary import summary_of
from app.models import Right, User
from app.people.rights import ANY_RIGHT, check_may_organise, may_organise
from app.web.html.drawings import drawings_of, svg_response
from app.web.html.forms import PageForm, Ticked
from app.web.html.guards import PageUser, form_again, form_guard
from app.web.html.rendering import render
from app.web.html.workspace import Place, TabName, workspace_of
from app.web.http.context import Server, ServerHere
from app.web.http.identity import VisitorHere
from app.web.http.routers import page_router
from app.web.http.viewer import Viewer
from app.web.judging.figures import figures_of

router = page_router()

ROUNDS = "/competitions/{competition}/judging"
ROUND = f"{ROUNDS}/{{round_name}}"
#: The user who sends a form of a round's own page.
RoundSender = Annotated[User, Depends(form_guard(ROUND))]


class PublishForm(PageForm):
    """Publication of a round; unfinished: even if some paraphrases have no marks."""

    unfinished: Ticked = False


class AnnotatorForm(PageForm):
    """An annotator to appoint or, with `leave`, to dismiss."""

    language: str = ""
    username: str = ""
    leave: Ticked = False


@router.get(ROUNDS)
def read_rounds(request: Request, server: ServerHere, user: PageUser, competition: str) -> Response:
    """The rounds of a competition: all for organisers, their own assignments for annotators."""
    with reading(server.engine) as session:
        found = find_competition(session, competition)
        mine = list_assignments(session, user, found)
        organises = may_organise(session, user, found, Right.SUBMISSIONS)
        if not organises and not mine:
            if may_organise(session, user, found, ANY_RIGHT):
                check_may_organise(session, user, found, Right.SUBMISSIONS)
            raise Forbidden("This is for the organisers of the competition, and for its annotators.")
        rounds = list_rounds(session, found) if organises else []
        tab: TabName = "desk" if organises else "overview"
        workspace = workspace_of(session, found, Viewer(user, None), server.clock(), tab)
    places = [
        (phase, phase_task)
        for phase in found.phases
        for phase_task in phase.phase_tasks
        if organises and phase_task.task.task_type in AUTOMATIC_METRICS
    ]
    return render(
        request,
        "judging/rounds.html",
        competition=found,
        workspace=workspace,
        rounds=rounds,
        places=places,
        mine=mine,
        organises=organises,
    )


# ----------------------------------------------------------------------------------------------------------- one round


@router.get(ROUND)
def read_round(
    request: Request, server: ServerHere, visitor: VisitorHere, competition: str, round_name: str
) -> Response:
    return _page(request, server, visitor.user, competition, round_name)


def _page(
    request: Request,
    server: Server,
    user: User | None,
    competition: str,
    round_name: str,
    form: AnnotatorForm | None = None,
    error: EvergoldError | None = None,
) -> Response:
    """Return the page of a round; errors of its forms are shown to its organisers only."""
    with reading(server.engine) as session:
        found = (
            organised(session, user, competition, Right.SUBMISSIONS)
            if error
            else find_competition(session, competition)
        )
        judging = find_round(session, found, round_name)
        summary = summary_of(session, found, judging, user, server.clock())
        organises = may_organise(session, user, found, Right.SUBMISSIONS)
        progress = progress_of(session, judging) if organises else []
        left = open_texts(session, judging) if organises else {}
        tab: TabName = "desk" if organises else "overview"
        place = Place(judging.phase_task.phase, judging.phase_task.task)
        workspace = workspace_of(session, found, Viewer(user, None), server.clock(), tab, place)
    figures = figures_of(found, judging, summary)
    return render(
        request,
        "judging/round.html",
        competition=found,
        workspace=workspace,
        judging=judging,
        summary=summary,
        organises=organises,
        progress=progress,
        left=left,
        drawings=drawings_of(figures, f"{links.judging(competition, round_name)}/figures", ""),
        typed=form,
        error=error,
    )


@router.get(f"{ROUND}/figures/{{name}}.svg")
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


@router.post(f"{ROUND}/publish")
@form_again(_page, EvergoldError)
def send_publish(
    request: Request,
    server: ServerHere,
    user: RoundSender,
    competition: str,
    round_name: str,
    publication: Annotated[PublishForm, Form()],
) -> Response:
    with writing(server.engine) as session:
        found, judging = organised_round(session, user, competition, round_name)
        publish_round(session, found, judging, actor=user, unfinished=publication.unfinished, now=server.clock())
    return RedirectResponse(links.judging(competition, round_name), 303)


@router.post(f"{ROUND}/withdraw")
@form_again(_page, EvergoldError)
def send_withdraw(
    request: Request, server: ServerHere, user: RoundSender, competition: str, round_name: str
) -> Response:
    with writing(server.engine) as session:
        found, judging = organised_round(session, user, competition, round_name)
        withdraw_round(session, found, judging, actor=user, now=server.clock())
    return RedirectResponse(links.judging(competition, round_name), 303)


@router.post(f"{ROUND}/discard")
@form_again(_page, EvergoldError)
def send_discard(
    request: Request, server: ServerHere, user: RoundSender, competition: str, round_name: str
) -> Response:
    with writing(server.engine) as session:
        found, judging = organised_round(session, user, competition, round_name)
        discard_round(session, found, judging, actor=user, now=server.clock())
    return RedirectResponse(links.judging(competition), 303)


@router.post(f"{ROUND}/annotators")
@form_again(_page, EvergoldError)
def send_annotator(
    request: Request,
    server: ServerHere,
    user: RoundSender,
    competition: str,
    round_name: str,
    form: Annotated[AnnotatorForm, Form()],
) -> Response:
    """Appoint somebody, or (with `leave`) let them go."""
    change = dismiss if form.leave else appoint
    with writing(server.engine) as session:
        found, judging = organised_round(session, user, competition, round_name)
        change(
            session,
            found,
            judging,
            language=form.language,
            username=form.username,
            actor=user,
            now=server.clock(),
        )
    return RedirectResponse(links.judging(competition, round_name), 303)
