"""The API of the user's own team in a competition: members, invitation, merging with another team."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Request
from sqlalchemy.orm import Session

from app.base import links
from app.base.db import writing
from app.base.errors import NotFound
from app.competitions.find import find_competition
from app.models import User
from app.submissions.merging import accept_merge
from app.teams.find import find_team, view_team
from app.teams.membership import (
    create_team,
    find_invitation,
    invite,
    join_team,
    leave_team,
    remove_member,
    rename_team,
    revoke_invitation,
    transfer_team,
)
from app.teams.merge_offers import ask_to_merge, end_offer, offers_of_user
from app.teams.views import InvitationOut, MergingOut, TeamOut
from app.web.http.context import Server, ServerHere, public_address
from app.web.http.errors import error_responses
from app.web.http.identity import ApiSubmitter
from app.web.http.paths import CompetitionName
from app.web.http.routers import api_router
from app.web.http.schemas import RowId
from app.web.http.visit import ApiUserVisit
from app.web.teams.schemas import JoinRequest, MergeQuestion, TeamCaptain, TeamName

router = api_router("taking part")

PLACE = "/competitions/{competition}/team/merging"
OfferId = Annotated[RowId, Path(examples=[3])]


@router.get(
    PLACE,
    operation_id="list_merge_offers",
    summary="Open offers to merge, from and to your team",
    responses=error_responses(401, 404),
)
def read_offers(visit: ApiUserVisit, competition: CompetitionName) -> MergingOut:
    return offers_of_user(visit.session, find_competition(visit.session, competition), visit.user, visit.now)


@router.post(
    PLACE,
    operation_id="ask_to_merge",
    summary="Offer a merge to another team, for the captain",
    description="Nothing changes until the other captain accepts. 409 `no_merging` after the date, or once declined.",
    status_code=201,
    responses=error_responses(401, 403, 404, 409, 413, 422),
)
def post_offer(server: ServerHere, user: ApiSubmitter, competition: CompetitionName, form: MergeQuestion) -> MergingOut:
    with writing(server.engine) as session:
        act = server.act(session, user)
        found = find_competition(session, competition)
        ask_to_merge(act, found, form.team)
        return offers_of_user(session, found, user, act.now)


@router.post(
    f"{PLACE}/{{offer_id}}/acceptance",
    operation_id="accept_merge",
    summary="Accept another team's offer to merge, for the captain",
    description=(
        "All its members and submissions move to the offering team; this cannot be undone. 409 `no_merging` if both "
        "together have submitted more than one team could have by now, `team_full` if the merged team would have "
        "too many members."
    ),
    status_code=204,
    responses=error_responses(401, 403, 404, 409, 422),
)
def post_acceptance(server: ServerHere, user: ApiSubmitter, competition: CompetitionName, offer_id: OfferId) -> None:
    with writing(server.engine) as session:
        found = find_competition(session, competition)
        accept_merge(server.act(session, user), found, offer_id)


@router.delete(
    f"{PLACE}/{{offer_id}}",
    operation_id="end_merge_offer",
    summary="Decline an offer to merge, or withdraw your own, for the captain",
    description="A team that declined gets no second offer from the same team, but may make one itself.",
    status_code=204,
    responses=error_responses(401, 403, 404, 422),
)
def delete_offer(server: ServerHere, user: ApiSubmitter, competition: CompetitionName, offer_id: OfferId) -> None:
    with writing(server.engine) as session:
        end_offer(server.act(session, user), find_competition(session, competition), offer_id)


TEAM = "/competitions/{competition}/team"
Member = Annotated[str, Path(examples=["grace"], description="a member's user name")]


@router.get(
    TEAM,
    operation_id="get_team",
    summary="Your team in a competition",
    description="404 if you have none: your first upload creates a team of one.",
    responses=error_responses(401, 404),
)
def read_team(visit: ApiUserVisit, competition: CompetitionName) -> TeamOut:
    return _team(visit.session, visit.server, visit.user, competition)


@router.post(
    TEAM,
    operation_id="create_team",
    summary="Found a team",
    status_code=201,
    responses=error_responses(401, 403, 404, 409, 413, 422),
)
def post_team(server: ServerHere, user: ApiSubmitter, competition: CompetitionName, form: TeamName) -> TeamOut:
    with writing(server.engine) as session:
        create_team(server.act(session, user), find_competition(session, competition), form.name)
        return _team(session, server, user, competition)


@router.delete(
    TEAM,
    operation_id="leave_team",
    summary="Leave your team",
    description="Submissions stay with the team, and still count against your quota.",
    status_code=204,
    responses=error_responses(401, 403, 404),
)
def delete_team(server: ServerHere, user: ApiSubmitter, competition: CompetitionName) -> None:
    with writing(server.engine) as session:
        leave_team(server.act(session, user), find_competition(session, competition))


@router.put(
    f"{TEAM}/name",
    operation_id="rename_team",
    summary="Give your team another name, for its captain",
    description="409 `names_fixed` once official results have the name, or after the organisers' date.",
    responses=error_responses(401, 403, 404, 409, 413, 422),
)
def put_name(server: ServerHere, user: ApiSubmitter, competition: CompetitionName, form: TeamName) -> TeamOut:
    with writing(server.engine) as session:
        rename_team(server.act(session, user), find_competition(session, competition), form.name)
        return _team(session, server, user, competition)


@router.put(
    f"{TEAM}/captain",
    operation_id="transfer_team",
    summary="Make another member the captain, for the captain",
    responses=error_responses(401, 403, 404, 413, 422),
)
def put_captain(server: ServerHere, user: ApiSubmitter, competition: CompetitionName, form: TeamCaptain) -> TeamOut:
    with writing(server.engine) as session:
        transfer_team(server.act(session, user), find_competition(session, competition), form.username)
        return _team(session, server, user, competition)


@router.post(
    f"{TEAM}/members",
    operation_id="join_team",
    summary="Join the team that invites you",
    description="If you are alone in another team, you leave it. Quota that you have used then counts for the team.",
    responses=error_responses(401, 403, 404, 409, 413, 422),
)
def post_member(server: ServerHere, user: ApiSubmitter, competition: CompetitionName, form: JoinRequest) -> TeamOut:
    with writing(server.engine) as session:
        act = server.act(session, user)
        found = find_competition(session, competition)
        join_team(act, found, find_invitation(session, found, form.invitation, act.now))
        return _team(session, server, user, competition)


@router.delete(
    f"{TEAM}/members/{{username}}",
    operation_id="remove_team_member",
    summary="Remove a member, for the captain",
    description="The open invitation ends as well, since the removed member may know it.",
    status_code=204,
    responses=error_responses(401, 403, 404, 422),
)
def delete_member(server: ServerHere, user: ApiSubmitter, competition: CompetitionName, username: Member) -> None:
    with writing(server.engine) as session:
        remove_member(server.act(session, user), find_competition(session, competition), username)


@router.post(
    f"{TEAM}/invitation",
    operation_id="invite_to_team",
    summary="Create a link that invites to your team, for its captain",
    description="Replaces the previous link. Anybody with the link may join, until it expires or the team is full.",
    status_code=201,
    responses=error_responses(401, 403, 404, 409),
)
def post_invitation(
    request: Request, server: ServerHere, user: ApiSubmitter, competition: CompetitionName
) -> InvitationOut:
    with writing(server.engine) as session:
        found = find_competition(session, competition)
        invitation, secret = invite(server.act(session, user), found)
        link = public_address(request, server, links.join_team(found.name, secret))
        return InvitationOut(link=link, expires_at=invitation.expires_at)


@router.delete(
    f"{TEAM}/invitation",
    operation_id="revoke_invitation",
    summary="End the link that invites to your team, for its captain",
    status_code=204,
    responses=error_responses(401, 403, 404),
)
def delete_invitation(server: ServerHere, user: ApiSubmitter, competition: CompetitionName) -> None:
    with writing(server.engine) as session:
        revoke_invitation(server.act(session, user), find_competition(session, competition))


def _team(session: Session, server: Server, user: User, competition: str) -> TeamOut:
    found = find_competition(session, competition)
    team = find_team(session, user, found.id)
    if team is None:
        raise NotFound("You have no team in this competition.")
    return view_team(session, found, team, server.clock())
