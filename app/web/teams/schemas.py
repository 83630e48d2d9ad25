"""Teams as their members see them, in JSON."""

from __future__ import annotations

from pydantic import Field

from app.base import links
from app.teams.find import TeamView
from app.teams.merge_offers import Offers
from app.web.http.schemas import ApiModel, Moment, example

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
