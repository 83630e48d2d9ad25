"""Questions to the organisers by logged-in users, answered privately or, if organisers choose, publicly.

Others see the text and answer of a public question, and its author only with their consent. An unanswered question is
visible only to its author and the organisers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, joinedload

from app.base.addresses import public_address
from app.base.errors import IdempotencyConflict, NotFound
from app.base.text import many_lines, one_line, refuse, wrong_text
from app.messages.views import QuestionOut
from app.models import Competition, NewsKind, Question, Right, User
from app.models.messages import KEY_CHARACTERS, TITLE_CHARACTERS
from app.people.act import UserAct
from app.people.competition_blocks import check_not_blocked
from app.people.mail import send_mail
from app.people.rights import organisers_of
from app.texts.html import text_fault
from app.webhooks.events import note_news

QUESTION_CHARACTERS = 5_000
ANSWER_CHARACTERS = 20_000

_ASKED = """\
{name} (user name {username}) asks about {competition}:

{title}

{text}

--
Reply on the question page (privately or to everyone): {page}
"""
_ANSWERED = """\
Hello {username},

The organisers of {competition} {what} your question.

{title}

{answer}

--
{where} {page}
"""


@dataclass(frozen=True, slots=True)
class QuestionForm:
    """A question as written by a user.

    text: plain; shows_name: consent to show the author if the question becomes public.
    """

    title: str
    text: str
    shows_name: bool = False

    def checked(self) -> QuestionForm:
        """Return the question normalised for storage. Raises InvalidForm with a sentence for each field."""
        tidy = QuestionForm(one_line(self.title), many_lines(self.text), self.shows_name)
        refuse(
            {"title": wrong_text(tidy.title, TITLE_CHARACTERS), "text": wrong_text(tidy.text, QUESTION_CHARACTERS)},
        )
        return tidy


# ------------------------------------------------------------------------------------------------------------- reading


def questions_for(
    session: Session, competition: Competition, user: User | None, *, sees_all: bool
) -> list[QuestionOut]:
    """List the questions visible to this viewer, newest first.

    sees_all: True for organisers, unless they preview as somebody else.
    """
    query = (
        select(Question)
        .where(Question.competition_id == competition.id)
        .options(joinedload(Question.asker, innerjoin=True))
        .order_by(Question.asked_at.desc(), Question.id.desc())
    )
    if not sees_all:
        is_public = Question.is_public & Question.answered_at.is_not(None)
        query = query.where(or_(is_public, Question.asker_id == user.id) if user is not None else is_public)
    return [QuestionOut.seen_by(user, one, sees_all=sees_all) for one in session.scalars(query)]


def find_question(session: Session, competition: Competition, question_id: int) -> Question:
    """Return the question with its author, locked until the transaction ends. Raises NotFound."""
    found = session.scalar(
        select(Question)
        .where(Question.id == question_id, Question.competition_id == competition.id)
        .options(joinedload(Question.asker, innerjoin=True))
        .with_for_update(of=Question)
    )
    if found is None:
        raise NotFound(f"Competition '{competition.name}' has no question {question_id}.")
    return found


# ------------------------------------------------------------------------------------------------------------- writing


def find_question_by_key(session: Session, asker: User, key: str | None) -> Question | None:
    """Return the user's earlier question with this key; None if there is none."""
    if not key or "\0" in key:
        return None
    return session.scalar(select(Question).where(Question.asker_id == asker.id, Question.key == key))


def ask(
    act: UserAct,
    competition: Competition,
    form: QuestionForm,
    *,
    key: str | None,
    before_new: Callable[[], None] = lambda: None,
) -> Question:
    """Store a question, notify every organiser, and return it; idempotent for the same key.

    before_new: called unless the question already exists; its errors are passed on. Raises InvalidForm, BlockedHere,
    IdempotencyConflict.
    """
    session = act.session
    form, key = form.checked(), key or None
    check_not_blocked(session, competition, act.user)
    if find_question_by_key(session, act.user, key) is None:
        before_new()
    if key is not None:
        refuse({"Idempotency-Key": wrong_text(key, KEY_CHARACTERS)})
    question = Question(
        competition_id=competition.id,
        asker_id=act.user.id,
        title=form.title,
        text=form.text,
        shows_name=form.shows_name,
        asked_at=act.now,
        key=key,
    )
    try:
        with session.begin_nested():
            session.add(question)
    except IntegrityError:
        return _earlier_question(act, competition, form, key)
    body = _ASKED.format(
        name=act.user.display_name,
        username=act.user.username,
        competition=competition.title,
        title=form.title,
        text=form.text,
        page=public_address(act.settings, question.page),
    )
    subject = f"[{competition.title}] Question: {form.title}"
    for organiser in organisers_of(session, competition.name, Right.MESSAGES):
        send_mail(session, organiser, subject, body, now=act.now, competition_id=competition.id)
    note_news(session, NewsKind.QUESTION_ASKED, {"question": question.id}, act.now, competition_id=competition.id)
    return question


def answer(act: UserAct, competition: Competition, question_id: int, text: str, *, is_public: bool) -> Question:
    """Answer a question, or change the answer, close the question and return it; a new text is mailed to the author.

    Raises NotFound, InvalidForm.
    """
    session = act.session
    text = many_lines(text)
    refuse({"answer": wrong_text(text, ANSWER_CHARACTERS) or text_fault(text)})
    question = find_question(session, competition, question_id)
    is_first, is_new = question.answered_at is None, question.answer != text
    before = {"is_public": question.is_public}
    question.answer, question.is_public, question.answered_by_id = text, is_public, act.user.id
    if is_first:
        question.answered_at = act.now
    elif is_new:
        question.answer_edited_at = act.now
    question.closed_at = question.closed_at or act.now
    session.flush()
    if is_new:
        _tell_asker(act, competition, question, "answered" if is_first else "changed their answer to")
    deed = "answer" if is_first else "edit"
    _record(act, deed, competition, question, is_public=is_public, before=before)
    return question


def set_closed(act: UserAct, competition: Competition, question_id: int, is_closed: bool) -> Question:
    """Close a question without an answer, or reopen it, and return it; its visibility is kept. Raises NotFound."""
    question = find_question(act.session, competition, question_id)
    if (question.closed_at is not None) != is_closed:
        question.closed_at = act.now if is_closed else None
        act.session.flush()
        _record(act, "close" if is_closed else "reopen", competition, question)
    return question


def _earlier_question(act: UserAct, competition: Competition, form: QuestionForm, key: str | None) -> Question:
    earlier = act.session.scalars(select(Question).where(Question.asker_id == act.user.id, Question.key == key)).one()
    if (earlier.competition_id, earlier.title, earlier.text) != (competition.id, form.title, form.text):
        raise IdempotencyConflict("This key was already used for another question; use a new key for a new one.")
    return earlier


def _tell_asker(act: UserAct, competition: Competition, question: Question, what: str) -> None:
    body = _ANSWERED.format(
        username=question.asker.username,
        competition=competition.title,
        what=what,
        title=question.title,
        answer=question.answer,
        where="Public, at" if question.is_public else "Only you and the organisers see it, at",
        page=public_address(act.settings, question.page),
    )
    subject = f"[{competition.title}] Answer: {question.title}"
    send_mail(act.session, question.asker, subject, body, now=act.now, competition_id=competition.id)


def _record(
    act: UserAct,
    deed: str,
    competition: Competition,
    question: Question,
    **more: Any,
) -> None:
    details = {"question": question.id, "title": question.title, **more}
    act.record(f"question.{deed}", f"competition {competition.name}", details)
