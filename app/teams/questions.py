"""Questions at registration: declared questions, and validation of answers. Pure functions.

Answers are visible only to organisers and the person who gave them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Any

from app.base.text import is_control, many_lines, one_line
from evergold.scoring.errors import shorten
from evergold.value_words import did_you_mean, listed

TEXT_CHARACTERS = 1_000
YES, NO = "yes", "no"
_NEEDED = "Please answer this."

#: An answer as in JSON: a tick is a boolean.
Answer = str | bool


class QuestionKind(StrEnum):
    """Type of an answer."""

    TEXT = "text"
    CHOICE = "choice"
    TICK = "tick"


@dataclass(frozen=True, slots=True)
class Question:
    """A declared question. required: nobody can take part without an answer (or without ticking it)."""

    name: str
    title: str
    kind: QuestionKind = QuestionKind.TEXT
    choices: tuple[str, ...] = ()
    required: bool = False
    help: str = ""


@cache
def ready_questions() -> Mapping[str, Question]:
    """Return the predefined questions, which are declared by their name alone."""
    countries = (resources.files("app") / "data" / "countries.txt").read_text("utf-8").splitlines()
    ready = (
        Question("affiliation", "Affiliation", help="University, institute, company; or none."),
        Question("country", "Country", QuestionKind.CHOICE, tuple(countries)),
        Question("students", "I am a student", QuestionKind.TICK),
    )
    return {question.name: question for question in ready}


def question_of(declared: Mapping[str, Any]) -> Question:
    """Return a question of `registration.questions`; missing keys come from the predefined question with its name."""
    given = {key: value for key, value in declared.items() if value not in (None, (), [], "")}
    if "kind" in given:
        given["kind"] = QuestionKind(given["kind"])
    if "choices" in given:
        given["choices"] = tuple(given["choices"])
    ready = ready_questions().get(declared["name"])
    return replace(ready, **given) if ready else Question(**given)


def answer_text(answer: Answer | None) -> str:
    """Return an answer as text; "" if there is none."""
    if isinstance(answer, bool):
        return YES if answer else NO
    return answer or ""


def read_answers(sent: Mapping[str, Any], questions: Sequence[Question]) -> tuple[dict[str, Answer], dict[str, str]]:
    """Return the answers to store, and a sentence for each invalid or missing one; fields are `answers.NAME`.

    Forms and the command line send a checkbox as text, `yes` or `no`.
    """
    names = [question.name for question in questions]
    kept: dict[str, Answer] = {}
    wrong = {
        f"answers.{shorten(name)}": f"There is no such question{did_you_mean(name, names)}; there are {listed(names)}."
        for name in sent
        if name not in names
    }
    for question in questions:
        answer, fault = _READERS[question.kind](question, sent.get(question.name))
        if answer is not None:
            kept[question.name] = answer
        if not fault and question.required and not answer:
            fault = _NEEDED
        if fault:
            wrong[f"answers.{question.name}"] = fault
    return kept, wrong


def answers_to(questions: Sequence[Question], answers: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answers to current questions."""
    names = {question.name for question in questions}
    return {name: answer for name, answer in answers.items() if name in names}


def lacks_answers(answers: Mapping[str, Any], questions: Sequence[Question]) -> bool:
    """Return True if a required question has no valid answer: it may be new, or its choices may have changed."""
    _, wrong = read_answers(answers_to(questions, answers), questions)
    required = {f"answers.{question.name}" for question in questions if question.required}
    return not required.isdisjoint(wrong)


_Read = tuple[Answer | None, str]


def _text(_: Question, value: Any) -> _Read:
    if value is None:
        return None, ""
    if not isinstance(value, str):
        return None, "Write text here."
    text = many_lines(value)
    if len(text) > TEXT_CHARACTERS:
        return None, f"At most {TEXT_CHARACTERS} characters; this has {len(text)}."
    if any(is_control(character) for character in text):
        return None, "Control characters are not allowed."
    return text or None, ""


def _choice(question: Question, value: Any) -> _Read:
    if value is None or value == "":
        return None, ""
    if value in question.choices:
        return str(value), ""
    text = one_line(value) if isinstance(value, str) else ""
    return (
        None,
        f"This is not one of the answers{did_you_mean(text, question.choices)}; there are {listed(question.choices)}.",
    )


def _tick(_: Question, value: Any) -> _Read:
    if isinstance(value, str):
        value = {YES: True, NO: False, "": None}.get(value.strip().lower(), value)
    if value is None or isinstance(value, bool):
        return value, ""
    return None, f"Answer {YES} or {NO}."


_READERS: Mapping[QuestionKind, Callable[[Question, Any], _Read]] = {
    QuestionKind.TEXT: _text,
    QuestionKind.CHOICE: _choice,
    QuestionKind.TICK: _tick,
}
