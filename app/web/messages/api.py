"""The API of announcements and questions: everybody may read, users ask, organisers publish and answer."""

from __future__ import annotations

from typing import Annotated

from fastapi import Header, Path, Query, Request, Response

from app.base import links
from app.base.db import writing
from app.base.errors import InvalidForm
from app.base.text import many_lines
from app.boards.feeds import announcement_feed
from app.competitions.find import find_competition, organised
from app.messages.announcements import (
    AnnouncementForm,
    announcements_of,
    chosen_group,
    edit,
    groups_for,
    publish,
    receivers,
    withdraw,
)
from app.messages.questions import (
    QuestionForm,
    answer,
    ask,
    find_question,
    questions_for,
    set_closed,
)
from app.messages.views import (
    AnnouncementList,
    AnnouncementOut,
    PublishedAnnouncement,
    QuestionList,
    QuestionOut,
    ReceiversOut,
)
from app.models import Right, User
from app.models.messages import KEY_CHARACTERS
from app.people.rights import may_organise, rights_of
from app.texts.html import render_markdown, text_fault
from app.web.http.caching import is_known, not_modified, strong_etag
from app.web.http.context import Server, ServerHere, public_address
from app.web.http.errors import error_responses
from app.web.http.identity import ApiOrganiser, ApiSubmitter
from app.web.http.paths import CompetitionName
from app.web.http.rate_limits import limit_of_questions
from app.web.http.routers import api_router
from app.web.http.schemas import RowId
from app.web.http.visit import ApiOrganiserVisit, ApiVisit, PublicVisit
from app.web.messages.schemas import AnnouncementIn, AnswerIn, NewAnnouncementIn, QuestionIn

router = api_router("competitions")

AnnouncementId = Annotated[RowId, Path(examples=[7])]
ANNOUNCEMENTS = "/competitions/{competition}/announcements"


@router.get(
    ANNOUNCEMENTS,
    operation_id="list_announcements",
    summary="Announcements of the organisers",
    description="Pinned ones first, then the newest. Withdrawn ones are left out.",
    responses=error_responses(404),
)
def read_announcements(visit: PublicVisit, competition: CompetitionName) -> AnnouncementList:
    found = find_competition(visit.session, competition)
    listed = announcements_of(visit.session, found)
    return AnnouncementList.model_validate({"announcements": listed}, from_attributes=True)


@router.get(
    f"{ANNOUNCEMENTS}.atom",
    operation_id="get_announcement_feed",
    summary="A competition's announcements as a feed",
    description="Atom, the latest first, an edited one at the time of its edit.",
    tags=["feeds"],
    response_class=Response,
    responses={
        200: {
            "description": "The feed.",
            "content": {"application/atom+xml": {"schema": {"type": "string"}, "example": "<feed/>"}},
        },
        304: {"description": "Not changed (If-None-Match)."},
        **error_responses(404),
    },
)
def read_announcement_feed(visit: PublicVisit, competition: CompetitionName) -> Response:
    found = find_competition(visit.session, competition)
    listed = announcements_of(visit.session, found)
    page = public_address(visit.request, visit.server, links.announcements(found.name))
    versions = [(one.id, one.title, one.text, one.edited_at) for one in listed]
    etag = strong_etag(visit.request, "atom", found.title, page, versions)
    headers = {"ETag": etag, "Cache-Control": "public, no-cache"}
    if is_known(visit.request, etag):
        return not_modified(headers)
    feed = public_address(visit.request, visit.server, visit.request.url.path)
    with_html = [(one, str(render_markdown(one.text))) for one in listed]
    text = announcement_feed(found, with_html, page, feed)
    return Response(text, media_type="application/atom+xml", headers=headers)


@router.get(
    f"{ANNOUNCEMENTS}/receivers",
    operation_id="count_announcement_receivers",
    summary="How many people a mail to a group would reach, for organisers",
    tags=["organising"],
    responses=error_responses(401, 403, 404, 422),
)
def count_receivers(
    visit: ApiOrganiserVisit,
    competition: CompetitionName,
    group: Annotated[
        str,
        Query(max_length=200, description="`all`, `entered:PHASE`, `without-valid:PHASE` or `organisers`"),
    ],
) -> ReceiversOut:
    session, user = visit.session, visit.user
    found = organised(session, user, competition, Right.MESSAGES)
    wanted = chosen_group(session, found, group, user)
    if wanted is None:
        sentence = f"Choose a group: {', '.join(groups_for(found, rights_of(session, user, found)))}."
        raise InvalidForm(sentence, fields={"group": sentence})
    return receivers(session, found, wanted)


@router.post(
    ANNOUNCEMENTS,
    operation_id="publish_announcement",
    summary="Announce something, also by mail, for organisers",
    description=(
        "Each person of the group gets one mail, unless they switched such mails off. A repeated request with the "
        "same `Idempotency-Key` is the same announcement: nobody gets a second mail."
    ),
    status_code=201,
    tags=["organising"],
    responses=error_responses(401, 403, 404, 409, 422),
)
def post_announcement(
    server: ServerHere,
    user: ApiOrganiser,
    competition: CompetitionName,
    form: NewAnnouncementIn,
    idempotency_key: Annotated[
        str | None,
        Header(description=f"at most {KEY_CHARACTERS} characters of your choice, new for each announcement"),
    ] = None,
) -> PublishedAnnouncement:
    text_fault(many_lines(form.text))  # before anything is locked
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.MESSAGES)
        published = publish(
            server.act(session, user),
            found,
            AnnouncementForm(form.title, form.text, form.is_pinned),
            group=chosen_group(session, found, form.mail, user),
            key=idempotency_key,
        )
        return PublishedAnnouncement.model_validate(published, from_attributes=True)


@router.put(
    f"{ANNOUNCEMENTS}/{{announcement_id}}",
    operation_id="edit_announcement",
    summary="Change an announcement, for organisers",
    description="The announcement shows when it was edited. No mail is sent.",
    tags=["organising"],
    responses=error_responses(401, 403, 404, 422),
)
def put_announcement(
    server: ServerHere,
    user: ApiOrganiser,
    competition: CompetitionName,
    announcement_id: AnnouncementId,
    form: AnnouncementIn,
) -> AnnouncementOut:
    text_fault(many_lines(form.text))  # before anything is locked
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.MESSAGES)
        written = AnnouncementForm(form.title, form.text, form.is_pinned)
        changed = edit(server.act(session, user), found, announcement_id, written)
        return AnnouncementOut.model_validate(changed, from_attributes=True)


@router.delete(
    f"{ANNOUNCEMENTS}/{{announcement_id}}",
    operation_id="withdraw_announcement",
    summary="Withdraw an announcement, for organisers",
    description="The announcement is no longer shown. Mails that were sent cannot be recalled.",
    status_code=204,
    tags=["organising"],
    responses=error_responses(401, 403, 404, 422),
)
def delete_announcement(
    server: ServerHere, user: ApiOrganiser, competition: CompetitionName, announcement_id: AnnouncementId
) -> None:
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.MESSAGES)
        withdraw(server.act(session, user), found, announcement_id)


QuestionId = Annotated[RowId, Path(examples=[3])]
QUESTIONS = "/competitions/{competition}/questions"


@router.get(
    QUESTIONS,
    operation_id="list_questions",
    summary="Questions to the organisers, and their answers",
    description="Public questions and your own; organisers see all. Senders are named only if they chose to be.",
    responses=error_responses(401, 404, 422),
)
def read_questions(visit: ApiVisit, competition: CompetitionName) -> QuestionList:
    session, viewer = visit.session, visit.viewer
    found = find_competition(session, competition)
    sees_all = viewer.seen_as is None and may_organise(session, viewer.user, found, Right.MESSAGES)
    return QuestionList(questions=questions_for(session, found, viewer.user, sees_all=sees_all))


@router.post(
    QUESTIONS,
    operation_id="ask_question",
    summary="Ask the organisers",
    description=(
        "The organisers get a mail, and you get one when they answer. Others see the question only if the "
        "organisers publish it with an answer. A repeated request with the same `Idempotency-Key` is the same "
        "question."
    ),
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
            server.act(session, user),
            found,
            written,
            key=idempotency_key,
            before_new=limit_of_questions(request, user, server.clock()),
        )
        return QuestionOut.seen_by(user, find_question(session, found, question.id), sees_all=False)


@router.put(
    f"{QUESTIONS}/{{question_id}}/answer",
    operation_id="answer_question",
    summary="Answer a question, or change the answer, for organisers",
    description="The sender gets a mail if the answer is new. The question is closed.",
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
        answered = answer(server.act(session, user), found, question_id, form.answer, is_public=form.is_public)
        return QuestionOut.seen_by(user, answered, sees_all=True)


@router.put(
    f"{QUESTIONS}/{{question_id}}/closed",
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
    f"{QUESTIONS}/{{question_id}}/closed",
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
        changed = set_closed(server.act(session, user), found, question_id, is_closed)
        return QuestionOut.seen_by(user, changed, sees_all=True)
