"""The API of roles: organisers of a competition, and administrators, say who organises and who may judge there."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path

from app.base.db import reading, writing
from app.base.errors import NotFound
from app.competitions.find import organised
from app.models import Role
from app.people.roles import find_user, grant_role, list_roles, revoke_role
from app.web.http.context import ServerHere
from app.web.http.errors import error_responses
from app.web.http.identity import ApiOrganiser
from app.web.http.paths import CompetitionName
from app.web.http.routers import api_router
from app.web.people.roles_schemas import RoleList, RoleOut, role_out

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
    responses=error_responses(401, 403, 404, 422),
)
def delete_role(
    server: ServerHere, user: ApiOrganiser, competition: CompetitionName, role: Role, username: Username
) -> None:
    with writing(server.engine) as session:
        found = organised(session, user, competition)
        theirs = find_user(session, username)
        if not revoke_role(session, found, theirs, role, server.clock(), actor=user):
            raise NotFound(f"'{theirs.username}' has no role '{role}' in '{found.name}'.")
