"""Requests of the API: registrations, decisions of organisers, and teams."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from app.base.answers import ApiModel, example
from app.models import RegistrationStatus
from app.teams.views import TERMS_SHA256


class RegistrationRequest(ApiModel):
    """The data of a registration."""

    model_config = example(
        {
            "accepted_terms_sha256": TERMS_SHA256,
            "answers": {"affiliation": "A university"},
            "code": "",
            "consents_to_publication": None,
        }
    )

    accepted_terms_sha256: str | None = Field(
        None,
        max_length=64,
        description="`terms_sha256` of the terms that you accept, if there are terms",
    )
    answers: dict[str, Any] | None = Field(
        None,
        description=(
            "all answers, by question: a text, one of its `choices`, or `true` for a tick. Absent: your previous "
            "answers"
        ),
    )
    code: str = Field("", max_length=200, description="the organisers' code, for the mode `code`")
    consents_to_publication: bool | None = Field(
        None,
        description=(
            "whether you consent to the publication of your predictions, if the organisers request it; absent: "
            "unchanged"
        ),
    )


class JoiningCodeOut(ApiModel):
    """A new joining code, which is shown only once."""

    model_config = example({"code": "7KQM-3XPD-9RTA"})

    code: str


class RegistrationDecision(ApiModel):
    """The organisers' decision on a registration."""

    model_config = example({"status": "approved"})

    status: Literal[RegistrationStatus.APPROVED, RegistrationStatus.REFUSED]


class RegistrationDecisions(ApiModel):
    """The organisers' decision on several registrations."""

    model_config = example({"usernames": ["ada", "grace"], "status": "approved"})

    usernames: list[Annotated[str, Field(max_length=320)]] = Field(
        min_length=1, max_length=1000, description="user names or e-mail addresses"
    )
    status: Literal[RegistrationStatus.APPROVED, RegistrationStatus.REFUSED]


class TeamName(ApiModel):
    """The name of a team."""

    model_config = example({"name": "Idiomatics"})

    name: str = Field(description="1 to 100 printable characters")


class TeamCaptain(ApiModel):
    """The new captain of a team."""

    model_config = example({"username": "grace"})

    username: str


class JoinRequest(ApiModel):
    """The secret of an invitation to a team."""

    model_config = example({"invitation": "https://evergold.example/competitions/demo/team/join?link=Zk3qX0w9r7"})

    invitation: str = Field(max_length=500, description="the link, or the part after `link=` in it")


class MergeQuestion(ApiModel):
    """The name of the team to merge with."""

    model_config = example({"team": "Proverbial"})

    team: str = Field(description="its name")
