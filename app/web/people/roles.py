"""The API of roles: organisers of a competition, and administrators, say who organises and who may judge there."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path

from app.base.db import reading, writing
from app.base.errors import NotFound
from app.competitions.find import organised
from app.competitions.organisers import limits_of
from app.competitions.owners import hand_over, take_role
from app.models import Role
from app.people.invitations import invite
from app.people.roles import find_user, grant_role, list_roles
from app.web.http.context import ServerHere
from app.web.http.errors import error_responses
from app.web.http.identity import ApiOrganiser
from app.web.http.paths import CompetitionName
from app.web.http.routers import api_router
from app.web.people.roles_schemas import (
    OwnerIn,
    OwnerOut,
    RoleInvitationIn,
    RoleInvitationOut,
    RoleList,
    RoleOut,
    role_out,
)

router = api_router("organising")

Username = Annotated[str, Path(examples=["grace"], description="a user name or an e-mail address")]


@router.get(
    "/competitions/{competition}/roles",
    operation_id="list_roles",
    summary="Who organises and who judges, for organisers",
    responses=error_responses(401, 403, 404),
)
def read_roles(server: ServerHere, user: ApiOrganiser, competition: CompetitionName) -> RoleList:
    with reading(server.engine) as session:
        found = organised(session, user, competition)
        return RoleList(roles=[role_out(row) for row in list_roles(session, found)])


@router.put(
    "/competitions/{competition}/roles/{role}/{username}",
    operation_id="grant_role",
    summary="Give somebody a role, for organisers",
    description="Giving it again changes nothing.",
    responses=error_responses(401, 403, 404, 422),
)
def put_role(
    server: ServerHere, user: ApiOrganiser, competition: CompetitionName, role: Role, username: Username
) -> RoleOut:
    with writing(server.engine) as session:
        found = organised(session, user, competition)
        theirs = find_user(session, username)
        grant_role(session, found, theirs, role, server.clock(), actor=user)
        rows = list_roles(session, found)
        return role_out(next(row for row in rows if (row.user_id, row.role) == (theirs.id, role)))


@router.delete(
    "/competitions/{competition}/roles/{role}/{username}",
    operation_id="revoke_role",
    summary="Take a role back, for organisers",
    description="An annotator without the role judges nothing any more; marks given before stay.",
    status_code=204,
    responses=error_responses(401, 403, 404, 409, 422),
)
def delete_role(
    server: ServerHere, user: ApiOrganiser, competition: CompetitionName, role: Role, username: Username
) -> None:
    with writing(server.engine) as session:
        found = organised(session, user, competition)
        theirs = find_user(session, username)
        if not take_role(session, found, theirs, role, by=user, now=server.clock()):
            raise NotFound(f"'{theirs.username}' has no role '{role}' in '{found.name}'.")


@router.put(
    "/competitions/{competition}/roles/owner",
    operation_id="hand_over_competition",
    summary="Hand a competition over to another organiser, for its owner",
    description="Its files, gold and number count in the quota of whoever owns it.",
    responses=error_responses(401, 403, 404, 409, 422),
)
def put_owner(server: ServerHere, user: ApiOrganiser, competition: CompetitionName, owner: OwnerIn) -> OwnerOut:
    with writing(server.engine) as session:
        found = organised(session, user, competition)
        limits = limits_of(server.settings)
        return OwnerOut(owner=hand_over(session, found, owner.owner, limits, by=user, now=server.clock()).username)


@router.post(
    "/competitions/{competition}/roles/invitations",
    operation_id="invite_to_role",
    summary="Invite somebody to a role by mail, for organisers",
    description="Whoever confirmed the address accepts on the page *Invitations*; again begins its 30 days anew.",
    status_code=201,
    responses=error_responses(401, 403, 404, 422),
)
def post_invitation(
    server: ServerHere, user: ApiOrganiser, competition: CompetitionName, invitation: RoleInvitationIn
) -> RoleInvitationOut:
    with writing(server.engine) as session:
        found = organised(session, user, competition)
        made = invite(
            session, found, invitation.whom, invitation.role, by=user, settings=server.settings, now=server.clock()
        )
        return RoleInvitationOut(role=invitation.role, address=made.address or "", expires_at=made.expires_at)
