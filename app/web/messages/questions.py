"""The API of questions: logged-in users ask, organisers answer, everybody reads public ones."""

from __future__ import annotations

from typing import Annotated

from fastapi import Header, Path, Request

from app.base.db import reading, writing
from app.base.text import many_lines
from app.competitions.find import find_competition, organised
from app.messages.questions import (
    QuestionForm,
    answer,
    ask,
    find_question,
    questions_for,
    set_closed,
)
from app.models import Right, User
from app.models.messages import KEY_CHARACTERS
from app.people.rights import may_organise
from app.texts.html import text_fault
from app.web.http.context import Server, ServerHere
from app.web.http.errors import error_responses
from app.web.http.identity import ApiOrganiser, ApiSubmitter
from app.web.http.paths import CompetitionName
from app.web.http.rate_limits import limit_of_questions
from app.web.http.routers import api_router
from app.web.http.schemas import RowId
from app.web.http.viewer import ApiViewer
from app.web.messages.question_schemas import AnswerIn, QuestionIn, QuestionList, QuestionOut, question_out

router = api_router("competitions")

QuestionId = Annotated[RowId, Path(examples=[3])]
PLACE = "/competitions/{competition}/questions"


@router.get(
    PLACE,
    operation_id="list_questions",
    summary="Questions to the organisers, and their answers",
    description="Those that are public, and your own; for organisers all. Senders are named only if they chose so.",
    responses=error_responses(401, 404, 422),
)
def read_questions(server: ServerHere, viewer: ApiViewer, competition: CompetitionName) -> QuestionList:
    with reading(server.engine) as session:
        found = find_competition(session, competition)
        sees_all = viewer.seen_as is None and may_organise(session, viewer.user, found, Right.MESSAGES)
        listed = questions_for(session, found, viewer.user, sees_all=sees_all)
        shown = [question_out(found.name, one, viewer.user, sees_all=sees_all) for one in listed]
    return QuestionList(questions=shown)


@router.post(
    PLACE,
    operation_id="ask_question",
    summary="Ask the organisers",
    description="They get a mail, and so do you when they answer. Others see the question only if the organisers make "
    "it public with an answer. With an `Idempotency-Key` a repeated request is the same question.",
    status_code=201,
    responses=error_responses(401, 403, 404, 409, 422, 429),
)
def post_question(
    request: Request,
    server: ServerHere,
    user: ApiSubmitter,
    competition: CompetitionName,
    form: QuestionIn,
    idempotency_key: Annotated[
        str | None,
        Header(description=f"at most {KEY_CHARACTERS} characters of your choice, new for each question"),
    ] = None,
) -> QuestionOut:
    written = QuestionForm(form.title, form.text, form.shows_name)
    with writing(server.engine) as session:
        found = find_competition(session, competition)
        question = ask(
            session,
            found,
            written,
            asker=user,
            key=idempotency_key,
            settings=server.settings,
            now=server.clock(),
            before_new=limit_of_questions(request, user, server.clock()),
        )
        return question_out(found.name, find_question(session, found, question.id), user, sees_all=False)


@router.put(
    f"{PLACE}/{{question_id}}/answer",
    operation_id="answer_question",
    summary="Answer a question, or change the answer, for organisers",
    description="The sender gets a mail when the answer is new. It closes the question.",
    tags=["organising"],
    responses=error_responses(401, 403, 404, 422),
)
def put_answer(
    server: ServerHere,
    user: ApiOrganiser,
    competition: CompetitionName,
    question_id: QuestionId,
    form: AnswerIn,
) -> QuestionOut:
    text_fault(many_lines(form.answer))  # before anything is locked
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.MESSAGES)
        answered = answer(
            session,
            found,
            question_id,
            form.answer,
            is_public=form.is_public,
            organiser=user,
            settings=server.settings,
            now=server.clock(),
        )
        return question_out(found.name, answered, user, sees_all=True)


@router.put(
    f"{PLACE}/{{question_id}}/closed",
    operation_id="close_question",
    summary="Close a question without an answer, for organisers",
    description="Nobody gets a mail. Closing it again changes nothing.",
    tags=["organising"],
    responses=error_responses(401, 403, 404, 422),
)
def put_closed(
    server: ServerHere, user: ApiOrganiser, competition: CompetitionName, question_id: QuestionId
) -> QuestionOut:
    return _set_closed(server, user, competition, question_id, True)


@router.delete(
    f"{PLACE}/{{question_id}}/closed",
    operation_id="reopen_question",
    summary="Open a closed question again, for organisers",
    tags=["organising"],
    responses=error_responses(401, 403, 404, 422),
)
def delete_closed(
    server: ServerHere, user: ApiOrganiser, competition: CompetitionName, question_id: QuestionId
) -> QuestionOut:
    return _set_closed(server, user, competition, question_id, False)


def _set_closed(server: Server, user: User, competition: str, question_id: int, is_closed: bool) -> QuestionOut:
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.MESSAGES)
        changed = set_closed(session, found, question_id, is_closed, organiser=user, now=server.clock())
        return question_out(found.name, changed, user, sees_all=True)
