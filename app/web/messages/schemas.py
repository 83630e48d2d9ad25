"""Announcements, recipients of mails, questions and answers in JSON."""

from __future__ import annotations

from pydantic import Field

from app.base import links
from app.base.answers import ApiModel, Moment, example
from app.messages.announcements import TEXT_CHARACTERS, Receivers
from app.messages.questions import ANSWER_CHARACTERS, QUESTION_CHARACTERS
from app.models import Announcement, Question, User
from app.models.messages import TITLE_CHARACTERS

_ANNOUNCEMENT = {
    "id": 7,
    "title": "The deadline moves by a day",
    "text": "You have until **23:59 AoE** on Sunday.",
    "is_pinned": True,
    "published_at": "2026-01-10T12:00:00Z",
    "edited_at": None,
    "page": "/competitions/demo/announcements#announcement-7",
}


class AnnouncementIn(ApiModel):
    """An announcement to publish."""

    model_config = example({"title": _ANNOUNCEMENT["title"], "text": _ANNOUNCEMENT["text"], "is_pinned": True})

    title: str = Field(max_length=2 * TITLE_CHARACTERS, description="one line")
    text: str = Field(max_length=2 * TEXT_CHARACTERS, description="Markdown")
    is_pinned: bool = Field(False, description="stands above the others")


class NewAnnouncementIn(AnnouncementIn):
    """An announcement with the group that gets it by mail, too."""

    model_config = example(
        {
            "title": _ANNOUNCEMENT["title"],
            "text": _ANNOUNCEMENT["text"],
            "is_pinned": True,
            "mail": "entered:evaluation",
        }
    )

    mail: str = Field(
        "",
        max_length=200,
        description="`all`, `entered:PHASE`, `without-valid:PHASE` or `organisers`; empty: nobody gets a mail",
    )


class AnnouncementOut(ApiModel):
    """An announcement as everybody sees it."""

    model_config = example(_ANNOUNCEMENT)

    id: int
    title: str
    text: str = Field(description="Markdown")
    is_pinned: bool
    published_at: Moment
    edited_at: Moment | None = Field(description="when its words were changed; null: never")
    page: str


class AnnouncementList(ApiModel):
    """The pinned ones first, then the newest."""

    model_config = example({"announcements": [_ANNOUNCEMENT]})

    announcements: list[AnnouncementOut]


class PublishedAnnouncement(AnnouncementOut):
    """The announcement, with how many mails were written for it."""

    model_config = example({**_ANNOUNCEMENT, "mailed_to": "entered:evaluation", "mailed_count": 12})

    mailed_to: str = Field(description="the group; empty: nobody")
    mailed_count: int = Field(description="how many people get the mail")


class ReceiversOut(ApiModel):
    """Whom a mail to this group would reach now."""

    model_config = example({"group": "entered:evaluation", "receivers": 12, "switched_off": 1})

    group: str
    receivers: int = Field(description="how many people would get it")
    switched_off: int = Field(description="how many others of the group want no such mails")


def announcement_out(competition: str, announcement: Announcement) -> AnnouncementOut:
    """Return the announcement as an API model."""
    return AnnouncementOut(
        id=announcement.id,
        title=announcement.title,
        text=announcement.text,
        is_pinned=announcement.is_pinned,
        published_at=announcement.published_at,
        edited_at=announcement.edited_at,
        page=f"{links.announcements(competition)}#announcement-{announcement.id}",
    )


def published_out(competition: str, announcement: Announcement) -> PublishedAnnouncement:
    """Return the announcement as an API model for its author."""
    shown = announcement_out(competition, announcement).model_dump()
    return PublishedAnnouncement(**shown, mailed_to=announcement.mailed_to, mailed_count=announcement.mailed_count)


def receivers_out(group: str, receivers: Receivers) -> ReceiversOut:
    """Return the numbers of recipients, without names."""
    return ReceiversOut(group=group, receivers=receivers.count, switched_off=receivers.switched_off)


_ASKED = {"title": "Is the dev set blind?", "text": "May we train on it?", "shows_name": False}
_QUESTION = {
    "id": 3,
    **_ASKED,
    "asked_at": "2026-01-10T12:00:00Z",
    "asker": None,
    "is_mine": False,
    "is_public": True,
    "answer": "You may, in the *open* track.",
    "answered_at": "2026-01-10T13:00:00Z",
    "answer_edited_at": None,
    "closed_at": "2026-01-10T13:00:00Z",
    "page": "/competitions/demo/questions#question-3",
}


class QuestionIn(ApiModel):
    """A question to the organisers."""

    model_config = example(_ASKED)

    title: str = Field(max_length=2 * TITLE_CHARACTERS, description="one line")
    text: str = Field(max_length=2 * QUESTION_CHARACTERS, description="plain text")
    shows_name: bool = Field(False, description="show the sender's name if the answer is made public")


class AnswerIn(ApiModel):
    """The organisers' answer; also in the place of one that there is."""

    model_config = example({"answer": _QUESTION["answer"], "is_public": True})

    answer: str = Field(max_length=2 * ANSWER_CHARACTERS, description="Markdown")
    is_public: bool = Field(False, description="everybody sees question and answer; else the asker alone")


class QuestionOut(ApiModel):
    """A question as this viewer sees it."""

    model_config = example(_QUESTION)

    id: int
    title: str
    text: str = Field(description="plain text")
    shows_name: bool
    asked_at: Moment
    asker: str | None = Field(description="the display name; null: the sender chose not to show it")
    is_mine: bool
    is_public: bool = Field(description="whether everybody sees it, once it is answered")
    answer: str = Field(description="Markdown; empty: not answered yet")
    answered_at: Moment | None
    answer_edited_at: Moment | None = Field(description="when the answer's words were changed; null: never")
    closed_at: Moment | None = Field(description="null: the organisers have not dealt with it yet")
    page: str


class QuestionList(ApiModel):
    """The newest first: public ones, one's own; for organisers all."""

    model_config = example({"questions": [_QUESTION]})

    questions: list[QuestionOut]


def question_out(competition: str, question: Question, viewer: User | None, *, sees_all: bool) -> QuestionOut:
    """Return the question as an API model; its sender must be loaded."""
    is_mine = viewer is not None and question.asker_id == viewer.id
    return QuestionOut(
        id=question.id,
        title=question.title,
        text=question.text,
        shows_name=question.shows_name,
        asked_at=question.asked_at,
        asker=question.asker.display_name if sees_all or is_mine or question.shows_name else None,
        is_mine=is_mine,
        is_public=question.is_public,
        answer=question.answer,
        answered_at=question.answered_at,
        answer_edited_at=question.answer_edited_at,
        closed_at=question.closed_at,
        page=f"{links.questions(competition)}#question-{question.id}",
    )
