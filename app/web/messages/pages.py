"""The pages of announcements and questions: everybody may read, users ask, organisers publish and answer."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from typing import Annotated

from fastapi import Depends, Form, Response
from fastapi.responses import RedirectResponse
from pydantic import Field

from app.base import links
from app.base.db import writing
from app.base.errors import EvergoldError
from app.base.text import many_lines
from app.competitions.find import find_competition, organised
from app.messages.announcements import (
    TEXT_CHARACTERS,
    AnnouncementForm,
    GroupName,
    announcements_of,
    chosen_group,
    edit,
    find_announcement,
    groups_for,
    publish,
    receivers,
    withdraw,
)
from app.messages.questions import (
    ANSWER_CHARACTERS,
    QUESTION_CHARACTERS,
    QuestionForm,
    answer,
    ask,
    questions_for,
    set_closed,
)
from app.messages.views import ReceiversOut
from app.models import Competition, CompetitionBlock, Right
from app.models.messages import TITLE_CHARACTERS
from app.people.rights import may_organise
from app.texts.html import text_fault
from app.web.html.guards import FormSender, PageForm, PageUserVisit, SentForm, Ticked, form_again, form_guard
from app.web.html.rendering import render_page
from app.web.html.workspace import workspace_of
from app.web.http.rate_limits import limit_of_questions
from app.web.http.routers import page_router
from app.web.http.schemas import RowId
from app.web.http.visit import PageVisit, UserVisit, Visit, user_visit_of

router = page_router()

ANNOUNCEMENTS = "/competitions/{competition}/announcements"
ONE = f"{ANNOUNCEMENTS}/{{announcement_id}}"
ANNOUNCEMENT_LIMITS = {"title": TITLE_CHARACTERS, "text": TEXT_CHARACTERS}


class AnnouncementPageForm(PageForm):
    """An announcement.

    mail: the group of recipients; counted: the group whose size was shown before; key: unique per form, so that a
    double click publishes once.
    """

    title: str = ""
    text: str = ""
    is_pinned: Ticked = False
    mail: str = ""
    counted: str = ""
    key: str = ""
    action: str = "preview"

    def announcement(self) -> AnnouncementForm:
        return AnnouncementForm(self.title, self.text, self.is_pinned)


Written = Annotated[AnnouncementPageForm, Form()]


@router.get(ANNOUNCEMENTS)
def read_announcements(visit: PageVisit, competition: str) -> Response:
    return _announcements_page(visit, competition)


def _announcements_page(
    visit: Visit,
    competition: str,
    form: AnnouncementPageForm | None = None,
    preview: ReceiversOut | None = None,
    error: EvergoldError | None = None,
) -> Response:
    session, viewer = visit.session, visit.viewer
    found = find_competition(session, competition)
    organises = viewer.seen_as is None and may_organise(session, viewer.user, found, Right.MESSAGES)
    listed = announcements_of(session, found, with_withdrawn=organises)
    workspace = workspace_of(session, found, viewer, "questions")
    return render_page(
        visit,
        "messages/announcements.html",
        competition=found,
        workspace=workspace,
        announcements=listed,
        organises=organises,
        typed=form or AnnouncementPageForm(),
        preview=preview,
        error=error,
        key=(form and form.key) or secrets.token_urlsafe(16),
        groups=_groups(found, workspace.rights),
        limits=ANNOUNCEMENT_LIMITS,
    )


@router.post(ANNOUNCEMENTS)
@form_again(_announcements_page)
def send_announcement(sender: SentForm, competition: str, form: Written) -> Response:
    """Publish an announcement; it is mailed only to a group whose size was shown before."""
    if form.action != "publish" or form.mail != form.counted:
        with user_visit_of(sender.request, sender.user) as visit:
            return _announcements_page(visit, competition, form, _preview(visit, competition, form))
    text_fault(many_lines(form.text))  # before anything is locked
    with writing(sender.server.engine) as session:
        found = organised(session, sender.user, competition, Right.MESSAGES)
        publish(
            sender.act(session),
            found,
            form.announcement(),
            group=chosen_group(session, found, form.mail, sender.user),
            key=form.key,
        )
    return RedirectResponse(links.announcements(competition), 303)


def _preview(visit: UserVisit, competition: str, form: AnnouncementPageForm) -> ReceiversOut:
    found = organised(visit.session, visit.user, competition, Right.MESSAGES)
    form.announcement().checked()
    return receivers(visit.session, found, chosen_group(visit.session, found, form.mail, visit.user))


# ------------------------------------------------------------------------------------------------------------- one


@router.get(ONE)
def read_edit(visit: PageUserVisit, competition: str, announcement_id: RowId) -> Response:
    return _edit_page(visit, competition, announcement_id)


def _edit_page(
    visit: UserVisit,
    competition: str,
    announcement_id: int,
    form: AnnouncementPageForm | None = None,
    error: EvergoldError | None = None,
) -> Response:
    session = visit.session
    found = organised(session, visit.user, competition, Right.MESSAGES)
    one = find_announcement(session, found, announcement_id)
    workspace = workspace_of(session, found, visit.viewer, "questions")
    typed = form or AnnouncementPageForm(title=one.title, text=one.text, is_pinned=one.is_pinned)
    template = "messages/announcement_edit.html"
    return render_page(
        visit,
        template,
        competition=found,
        workspace=workspace,
        one=one,
        typed=typed,
        error=error,
        limits=ANNOUNCEMENT_LIMITS,
    )


@router.post(ONE)
@form_again(_edit_page)
def send_edit(sender: SentForm, competition: str, announcement_id: RowId, form: Written) -> Response:
    text_fault(many_lines(form.text))  # before anything is locked
    with writing(sender.server.engine) as session:
        found = organised(session, sender.user, competition, Right.MESSAGES)
        edit(sender.act(session), found, announcement_id, form.announcement())
    return RedirectResponse(f"{links.announcements(competition)}#announcement-{announcement_id}", 303)


@router.post(f"{ONE}/withdraw")
def send_withdraw(
    sender: Annotated[FormSender, Depends(form_guard(ANNOUNCEMENTS))], competition: str, announcement_id: RowId
) -> Response:
    with writing(sender.server.engine) as session:
        withdraw(sender.act(session), organised(session, sender.user, competition, Right.MESSAGES), announcement_id)
    return RedirectResponse(links.announcements(competition), 303)


_GROUPS = {
    GroupName.ALL: "all participants",
    GroupName.ENTERED: "those who entered",
    GroupName.WITHOUT_VALID: "participants without a valid submission in",
    GroupName.ORGANISERS: "the organisers",
}


def _groups(competition: Competition, rights: Collection[Right]) -> dict[str, str]:
    """Return the labels of all recipient groups allowed with these rights."""
    titles = {phase.name: phase.title for phase in competition.phases}
    groups = (name.partition(":") for name in groups_for(competition, rights))
    return {"": "nobody"} | {
        f"{name}{colon}{phase}": f"{_GROUPS[GroupName(name)]} {titles.get(phase, '')}".strip()
        for name, colon, phase in groups
    }


QUESTIONS = "/competitions/{competition}/questions"
QUESTION_LIMITS = {"title": TITLE_CHARACTERS, "question": QUESTION_CHARACTERS, "answer": ANSWER_CHARACTERS}
#: The user who sends a form next to a question.
Organiser = Annotated[FormSender, Depends(form_guard(QUESTIONS))]


class AskForm(PageForm):
    """The form of a question. key: unique per form, so that a double click submits once."""

    title: str = ""
    text: str = ""
    shows_name: Ticked = False
    key: str = ""


class AnswerForm(PageForm):
    """An answer, private or public."""

    text: str = Field("", alias="answer")
    is_public: Ticked = False


@router.get(QUESTIONS)
def read_questions(visit: PageVisit, competition: str) -> Response:
    return _questions_page(visit, competition)


def _questions_page(
    visit: Visit,
    competition: str,
    form: AskForm | AnswerForm | None = None,
    question_id: int | None = None,
    error: EvergoldError | None = None,
) -> Response:
    """Return the page of questions. question_id: of the question whose answer has the error; None: the new question has
    it.
    """
    session, viewer = visit.session, visit.viewer
    found = find_competition(session, competition)
    workspace = workspace_of(session, found, viewer, "questions")
    sees_all = viewer.seen_as is None and may_organise(session, viewer.user, found, Right.MESSAGES)
    listed = questions_for(session, found, viewer.user, sees_all=sees_all)
    return render_page(
        visit,
        "messages/questions.html",
        competition=found,
        workspace=workspace,
        questions=listed,
        organises=sees_all,
        blocked=session.get(CompetitionBlock, (found.id, viewer.user.id)) if viewer.user else None,
        typed=form if isinstance(form, AskForm) else AskForm(),
        typed_answer=form if isinstance(form, AnswerForm) else None,
        wrong_at=question_id,
        error=error,
        key=(form.key if isinstance(form, AskForm) else "") or secrets.token_urlsafe(16),
        limits=QUESTION_LIMITS,
    )


@router.post(QUESTIONS)
@form_again(_questions_page)
def send_question(sender: SentForm, competition: str, form: Annotated[AskForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        act = sender.act(session)
        question_id = ask(
            act,
            find_competition(session, competition),
            QuestionForm(form.title, form.text, form.shows_name),
            key=form.key,
            before_new=limit_of_questions(sender.request, sender.user, act.now),
        ).id
    return RedirectResponse(f"{links.questions(competition)}#question-{question_id}", 303)


# --------------------------------------------------------------------------------------------------------- organisers


@router.post(f"{QUESTIONS}/{{question_id}}/answer")
@form_again(_questions_page)
def send_answer(
    sender: Organiser, competition: str, question_id: RowId, form: Annotated[AnswerForm, Form()]
) -> Response:
    text_fault(many_lines(form.text))  # before anything is locked
    with writing(sender.server.engine) as session:
        answer(
            sender.act(session),
            organised(session, sender.user, competition, Right.MESSAGES),
            question_id,
            form.text,
            is_public=form.is_public,
        )
    return RedirectResponse(f"{links.questions(competition)}#question-{question_id}", 303)


@router.post(f"{QUESTIONS}/{{question_id}}/close")
def send_close(sender: Organiser, competition: str, question_id: RowId) -> Response:
    return _set_closed(sender, competition, question_id, is_closed=True)


@router.post(f"{QUESTIONS}/{{question_id}}/reopen")
def send_reopen(sender: Organiser, competition: str, question_id: RowId) -> Response:
    return _set_closed(sender, competition, question_id, is_closed=False)


def _set_closed(sender: FormSender, competition: str, question_id: int, *, is_closed: bool) -> Response:
    with writing(sender.server.engine) as session:
        found = organised(session, sender.user, competition, Right.MESSAGES)
        set_closed(sender.act(session), found, question_id, is_closed)
    return RedirectResponse(f"{links.questions(competition)}#question-{question_id}", 303)
