"""Registrations for a competition in JSON, for participants and organisers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from app.base import links
from app.models import Competition, Registration, RegistrationMode, RegistrationStatus
from app.teams.questions import Answer, Question, QuestionKind, answers_to
from app.teams.registration import MISSING_WORDS, Missing, Standing
from app.web.http.schemas import ApiModel, Moment, example

_TERMS_SHA256 = "0f9d2c7e6a1b4c5d8e3f7a6b9c0d1e2f3a4b5c6d7e8f9a0b1c2d3e4f5a6b7c8d"
_EXAMPLE = {
    "competition": "demo",
    "mode": "approval",
    "terms": "Use the data for research only.",
    "terms_sha256": _TERMS_SHA256,
    "questions": [
        {
            "name": "affiliation",
            "title": "Affiliation",
            "kind": "text",
            "choices": [],
            "required": True,
            "help": "University, institute, company; or none.",
        }
    ],
    "answers": {"affiliation": "A university"},
    "status": "pending",
    "has_accepted_terms": True,
    "missing": "approval",
    "message": "The organisers have not answered your registration yet; you will get a mail when they have.",
    "page": "/competitions/demo/registration",
}
_EXAMPLE_LISTED = {
    "username": "ada",
    "display_name": "Ada Lovelace",
    "email": "ada@example.org",
    "status": "pending",
    "registered_at": "2026-01-10T12:00:00Z",
    "terms_accepted_at": "2026-01-10T12:00:00Z",
    "decided_at": None,
    "decided_by": None,
    "answers": {"affiliation": "A university"},
}


class RegistrationQuestionOut(ApiModel):
    """A question to everybody who registers."""

    name: str
    title: str
    kind: QuestionKind
    choices: tuple[str, ...] = Field(description="with kind `choice`: the answers there are")
    required: bool = Field(description="whether nobody takes part without an answer; of a tick: unless it is ticked")
    help: str


class RegistrationOut(ApiModel):
    """Your registration in a competition."""

    model_config = example(_EXAMPLE)

    competition: str
    mode: RegistrationMode = Field(description="who may take part")
    terms: str = Field(description="Markdown; empty: there is nothing to accept")
    terms_sha256: str | None
    questions: list[RegistrationQuestionOut] = Field(description="questions to everybody who registers")
    answers: dict[str, Answer] = Field(description="yours, by question; only organisers see them besides you")
    status: RegistrationStatus | None = Field(description="null: you have not registered")
    has_accepted_terms: bool = Field(description="as they are now")
    missing: Missing | None = Field(description="what stands between you and a submission; null: nothing")
    message: str = Field(description="the same in words; empty: nothing")
    page: str


class RegistrationRequest(ApiModel):
    """The data of a registration."""

    model_config = example({"accepted_terms_sha256": _TERMS_SHA256, "answers": {"affiliation": "A university"}})

    accepted_terms_sha256: str | None = Field(
        None,
        max_length=64,
        description="the `terms_sha256` of the terms that you have read and accept, if there are any",
    )
    answers: dict[str, Any] | None = Field(
        None,
        description="by question: a text, one of its `choices`, or `true` for a tick; all of them at once. Absent: "
        "those that you gave before",
    )


class RegisteredOut(ApiModel):
    """Somebody's registration, as organisers see it."""

    model_config = example(_EXAMPLE_LISTED)

    username: str
    display_name: str
    email: str
    status: RegistrationStatus
    registered_at: Moment
    terms_accepted_at: Moment | None
    decided_at: Moment | None
    decided_by: str | None = Field(description="null: the competition's own rule")
    answers: dict[str, Answer] = Field(description="by question")


class RegisteredList(ApiModel):
    """Everybody who has registered, in the order in which they came."""

    model_config = example({"registrations": [_EXAMPLE_LISTED]})

    registrations: list[RegisteredOut]


class RegistrationDecision(ApiModel):
    """The organisers' answer."""

    model_config = example({"status": "approved"})

    status: Literal[RegistrationStatus.APPROVED, RegistrationStatus.REFUSED]


class RegistrationDecisions(ApiModel):
    """The organisers' answer to several."""

    model_config = example({"usernames": ["ada", "grace"], "status": "approved"})

    usernames: list[Annotated[str, Field(max_length=320)]] = Field(
        min_length=1, max_length=1000, description="user names or e-mail addresses"
    )
    status: Literal[RegistrationStatus.APPROVED, RegistrationStatus.REFUSED]


def registration_out(competition: Competition, standing: Standing) -> RegistrationOut:
    """Return a user's registration status as an API model."""
    return RegistrationOut(
        competition=competition.name,
        mode=standing.rules.mode,
        terms=standing.rules.terms,
        terms_sha256=standing.rules.terms_sha256,
        questions=[registration_question_out(question) for question in standing.rules.questions],
        answers=answers_to(standing.rules.questions, standing.row.answers) if standing.row else {},
        status=RegistrationStatus(standing.row.status) if standing.row else None,
        has_accepted_terms=standing.has_accepted,
        missing=standing.missing,
        message=MISSING_WORDS[standing.missing] if standing.missing else "",
        page=links.registration(competition.name),
    )


def registration_question_out(question: Question) -> RegistrationQuestionOut:
    """Return a question as an API model, as declared."""
    return RegistrationQuestionOut(
        name=question.name,
        title=question.title,
        kind=question.kind,
        choices=question.choices,
        required=question.required,
        help=question.help,
    )


def registered_out(row: Registration) -> RegisteredOut:
    """Return a registration as an API model for organisers; its user must be loaded."""
    return RegisteredOut(
        username=row.user.username,
        display_name=row.user.display_name,
        email=row.user.email,
        status=RegistrationStatus(row.status),
        registered_at=row.registered_at,
        terms_accepted_at=row.terms_accepted_at,
        decided_at=row.decided_at,
        decided_by=row.decided_by,
        answers=row.answers,
    )
