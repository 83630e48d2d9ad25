"""Teams as their members see them, and registrations, in JSON."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from app.base import links
from app.base.answers import ApiModel, Moment, example
from app.models import Competition, Registration, RegistrationMode, RegistrationStatus
from app.teams.find import TeamView
from app.teams.merge_offers import Offers
from app.teams.questions import Answer, Question, QuestionKind, answers_to
from app.teams.registration import MISSING_WORDS, Missing, Standing

_TERMS_SHA256 = "0f9d2c7e6a1b4c5d8e3f7a6b9c0d1e2f3a4b5c6d7e8f9a0b1c2d3e4f5a6b7c8d"
_REGISTRATION = {
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

    model_config = example(_REGISTRATION)

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


_EXAMPLE = {
    "competition": "demo",
    "name": "Idiomatics",
    "members": [{"username": "ada", "display_name": "Ada Lovelace", "is_captain": True, "joined_at": None}],
    "members_max": 5,
    "invitation_expires_at": "2026-01-17T12:00:00Z",
    "name_fixed_at": "2026-01-31T12:00:00Z",
    "page": "/competitions/demo/team",
}
_OFFER_EXAMPLE = {
    "id": 3,
    "asking": "Idiomatics",
    "asked": "Proverbial",
    "asked_by": "Ada Lovelace",
    "asked_at": "2026-01-10T12:00:00Z",
}


class MemberOut(ApiModel):
    """A member of a team."""

    username: str
    display_name: str
    is_captain: bool
    joined_at: Moment | None = Field(description="null: from the beginning")


class TeamOut(ApiModel):
    """A team."""

    model_config = example(_EXAMPLE)

    competition: str
    name: str
    members: list[MemberOut] = Field(description="who has been there longest comes first")
    members_max: int | None = Field(description="null: no limit")
    invitation_expires_at: Moment | None = Field(description="of the link that works now; null: there is none")
    name_fixed_at: Moment | None = Field(description="from then on the name stays; null: nothing fixes it yet")
    page: str


class TeamName(ApiModel):
    """The name of a team."""

    model_config = example({"name": "Idiomatics"})

    name: str = Field(description="1 to 100 printable characters")


class TeamCaptain(ApiModel):
    """The new captain of a team."""

    model_config = example({"username": "grace"})

    username: str


class JoinRequest(ApiModel):
    """The invitation to a team."""

    model_config = example({"invitation": "https://evergold.example/competitions/demo/team/join?link=Zk3qX0w9r7"})

    invitation: str = Field(max_length=500, description="the link, or what stands behind `link=` in it")


class MergeQuestion(ApiModel):
    """The team to merge with."""

    model_config = example({"team": "Proverbial"})

    team: str = Field(description="its name")


class MergeOfferOut(ApiModel):
    """An offer by one team to another; if accepted, everybody becomes a member of the offering team."""

    model_config = example(_OFFER_EXAMPLE)

    id: int
    asking: str = Field(description="the team that will stay")
    asked: str = Field(description="the team that would join it")
    asked_by: str = Field(description="the sender of the offer, by display name")
    asked_at: Moment


class MergingOut(ApiModel):
    """Offers that have not been answered."""

    model_config = example({"merge_until": "2026-01-31T12:00:00Z", "to_us": [_OFFER_EXAMPLE], "by_us": []})

    merge_until: Moment | None = Field(description="null: teams do not merge in this competition")
    to_us: list[MergeOfferOut] = Field(description="offers to your team")
    by_us: list[MergeOfferOut] = Field(description="offers by your team")


class InvitationOut(ApiModel):
    """A new link, shown this once."""

    model_config = example(
        {
            "link": "https://evergold.example/competitions/demo/team/join?link=Zk3qX0w9r7",
            "expires_at": "2026-01-17T12:00:00Z",
        }
    )

    link: str = Field(description="anybody with the link may join, until it ends or the team is full")
    expires_at: Moment


def team_out(view: TeamView) -> TeamOut:
    """Return a team as an API model for its members."""
    return TeamOut(
        competition=view.competition,
        name=view.team.name,
        members=[
            MemberOut(
                username=one.user.username,
                display_name=one.user.display_name,
                is_captain=one.user_id == view.captain_id,
                joined_at=one.joined_at,
            )
            for one in view.members
        ],
        members_max=view.members_max,
        invitation_expires_at=view.invitation.expires_at if view.invitation else None,
        name_fixed_at=view.name_fixed_at,
        page=links.team(view.competition),
    )


def merging_out(offers: Offers) -> MergingOut:
    """Return merge offers as an API model for the members of a team."""
    to_us, by_us = (
        [
            MergeOfferOut(
                id=one.id,
                asking=one.asking.name,
                asked=one.asked.name,
                asked_by=one.user.display_name,
                asked_at=one.asked_at,
            )
            for one in side
        ]
        for side in (offers.to_us, offers.by_us)
    )
    return MergingOut(merge_until=offers.until, to_us=to_us, by_us=by_us)
