"""API schemas for announcements, recipients of mails, and questions, for the API and the pages."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field

from app.base.answers import ApiModel, Moment, example
from app.models import Question, User

ANNOUNCEMENT_EXAMPLE: dict[str, Any] = {
    "id": 7,
    "title": "The deadline moves by a day",
    "text": "You have until **23:59 AoE** on Sunday.",
    "is_pinned": True,
    "published_at": "2026-01-10T12:00:00Z",
    "edited_at": None,
    "page": "/competitions/demo/announcements#announcement-7",
}


QUESTION_EXAMPLE: dict[str, Any] = {
    "id": 3,
    "title": "Is the dev set blind?",
    "text": "May we train on it?",
    "shows_name": False,
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


class AnnouncementOut(ApiModel):
    """An announcement as everybody sees it."""

    model_config = example(ANNOUNCEMENT_EXAMPLE)

    id: int
    title: str
    text: str = Field(description="Markdown")
    is_pinned: bool
    published_at: Moment
    edited_at: Moment | None = Field(description="when it was edited; null: never")
    page: str


class PublishedAnnouncement(AnnouncementOut):
    """The announcement, with the number of mails written for it."""

    model_config = example({**ANNOUNCEMENT_EXAMPLE, "mailed_to": "entered:evaluation", "mailed_count": 12})

    mailed_to: str = Field(description="the group that got a mail; empty: nobody")
    mailed_count: int = Field(description="number of people who got the mail")


class ReceiversOut(ApiModel):
    """The people whom a mail to this group would reach now."""

    model_config = example({"group": "entered:evaluation", "receivers": 12, "switched_off": 1})

    group: str
    receivers: int = Field(description="number of people who would get the mail")
    switched_off: int = Field(description="number of others in the group who switched such mails off")


class QuestionOut(ApiModel):
    """A question as this viewer sees it."""

    model_config = example(QUESTION_EXAMPLE)

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
    answer_edited_at: Moment | None = Field(description="when the answer was edited; null: never")
    closed_at: Moment | None = Field(description="null: the organisers have not dealt with it yet")
    page: str

    @classmethod
    def seen_by(cls, user: User | None, question: Question, *, sees_all: bool) -> Self:
        """Return the question, whose sender must be loaded; others see a sender's name only if the sender agreed.

        sees_all: True for organisers, unless they preview as somebody else.
        """
        is_mine = user is not None and question.asker_id == user.id
        return cls(
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
            page=question.page,
        )


class AnnouncementList(ApiModel):
    """Announcements, pinned ones first, then the newest."""

    model_config = example({"announcements": [ANNOUNCEMENT_EXAMPLE]})

    announcements: list[AnnouncementOut]


class QuestionList(ApiModel):
    """Questions, newest first: public ones and the viewer's own; for organisers all."""

    model_config = example({"questions": [QUESTION_EXAMPLE]})

    questions: list[QuestionOut]
