"""The form of method cards: the description of the system behind a submission, and the organisers' questions about it.

Pure functions: they validate input against the declaration and report all errors at once. `app.cards.edits` stores
cards and decides who may change them. Cards are public; the notes that accompany a file are not part of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from unicodedata import category
from urllib.parse import urlsplit

from evergold.scoring.characters import can_be_name
from evergold.scoring.errors import quoted, shorten
from evergold.scoring.numerals import finite_number
from evergold.value_words import did_you_mean, listed

METHOD_CHARACTERS = 200
TEXT_CHARACTERS = 2_000
LINK_CHARACTERS = 500
#: Limit for an answer shown in a column of the board.
COLUMN_CHARACTERS = 80
LANGUAGES_LIMIT, LANGUAGE_CHARACTERS = 100, 40
YES, NO = "yes", "no"

#: An answer as in JSON.
Answer = str | int | float | bool
#: A value, or the reason why it is invalid.
_Read = tuple[Any, str]


class CardKind(StrEnum):
    """Type of an answer to an organiser's question."""

    TEXT = "text"
    NUMBER = "number"
    CHOICE = "choice"
    YES_NO = "yes_no"


class CardPart(StrEnum):
    """Fields of every card."""

    METHOD = "method"
    SUMMARY = "summary"
    PAPER = "paper"
    CODE = "code"
    DATA = "data"
    LANGUAGES = "languages"


#: Display titles, in the order of forms and pages.
PART_TITLES: Mapping[CardPart, str] = {
    CardPart.METHOD: "Method",
    CardPart.SUMMARY: "Summary",
    CardPart.PAPER: "Paper",
    CardPart.CODE: "Code",
    CardPart.DATA: "Data used",
    CardPart.LANGUAGES: "Languages",
}


@dataclass(frozen=True, slots=True)
class CardField:
    """A question as declared by the organisers."""

    name: str
    title: str
    kind: CardKind = CardKind.TEXT
    choices: tuple[str, ...] = ()
    required: bool = False
    on_board: bool = False
    help: str = ""


@dataclass(frozen=True, slots=True)
class CardForm:
    """The fields of a task's cards. languages: of the task, empty if it does not declare any."""

    required: tuple[CardPart, ...] = ()
    fields: tuple[CardField, ...] = ()
    languages: tuple[str, ...] = ()

    @property
    def asks(self) -> bool:
        """True if any field is required."""
        return bool(self.required) or any(field.required for field in self.fields)


@dataclass(frozen=True, slots=True)
class CardAnswer:
    """An answer with its question as worded when it was answered."""

    name: str
    title: str
    value: Answer

    @property
    def text(self) -> str:
        """The answer formatted for people."""
        if isinstance(self.value, bool):
            return YES if self.value else NO
        return f"{self.value:.12g}" if isinstance(self.value, float) else str(self.value)


@dataclass(frozen=True, slots=True)
class MethodCard:
    """A method card; "" and () for fields that were left empty."""

    method: str = ""
    summary: str = ""
    paper: str = ""
    code: str = ""
    data: str = ""
    languages: tuple[str, ...] = ()
    answers: tuple[CardAnswer, ...] = ()

    @property
    def says_more(self) -> bool:
        """True if anything besides the method is given."""
        return self != MethodCard(method=self.method)

    def answer(self, name: str) -> CardAnswer | None:
        """Return the answer to the question with this name; None if there is none."""
        return next((one for one in self.answers if one.name == name), None)


def card_form(declared: Mapping[str, Any], languages: Sequence[str] = ()) -> CardForm:
    """Return the form of method cards. declared: `Competition.method_card`."""
    required = {CardPart(name) for name in declared.get("required", ())}
    return CardForm(
        required=tuple(part for part in CardPart if part in required),
        fields=tuple(
            CardField(**{**one, "kind": CardKind(one["kind"]), "choices": tuple(one["choices"])})
            for one in declared.get("fields", ())
        ),
        languages=tuple(languages),
    )


def card_of(document: Mapping[str, Any], form: CardForm) -> MethodCard:
    """Return the card in a stored document, without answers to removed questions."""
    answers = document.get("fields", {})
    return MethodCard(
        **{part: document.get(part, "") for part in CardPart if part is not CardPart.LANGUAGES},
        languages=tuple(document.get("languages", ())),
        answers=tuple(CardAnswer(one.name, one.title, answers[one.name]) for one in form.fields if one.name in answers),
    )


def card_from(document: Mapping[str, Any]) -> MethodCard:
    """Return the card in a document from `dataclasses.asdict`."""
    answers = tuple(CardAnswer(**one) for one in document["answers"])
    return MethodCard(**{**document, "languages": tuple(document["languages"]), "answers": answers})


def read_document(
    sent: Mapping[str, Any], form: CardForm, kept: Mapping[str, Any] | None = None
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the document to store, and a sentence for each invalid or missing field; answers are named `fields.NAME`.

    sent: `{"method", "summary", "paper", "code", "data", "languages": […], "fields": {…}}`, all optional; from forms,
    answers are texts.
    kept: the document to extend; its fields need not be sent again.
    """
    kept = kept or {}
    document: dict[str, Any] = {}
    wrong: dict[str, str] = _unknown(sent, [*CardPart, "fields"], "")
    for part, read in _PARTS.items():
        value, fault = read(sent.get(part), form)
        if fault or (part in form.required and not value and not kept.get(part)):
            wrong[part] = fault or "The organisers require this."
        elif value:
            document[part] = value
    answers = sent.get("fields") or {}
    if not isinstance(answers, Mapping):
        return document, {**wrong, "fields": "Send the answers as an object of field names and answers."}
    wrong |= _unknown(answers, [field.name for field in form.fields], "fields.")
    document["fields"] = {}
    for field in form.fields:
        value, fault = _answer(field, answers.get(field.name))
        if fault or (field.required and value is None and field.name not in kept.get("fields", {})):
            wrong[f"fields.{field.name}"] = fault or "The organisers require this."
        elif value is not None:
            document["fields"][field.name] = value
    if not document["fields"]:
        del document["fields"]
    return document, wrong


def _unknown(sent: Mapping[str, Any], known: Sequence[str], above: str) -> dict[str, str]:
    found = {}
    for name in sent:
        if name not in known:
            short = shorten(str(name))
            found[f"{above}{short}"] = f"There is no such field{did_you_mean(short, known)}; there are {listed(known)}."
    return found


# -------------------------------------------------------------------------------------------------- values of cards


def _line(value: Any, characters: int) -> _Read:
    text, fault = _text(value, characters)
    if not fault and any(character in "\n\t" or category(character) in ("Zl", "Zp") for character in text):
        return "", "Write one line."
    return text, fault


def _text(value: Any, characters: int = TEXT_CHARACTERS) -> _Read:
    """Return a validated text of several lines, with normalised line ends, and a problem or ""."""
    if value is None:
        return "", ""
    if not isinstance(value, str):
        return "", "Write text here."
    text = value.replace("\r\n", "\n").strip()
    if len(text) > characters:
        return "", f"At most {characters} characters; this has {len(text)}."
    # Cf is allowed: Persian and Hindi need its joiners.
    if any(category(character) in ("Cc", "Cs") and character not in "\n\t" for character in text):
        return "", "Control characters are not allowed."
    return text, ""


def link_fault(text: str) -> str:
    """Return a sentence on an invalid link; "" if it is valid or empty."""
    return _link(text)[1]


def _link(value: Any) -> _Read:
    text, fault = _line(value, LINK_CHARACTERS)
    if fault or not text:
        return text, fault
    try:
        parts = urlsplit(text)
        is_link = parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.username
        _ = parts.port  # may not be a number
    except ValueError:
        is_link = False
    if not is_link or any(character.isspace() or character in "<>\"'\\" for character in text):
        return "", "A link must begin with http:// or https:// and have no spaces."
    return text, ""


def _languages(value: Any, form: CardForm) -> _Read:
    if value is None or value == "":
        return [], ""
    if isinstance(value, str):
        value = value.replace(",", " ").split()
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        return [], "Send a list of languages."
    wanted = list(dict.fromkeys(one.strip() for one in value if one.strip()))
    known = {name.casefold(): name for name in form.languages}
    strange = [one for one in wanted if (known and one.casefold() not in known) or len(one) > LANGUAGE_CHARACTERS]
    if strange or not all(map(can_be_name, wanted)) or len(wanted) > LANGUAGES_LIMIT:
        there = f" there are {listed(form.languages)}." if known else " write codes such as en, pt."
        return [], f"{quoted((strange or wanted)[0])} is not a language of this task;{there}"
    found = {known.get(one.casefold(), one) for one in wanted}
    return ([one for one in form.languages if one in found] if known else wanted), ""


_PARTS: Mapping[CardPart, Callable[[Any, CardForm], _Read]] = {
    CardPart.METHOD: lambda value, _: _line(value, METHOD_CHARACTERS),
    CardPart.SUMMARY: lambda value, _: _text(value),
    CardPart.PAPER: lambda value, _: _link(value),
    CardPart.CODE: lambda value, _: _link(value),
    CardPart.DATA: lambda value, _: _text(value),
    CardPart.LANGUAGES: _languages,
}


def _answer(field: CardField, value: Any) -> _Read:
    """Return a validated answer, None if there is none, and a problem or ""."""
    if isinstance(value, str) and not value.strip():
        value = None
    if value is None:
        return None, ""
    return _ANSWERS[field.kind](field, value)


def _text_answer(field: CardField, value: Any) -> _Read:
    text, fault = _line(value, COLUMN_CHARACTERS) if field.on_board else _text(value)
    return text or None, fault


def _number(_: CardField, value: Any) -> _Read:
    found = finite_number(value.strip()) if isinstance(value, str) else value
    if isinstance(found, bool) or not isinstance(found, int | float) or not _is_kept(found):
        return None, f"{_quoted(value)} is not a number; write 350 or 3.5e8."
    return (int(found) if float(found).is_integer() and abs(found) < 2**53 else float(found)), ""


def _quoted(value: Any) -> str:
    """Return text that was sent in quotes, shortened; `This` for other values, which may have any size."""
    return repr(shorten(value)) if isinstance(value, str) else "This"


def _is_kept(number: float) -> bool:
    try:
        return math.isfinite(float(number))
    except OverflowError:
        return False


def _choice(field: CardField, value: Any) -> _Read:
    if value in field.choices:
        return value, ""
    hint = did_you_mean(value, field.choices) if isinstance(value, str) else ""
    return None, f"{_quoted(value)} is not one of the answers{hint}; choose from {listed(field.choices)}."


def _yes_no(_: CardField, value: Any) -> _Read:
    if isinstance(value, str):
        value = {YES: True, NO: False}.get(value.strip().lower())
    return (value, "") if isinstance(value, bool) else (None, f"Answer {YES} or {NO}.")


_ANSWERS: Mapping[CardKind, Callable[[CardField, Any], _Read]] = {
    CardKind.TEXT: _text_answer,
    CardKind.NUMBER: _number,
    CardKind.CHOICE: _choice,
    CardKind.YES_NO: _yes_no,
}
