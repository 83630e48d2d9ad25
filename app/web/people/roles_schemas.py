"""Roles in a competition, and invitations to them, in JSON."""

from __future__ import annotations

from pydantic import Field

from app.models import Competition, CompetitionRole, Right, Role, RoleInvitation
from app.web.http.schemas import ApiModel, Moment, example

_EXAMPLE = {"username": "grace", "role": "organiser", "rights": ["edit", "gold"], "granted_at": "2026-01-10T12:00:00Z"}


class RoleOut(ApiModel):
    """A role in a competition besides taking part; administrators need none. rights: of an organiser; the owner
    holds all."""

    model_config = example(_EXAMPLE)

    username: str
    role: Role
    rights: list[Right]
    granted_at: Moment


class RoleList(ApiModel):
    """Everybody with a role, organisers first."""

    model_config = example({"roles": [_EXAMPLE]})

    roles: list[RoleOut]


class RightsIn(ApiModel):
    """The new permissions of an organiser."""

    model_config = example({"rights": ["edit", "messages"]})

    rights: list[Right] = Field(min_length=1)


class RoleInvitationIn(ApiModel):
    """Whom to invite to what."""

    model_config = example({"whom": "grace@example.org", "role": "organiser", "rights": ["submissions", "gold"]})

    whom: str = Field(max_length=320, description="an e-mail address, or a user name")
    role: Role
    rights: list[Right] | None = Field(
        None, description="of an organiser: none that you lack; absent: all that you hold yourself"
    )


_INVITATION = {
    "id": 3,
    "role": "organiser",
    "rights": ["submissions", "gold"],
    "address": "grace@example.org",
    "invited_by": "olga",
    "expires_at": "2026-02-09T12:00:00Z",
}


class RoleInvitationOut(ApiModel):
    """An invitation that nobody has answered yet."""

    model_config = example(_INVITATION)

    id: int
    role: Role
    rights: list[Right] = Field(description="of an organiser")
    address: str = Field(description="empty: anybody with the secret link")
    invited_by: str | None = Field(description="a user name; null: on the server's command line")
    expires_at: Moment


class RoleInvitationList(ApiModel):
    """The newest first."""

    model_config = example({"invitations": [_INVITATION]})

    invitations: list[RoleInvitationOut]


_OWN = {
    "id": 3,
    "competition": "demo",
    "title": "Idiom shared task",
    "role": "organiser",
    "rights": ["submissions", "gold"],
    "invited_by": "olga",
    "expires_at": "2026-02-09T12:00:00Z",
}


class OwnInvitationOut(ApiModel):
    """An invitation to oneself."""

    model_config = example(_OWN)

    id: int
    competition: str
    title: str
    role: Role
    rights: list[Right] = Field(description="of an organiser")
    invited_by: str | None = Field(description="a user name; null: on the server's command line")
    expires_at: Moment


class OwnInvitationList(ApiModel):
    """The newest first."""

    model_config = example({"invitations": [_OWN]})

    invitations: list[OwnInvitationOut]


class AcceptedInvitation(ApiModel):
    """The competition and the role that were accepted."""

    model_config = example({"competition": "demo"})

    competition: str


class OwnerIn(ApiModel):
    """The new owner of a competition."""

    model_config = example({"owner": "grace"})

    owner: str = Field(max_length=320, description="a user name or an e-mail address, of one of its organisers")


class OwnerOut(OwnerIn):
    """The owner of a competition."""


def role_out(competition: Competition, row: CompetitionRole) -> RoleOut:
    """Return the role as an API model; its user must be loaded."""
    is_owner = row.role == Role.ORGANISER and row.user_id == competition.owner_id
    rights = [*Right] if is_owner else [Right(name) for name in row.rights.split()]
    return RoleOut(username=row.user.username, role=row.role, rights=rights, granted_at=row.granted_at)


def invitation_out(row: RoleInvitation) -> RoleInvitationOut:
    """Return the invitation as an API model; its sender must be loaded."""
    return RoleInvitationOut(
        id=row.id,
        role=row.role,
        rights=[Right(name) for name in row.rights.split()],
        address=row.address or "",
        invited_by=row.invited_by.username if row.invited_by else None,
        expires_at=row.expires_at,
    )


def own_invitation_out(row: RoleInvitation) -> OwnInvitationOut:
    """Return the invitation as an API model for its recipient; its sender and the competition must be loaded."""
    return OwnInvitationOut(
        id=row.id,
        competition=row.competition.name,
        title=row.competition.title,
        role=row.role,
        rights=[Right(name) for name in row.rights.split()],
        invited_by=row.invited_by.username if row.invited_by else None,
        expires_at=row.expires_at,
    )
