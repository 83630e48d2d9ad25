"""Questions to the organisers, and their answers, in JSON."""

from __future__ import annotations

from pydantic import Field

from app.base import links
from app.messages.questions import ANSWER_CHARACTERS, QUESTION_CHARACTERS
from app.models import Question, User
from app.models.messages import TITLE_CHARACTERS
from app.web.http.schemas import ApiModel, Moment, example

_ASKED = {"title": "Is the dev set blind?", "text": "May we train on it?", "shows_name": False}
_EXAMPLE = {
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

    model_config = example({"answer": _EXAMPLE["answer"], "is_public": True})

    answer: str = Field(max_length=2 * ANSWER_CHARACTERS, description="Markdown")
    is_public: bool = Field(False, description="everybody sees question and answer; else the asker alone")


class QuestionOut(ApiModel):
    """A question as this viewer sees it."""

    model_config = example(_EXAMPLE)

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

    model_config = example({"questions": [_EXAMPLE]})

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
