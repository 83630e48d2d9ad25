"""The API of the user's own role invitations: those sent to their confirmed address."""

from __future__ import annotations

from app.base.db import reading, writing
from app.people.invitations import answer, own_invitations
from app.web.http.context import ServerHere
from app.web.http.errors import error_responses
from app.web.http.identity import ApiOrganiser, ApiUser
from app.web.http.routers import api_router
from app.web.http.schemas import RowId
from app.web.people.roles_schemas import AcceptedInvitation, OwnInvitationList, own_invitation_out

router = api_router("accounts")

PLACE = "/me/invitations"


@router.get(
    PLACE,
    operation_id="list_own_invitations",
    summary="Invitations to a role that wait for my answer",
    description="To the address that you have confirmed, and to no other.",
    responses=error_responses(401, 403),
)
def read_own_invitations(server: ServerHere, user: ApiUser) -> OwnInvitationList:
    with reading(server.engine) as session:
        found = own_invitations(session, user, server.clock())
        return OwnInvitationList(invitations=[own_invitation_out(one) for one in found])


@router.post(
    f"{PLACE}/{{invitation_id}}/accept",
    operation_id="accept_invitation",
    summary="Accept an invitation to a role",
    responses=error_responses(401, 403, 404, 422),
)
def post_acceptance(server: ServerHere, user: ApiOrganiser, invitation_id: RowId) -> AcceptedInvitation:
    with writing(server.engine) as session:
        competition = answer(session, user, invitation_id, True, server.clock())
        return AcceptedInvitation(competition=competition.name)


@router.post(
    f"{PLACE}/{{invitation_id}}/decline",
    operation_id="decline_invitation",
    summary="Decline an invitation to a role",
    status_code=204,
    responses=error_responses(401, 403, 404, 422),
)
def post_refusal(server: ServerHere, user: ApiOrganiser, invitation_id: RowId) -> None:
    with writing(server.engine) as session:
        answer(session, user, invitation_id, False, server.clock())
