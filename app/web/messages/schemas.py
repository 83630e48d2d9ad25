"""Requests of the API: announcements, questions and answers."""

from __future__ import annotations

from pydantic import Field

from app.base.answers import ApiModel, example
from app.messages.announcements import TEXT_CHARACTERS
from app.messages.questions import ANSWER_CHARACTERS, QUESTION_CHARACTERS
from app.messages.views import ANNOUNCEMENT_EXAMPLE, QUESTION_EXAMPLE
from app.models.messages import TITLE_CHARACTERS


class AnnouncementIn(ApiModel):
    """An announcement to publish."""

    model_config = example(
        {"title": ANNOUNCEMENT_EXAMPLE["title"], "text": ANNOUNCEMENT_EXAMPLE["text"], "is_pinned": True}
    )

    title: str = Field(max_length=2 * TITLE_CHARACTERS, description="one line")
    text: str = Field(max_length=2 * TEXT_CHARACTERS, description="Markdown")
    is_pinned: bool = Field(False, description="shown above the others")


class NewAnnouncementIn(AnnouncementIn):
    """An announcement, with the group that also receives it by mail."""

    model_config = example(
        {
            **{name: ANNOUNCEMENT_EXAMPLE[name] for name in ("title", "text", "is_pinned")},
            "mail": "entered:evaluation",
        }
    )

    mail: str = Field(
        "",
        max_length=200,
        description="`all`, `entered:PHASE`, `without-valid:PHASE` or `organisers`; empty: nobody gets a mail",
    )


_ASKED = {name: QUESTION_EXAMPLE[name] for name in ("title", "text", "shows_name")}


class QuestionIn(ApiModel):
    """A question to the organisers."""

    model_config = example(_ASKED)

    title: str = Field(max_length=2 * TITLE_CHARACTERS, description="one line")
    text: str = Field(max_length=2 * QUESTION_CHARACTERS, description="plain text")
    shows_name: bool = Field(False, description="show the sender's name if the answer is made public")


class AnswerIn(ApiModel):
    """The organisers' answer; it replaces an earlier one."""

    model_config = example({"answer": QUESTION_EXAMPLE["answer"], "is_public": True})

    answer: str = Field(max_length=2 * ANSWER_CHARACTERS, description="Markdown")
    is_public: bool = Field(False, description="whether everybody sees question and answer; otherwise only the asker")
