"""API schemas for registrations, consents, teams and offers to merge, for the API, pages and commands."""

from __future__ import annotations

from typing import Any, Self

from pydantic import AliasPath, ConfigDict, Field

from app.base import links
from app.base.answers import ApiModel, Moment, example
from app.models import Competition, RegistrationMode, RegistrationStatus
from app.teams.questions import Answer, QuestionKind, answers_to
from app.teams.registration import MISSING_WORDS, Missing, Standing

TERMS_SHA256 = "0f9d2c7e6a1b4c5d8e3f7a6b9c0d1e2f3a4b5c6d7e8f9a0b1c2d3e4f5a6b7c8d"
_REGISTRATION: dict[str, Any] = {
    "competition": "demo",
    "mode": "approval",
    "terms": "Use the data for research only.",
    "terms_sha256": TERMS_SHA256,
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
    "asks_to_publish": False,
    "page": "/competitions/demo/registration",
}
REGISTERED_EXAMPLE: dict[str, Any] = {
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
_TEAM: dict[str, Any] = {
    "competition": "demo",
    "name": "Idiomatics",
    "members": [
        {
            "username": "ada",
            "display_name": "Ada Lovelace",
            "is_captain": True,
            "joined_at": None,
            "orcid": "0000-0002-1825-0097",
        }
    ],
    "members_max": 5,
    "invitation_expires_at": "2026-01-17T12:00:00Z",
    "name_fixed_at": "2026-01-31T12:00:00Z",
    "page": "/competitions/demo/team",
}
_OFFER: dict[str, Any] = {
    "id": 3,
    "asking": "Idiomatics",
    "asked": "Proverbial",
    "asked_by": "Ada Lovelace",
    "asked_at": "2026-01-10T12:00:00Z",
}


class RegistrationQuestionOut(ApiModel):
    """A question to everybody who registers."""

    name: str
    title: str
    kind: QuestionKind
    choices: tuple[str, ...] = Field(description="with kind `choice`: the possible answers")
    required: bool = Field(description="whether an answer (or a tick) is needed to take part")
    help: str


class RegistrationOut(ApiModel):
    """The user's registration for a competition."""

    model_config = example(_REGISTRATION)

    competition: str
    mode: RegistrationMode = Field(description="who may take part")
    terms: str = Field(description="Markdown; empty: no terms")
    terms_sha256: str | None
    questions: list[RegistrationQuestionOut] = Field(description="questions for everybody who registers")
    answers: dict[str, Answer] = Field(description="your answers, by question; only you and the organisers see them")
    status: RegistrationStatus | None = Field(description="null: you have not registered")
    has_accepted_terms: bool = Field(description="whether you have accepted the current terms")
    missing: Missing | None = Field(description="what you still need to submit; null: nothing")
    message: str = Field(description="`missing` as a sentence; empty: nothing is missing")
    asks_to_publish: bool = Field(description="whether the organisers ask for consent to publish predictions")
    page: str

    @classmethod
    def of(cls, competition: Competition, standing: Standing) -> Self:
        """Return the API object of a user's registration, and what is missing."""
        rules, row, missing = standing.rules, standing.row, standing.missing
        return cls(
            competition=competition.name,
            mode=rules.mode,
            terms=rules.terms,
            terms_sha256=rules.terms_sha256,
            questions=[RegistrationQuestionOut.model_validate(one, from_attributes=True) for one in rules.questions],
            answers=answers_to(rules.questions, row.answers) if row else {},
            status=RegistrationStatus(row.status) if row else None,
            has_accepted_terms=standing.has_accepted,
            missing=missing,
            message=MISSING_WORDS[missing] if missing else "",
            asks_to_publish=rules.publish_predictions,
            page=links.registration(competition.name),
        )


class ConsentOut(ApiModel):
    """Consent to the publication of predictions in a competition."""

    model_config = example({"competition": "demo", "is_asked": True, "consents": True, "team_consents": False})

    competition: str
    is_asked: bool = Field(description="whether the organisers request consent to publish predictions")
    consents: bool = Field(description="your consent; you can revoke it at any time")
    team_consents: bool = Field(
        description="whether all members of your team consent, without which nothing is published"
    )


class RegisteredOut(ApiModel):
    """A person's registration, with the details for organisers."""

    model_config = example(REGISTERED_EXAMPLE) | ConfigDict(populate_by_name=True)

    username: str = Field(validation_alias=AliasPath("user", "username"))
    display_name: str = Field(validation_alias=AliasPath("user", "display_name"))
    email: str = Field(validation_alias=AliasPath("user", "email"))
    status: RegistrationStatus
    registered_at: Moment
    terms_accepted_at: Moment | None
    decided_at: Moment | None
    decided_by: str | None = Field(description="null: the competition's rule")
    answers: dict[str, Answer] = Field(description="by question")


class MemberOut(ApiModel):
    """A member of a team."""

    username: str
    display_name: str
    is_captain: bool
    joined_at: Moment | None = Field(description="null: since the team was founded")
    orcid: str | None = Field(description="the ORCID iD that the member shows; null: none")


class TeamOut(ApiModel):
    """A team."""

    model_config = example(_TEAM)

    competition: str
    name: str
    members: list[MemberOut] = Field(description="longest membership first")
    members_max: int | None = Field(description="null: no limit")
    invitation_expires_at: Moment | None = Field(description="end of the current link; null: there is none")
    name_fixed_at: Moment | None = Field(description="when the name can no longer be changed; null: not fixed yet")
    page: str

    @property
    def is_full(self) -> bool:
        """True if the team has reached its maximum size."""
        return self.members_max is not None and len(self.members) >= self.members_max


class MergeOfferOut(ApiModel):
    """An offer by one team to another; if accepted, all become members of the offering team."""

    model_config = example(_OFFER) | ConfigDict(populate_by_name=True)

    id: int
    asking: str = Field(validation_alias=AliasPath("asking", "name"), description="the team that remains")
    asked: str = Field(validation_alias=AliasPath("asked", "name"), description="the team that would join the other")
    asked_by: str = Field(
        validation_alias=AliasPath("user", "display_name"), description="display name of the sender of the offer"
    )
    asked_at: Moment


class MergingOut(ApiModel):
    """Offers without an answer."""

    model_config = example({"merge_until": "2026-01-31T12:00:00Z", "to_us": [_OFFER], "by_us": []})

    merge_until: Moment | None = Field(description="null: teams cannot merge in this competition")
    to_us: list[MergeOfferOut] = Field(description="offers to your team")
    by_us: list[MergeOfferOut] = Field(description="offers by your team")


class RegisteredList(ApiModel):
    """Everybody who has registered, in order of registration."""

    model_config = example({"registrations": [REGISTERED_EXAMPLE]})

    registrations: list[RegisteredOut]


class InvitationOut(ApiModel):
    """A new link, which is shown only once."""

    model_config = example(
        {
            "link": "https://evergold.example/competitions/demo/team/join?link=Zk3qX0w9r7",
            "expires_at": "2026-01-17T12:00:00Z",
        }
    )

    link: str = Field(description="secret link with which anybody may join, until it expires or the team is full")
    expires_at: Moment
