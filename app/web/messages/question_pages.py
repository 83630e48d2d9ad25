"""The page of questions to the organisers: all read what is public, whoever is logged in asks, organisers answer."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.db import reading, writing
from app.base.errors import EvergoldError, Forbidden, NotFound
from app.competitions.find import find_competition
from app.messages.questions import (
    ANSWER_CHARACTERS,
    QUESTION_CHARACTERS,
    QuestionForm,
    answer,
    questions_for,
    set_closed,
)
from app.models.messages import TITLE_CHARACTERS
from app.people.roles import may_organise
from app.web.html.guards import to_login
from app.web.html.rendering import check_form, render
from app.web.http.context import Server, ServerHere
from app.web.http.identity import VisitorHere
from app.web.http.schemas import RowId
from app.web.http.viewer import Viewer, ViewerHere
from app.web.messages.question_schemas import question_out
from app.web.messages.questions import ask_question, organised
from app.web.people.login import with_headers

router = APIRouter()

FormText = Annotated[str, Form()]
PLACE = "/competitions/{competition}/questions"
LIMITS = {"title": TITLE_CHARACTERS, "question": QUESTION_CHARACTERS, "answer": ANSWER_CHARACTERS}


@dataclass(frozen=True, slots=True)
class Typed:
    """What was typed into the form that was sent: that of a question, or that of an answer."""

    title: str = ""
    text: str = ""
    shows_name: bool = False
    answer: str = ""
    is_public: bool = False


@router.get(PLACE)
def read_questions(request: Request, server: ServerHere, viewer: ViewerHere, competition: str) -> Response:
    return _page(request, server, viewer, competition, Typed())


@router.post(PLACE)
def send_question(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    competition: str,
    title: FormText = "",
    text: FormText = "",
    shows_name: FormText = "",
    key: FormText = "",
    csrf_token: FormText = "",
) -> Response:
    if visitor.user is None or visitor.login is None:
        return to_login(request)
    check_form(request, csrf_token)
    typed = Typed(title, text, bool(shows_name))
    try:
        form = QuestionForm(title, text, typed.shows_name)
        question_id = ask_question(request, server, visitor.user, competition, form, key)
    except (NotFound, Forbidden):
        raise
    except EvergoldError as error:
        viewer = Viewer(visitor.user, None)
        page = _page(request, server, viewer, competition, typed, error=error, key=key)
        return with_headers(page, error, server)
    return RedirectResponse(f"{links.questions(competition)}#question-{question_id}", 303)


@router.post(f"{PLACE}/{{question_id}}/answer")
def send_answer(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    competition: str,
    question_id: RowId,
    text: Annotated[str, Form(alias="answer")] = "",
    is_public: FormText = "",
    csrf_token: FormText = "",
) -> Response:
    user = visitor.user
    if user is None or visitor.login is None:
        return to_login(request)
    check_form(request, csrf_token)
    try:
        with writing(server.engine) as session:
            found = organised(session, competition, user)
            answer(
                session,
                found,
                question_id,
                text,
                is_public=bool(is_public),
                organiser=user,
                settings=server.settings,
                now=server.clock(),
            )
    except (NotFound, Forbidden):
        raise
    except EvergoldError as error:
        typed = Typed(answer=text, is_public=bool(is_public))
        return _page(request, server, Viewer(user, None), competition, typed, error=error, wrong_at=question_id)
    return RedirectResponse(f"{links.questions(competition)}#question-{question_id}", 303)


@router.post(f"{PLACE}/{{question_id}}/close")
def send_close(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    competition: str,
    question_id: RowId,
    csrf_token: FormText = "",
) -> Response:
    return _set_closed(request, server, visitor, competition, question_id, csrf_token, True)


@router.post(f"{PLACE}/{{question_id}}/reopen")
def send_reopen(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    competition: str,
    question_id: RowId,
    csrf_token: FormText = "",
) -> Response:
    return _set_closed(request, server, visitor, competition, question_id, csrf_token, False)


def _set_closed(
    request: Request,
    server: Server,
    visitor: VisitorHere,
    competition: str,
    question_id: int,
    csrf_token: str,
    is_closed: bool,
) -> Response:
    if visitor.user is None or visitor.login is None:
        return to_login(request)
    check_form(request, csrf_token)
    with writing(server.engine) as session:
        found = organised(session, competition, visitor.user)
        set_closed(session, found, question_id, is_closed, organiser=visitor.user, now=server.clock())
    return RedirectResponse(f"{links.questions(competition)}#question-{question_id}", 303)


def _page(
    request: Request,
    server: Server,
    viewer: Viewer,
    name: str,
    typed: Typed,
    *,
    error: EvergoldError | None = None,
    wrong_at: int | None = None,
    key: str = "",
) -> Response:
    """wrong_at: the question whose answer has the error; None: it is in the question that somebody asks."""
    with reading(server.engine) as session:
        competition = find_competition(session, name)
        sees_all = viewer.seen_as is None and may_organise(session, viewer.user, competition)
        listed = questions_for(session, competition, viewer.user, sees_all=sees_all)
        shown = [question_out(competition.name, one, viewer.user, sees_all=sees_all) for one in listed]
    return render(
        request,
        "messages/questions.html",
        error.status if error else 200,
        competition=competition,
        questions=shown,
        organises=sees_all,
        typed=typed,
        error=error,
        wrong_at=wrong_at,
        key=key or secrets.token_urlsafe(16),
        limits=LIMITS,
    )
