"""The page of questions: public ones are readable by everybody, logged-in users ask, organisers answer."""

from __future__ import annotations

import secrets
from typing import Annotated

from fastapi import Depends, Form, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import Field

from app.base import links
from app.base.db import reading, writing
from app.base.errors import EvergoldError
from app.base.text import many_lines
from app.competitions.find import find_competition, organised
from app.messages.questions import (
    ANSWER_CHARACTERS,
    QUESTION_CHARACTERS,
    QuestionForm,
    answer,
    ask,
    questions_for,
    set_closed,
)
from app.models import Right, User
from app.models.messages import TITLE_CHARACTERS
from app.people.rights import may_organise
from app.texts.html import text_fault
from app.web.html.forms import PageForm, Ticked
from app.web.html.guards import SentForm, form_again, form_guard
from app.web.html.rendering import render
from app.web.html.workspace import workspace_of
from app.web.http.context import Server, ServerHere
from app.web.http.rate_limits import limit_of_questions
from app.web.http.routers import page_router
from app.web.http.schemas import RowId
from app.web.http.viewer import Viewer, ViewerHere
from app.web.messages.question_schemas import question_out

router = page_router()

PLACE = "/competitions/{competition}/questions"
LIMITS = {"title": TITLE_CHARACTERS, "question": QUESTION_CHARACTERS, "answer": ANSWER_CHARACTERS}
#: The user who sends a form next to a question.
Organiser = Annotated[User, Depends(form_guard(PLACE))]


class AskForm(PageForm):
    """A question. key: unique per form, so that a double click submits once."""

    title: str = ""
    text: str = ""
    shows_name: Ticked = False
    key: str = ""


class AnswerForm(PageForm):
    """An answer."""

    text: str = Field("", alias="answer")
    is_public: Ticked = False


@router.get(PLACE)
def read_questions(request: Request, server: ServerHere, viewer: ViewerHere, competition: str) -> Response:
    return _page(request, server, viewer, competition)


def _page(
    request: Request,
    server: Server,
    viewer: Viewer,
    competition: str,
    asked: AskForm | None = None,
    answered: AnswerForm | None = None,
    wrong_at: int | None = None,
    error: EvergoldError | None = None,
) -> Response:
    """Return the page; wrong_at: the question whose answer has the error; None: the error is in a new question."""
    now = server.clock()
    with reading(server.engine) as session:
        found = find_competition(session, competition)
        workspace = workspace_of(session, found, viewer, now, "questions")
        sees_all = viewer.seen_as is None and may_organise(session, viewer.user, found, Right.MESSAGES)
        listed = questions_for(session, found, viewer.user, sees_all=sees_all)
        shown = [question_out(found.name, one, viewer.user, sees_all=sees_all) for one in listed]
    return render(
        request,
        "messages/questions.html",
        competition=found,
        workspace=workspace,
        questions=shown,
        organises=sees_all,
        typed=asked or AskForm(),
        typed_answer=answered,
        wrong_at=wrong_at,
        error=error,
        key=(asked and asked.key) or secrets.token_urlsafe(16),
        limits=LIMITS,
    )


def _ask_again(
    request: Request, server: Server, user: User, competition: str, form: AskForm, error: EvergoldError
) -> Response:
    return _page(request, server, Viewer(user, None), competition, form, error=error)


@router.post(PLACE)
@form_again(_ask_again)
def send_question(
    request: Request, server: ServerHere, user: SentForm, competition: str, form: Annotated[AskForm, Form()]
) -> Response:
    now = server.clock()
    with writing(server.engine) as session:
        question_id = ask(
            session,
            find_competition(session, competition),
            QuestionForm(form.title, form.text, form.shows_name),
            asker=user,
            key=form.key,
            settings=server.settings,
            now=now,
            before_new=limit_of_questions(request, user, now),
        ).id
    return RedirectResponse(f"{links.questions(competition)}#question-{question_id}", 303)


# --------------------------------------------------------------------------------------------------------- organisers


def _answer_again(
    request: Request,
    server: Server,
    user: User,
    competition: str,
    question_id: int,
    form: AnswerForm,
    error: EvergoldError,
) -> Response:
    viewer = Viewer(user, None)
    return _page(request, server, viewer, competition, answered=form, wrong_at=question_id, error=error)


@router.post(f"{PLACE}/{{question_id}}/answer")
@form_again(_answer_again)
def send_answer(
    request: Request,
    server: ServerHere,
    user: Organiser,
    competition: str,
    question_id: RowId,
    form: Annotated[AnswerForm, Form()],
) -> Response:
    text_fault(many_lines(form.text))  # before anything is locked
    with writing(server.engine) as session:
        answer(
            session,
            organised(session, user, competition, Right.MESSAGES),
            question_id,
            form.text,
            is_public=form.is_public,
            organiser=user,
            settings=server.settings,
            now=server.clock(),
        )
    return RedirectResponse(f"{links.questions(competition)}#question-{question_id}", 303)


@router.post(f"{PLACE}/{{question_id}}/close")
def send_close(server: ServerHere, user: Organiser, competition: str, question_id: RowId) -> Response:
    return _set_closed(server, user, competition, question_id, is_closed=True)


@router.post(f"{PLACE}/{{question_id}}/reopen")
def send_reopen(server: ServerHere, user: Organiser, competition: str, question_id: RowId) -> Response:
    return _set_closed(server, user, competition, question_id, is_closed=False)


def _set_closed(server: Server, user: User, competition: str, question_id: int, *, is_closed: bool) -> Response:
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.MESSAGES)
        set_closed(session, found, question_id, is_closed, organiser=user, now=server.clock())
    return RedirectResponse(f"{links.questions(competition)}#question-{question_id}", 303)
