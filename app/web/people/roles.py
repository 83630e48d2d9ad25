"""The API of roles, for organisers and administrators: organisers and their rights, annotators, testers and guests."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query
from sqlalchemy.orm import Session

from app.base.db import writing
from app.base.errors import NotFound
from app.competitions.find import organised
from app.competitions.organisers import change_rights, give_role, hand_over, limits_of, needs_to_take, take_role
from app.models import Competition, Right, Role, User
from app.people.invitations import invite, open_invitations, take_back
from app.people.rights import ANY_RIGHT, find_user, list_roles
from app.people.views import RoleInvitationList, RoleInvitationOut, RoleList, RoleOut
from app.web.http.context import ServerHere
from app.web.http.errors import error_responses
from app.web.http.identity import ApiOrganiser
from app.web.http.paths import CompetitionName
from app.web.http.routers import api_router
from app.web.http.schemas import RowId
from app.web.http.visit import ApiOrganiserVisit
from app.web.people.schemas import OwnerIn, OwnerOut, RightsIn, RoleInvitationIn

router = api_router("organising")

PLACE = "/competitions/{competition}/roles"
Username = Annotated[str, Path(examples=["grace"], description="a user name or an e-mail address")]


@router.get(
    f"{PLACE}",
    operation_id="list_roles",
    summary="Organisers, annotators, testers and guests, for organisers",
    responses=error_responses(401, 403, 404),
)
def read_roles(visit: ApiOrganiserVisit, competition: CompetitionName) -> RoleList:
    found = organised(visit.session, visit.user, competition, ANY_RIGHT)
    return RoleList(roles=list_roles(visit.session, found))


@router.get(
    f"{PLACE}/invitations",
    operation_id="list_role_invitations",
    summary="Open invitations to a role, for organisers",
    responses=error_responses(401, 403, 404),
)
def read_invitations(visit: ApiOrganiserVisit, competition: CompetitionName) -> RoleInvitationList:
    found = organised(visit.session, visit.user, competition, Right.EDIT)
    return RoleInvitationList(invitations=open_invitations(visit.session, found, visit.now))


@router.post(
    f"{PLACE}/invitations",
    operation_id="invite_to_role",
    summary="Invite somebody to a role by mail, for organisers",
    description=(
        "The person can accept on the page *Invitations* within 30 days; inviting again restarts the 30 days. "
        "People without an account get a mail with a link to create one."
    ),
    status_code=201,
    responses=error_responses(401, 403, 404, 422, 429),
)
def post_invitation(
    server: ServerHere, user: ApiOrganiser, competition: CompetitionName, invitation: RoleInvitationIn
) -> RoleInvitationOut:
    with writing(server.engine) as session:
        return invite(
            server.act(session, user),
            organised(session, user, competition, Right.EDIT),
            invitation.whom,
            invitation.role,
            rights=invitation.rights,
        )


@router.delete(
    f"{PLACE}/invitations/{{invitation_id}}",
    operation_id="withdraw_role_invitation",
    summary="Cancel an invitation, for organisers",
    status_code=204,
    responses=error_responses(401, 403, 404, 422),
)
def delete_invitation(
    server: ServerHere, user: ApiOrganiser, competition: CompetitionName, invitation_id: RowId
) -> None:
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.EDIT)
        take_back(server.act(session, user), found, invitation_id)


@router.put(
    f"{PLACE}/owner",
    operation_id="hand_over_competition",
    summary="Hand a competition over to another organiser, for its owner",
    description="The competition, its files and its gold count against the quota of the owner, who has every right.",
    responses=error_responses(401, 403, 404, 409, 422),
)
def put_owner(server: ServerHere, user: ApiOrganiser, competition: CompetitionName, owner: OwnerIn) -> OwnerOut:
    with writing(server.engine) as session:
        found = organised(session, user, competition, ANY_RIGHT)
        limits = limits_of(server.settings)
        return OwnerOut(owner=hand_over(server.act(session, user), found, owner.owner, limits).username)


@router.put(
    f"{PLACE}/organiser/{{username}}/rights",
    operation_id="change_rights",
    summary="Set an organiser's rights, for the owner of a competition",
    responses=error_responses(401, 403, 404, 409, 422),
)
def put_rights(
    server: ServerHere, user: ApiOrganiser, competition: CompetitionName, username: Username, rights: RightsIn
) -> RoleOut:
    with writing(server.engine) as session:
        found = organised(session, user, competition, ANY_RIGHT)
        person = find_user(session, username)
        change_rights(server.act(session, user), found, person, rights.rights)
        return _role(session, found, person, Role.ORGANISER)


@router.put(
    f"{PLACE}/{{role}}/{{username}}",
    operation_id="grant_role",
    summary="Give somebody a role, for organisers",
    description="Giving it again changes nothing.",
    responses=error_responses(401, 403, 404, 422),
)
def put_role(
    server: ServerHere,
    user: ApiOrganiser,
    competition: CompetitionName,
    role: Role,
    username: Username,
    right: Annotated[
        list[Right] | None, Query(description="rights of an organiser, of those that you have; absent: all of them")
    ] = None,
) -> RoleOut:
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.EDIT)
        person = find_user(session, username)
        give_role(server.act(session, user), found, person, role, right)
        return _role(session, found, person, role)


@router.delete(
    f"{PLACE}/{{role}}/{{username}}",
    operation_id="revoke_role",
    summary="Revoke a role, for organisers; or leave",
    description=(
        "An annotator whose role is revoked can no longer judge; earlier marks stay. Organisers can give up their "
        "own role, unless they own the competition or are its last organiser."
    ),
    status_code=204,
    responses=error_responses(401, 403, 404, 409, 422),
)
def delete_role(
    server: ServerHere, user: ApiOrganiser, competition: CompetitionName, role: Role, username: Username
) -> None:
    with writing(server.engine) as session:
        found = organised(session, user, competition, needs_to_take(user, role, username))
        person = find_user(session, username)
        if not take_role(server.act(session, user), found, person, role):
            raise NotFound(f"'{person.username}' has no role '{role}' in '{found.name}'.")


def _role(session: Session, competition: Competition, user: User, role: Role) -> RoleOut:
    roles = list_roles(session, competition)
    return next(one for one in roles if (one.username, one.role) == (user.username, role))
