"""Who organises or judges in a competition."""

from __future__ import annotations

from pydantic import Field

from app.models import CompetitionRole, Role
from app.web.http.schemas import ApiModel, Moment, example

_EXAMPLE = {"username": "grace", "role": "organiser", "granted_at": "2026-01-10T12:00:00Z"}


class RoleOut(ApiModel):
    """What somebody may do in a competition besides taking part; administrators need no role."""

    model_config = example(_EXAMPLE)

    username: str
    role: Role
    granted_at: Moment


class RoleList(ApiModel):
    """Everybody with a role, organisers first."""

    model_config = example({"roles": [_EXAMPLE]})

    roles: list[RoleOut]


class RoleInvitationIn(ApiModel):
    """Whom to invite to what."""

    model_config = example({"whom": "grace@example.org", "role": "organiser"})

    whom: str = Field(max_length=320, description="an e-mail address, or a user name")
    role: Role


class RoleInvitationOut(ApiModel):
    """An invitation that nobody has answered yet."""

    model_config = example({"role": "organiser", "address": "grace@example.org", "expires_at": "2026-02-09T12:00:00Z"})

    role: Role
    address: str
    expires_at: Moment


class OwnerIn(ApiModel):
    """Who is to own a competition."""

    model_config = example({"owner": "grace"})

    owner: str = Field(max_length=320, description="a user name or an e-mail address, of one of its organisers")


class OwnerOut(OwnerIn):
    """Who owns it."""


def role_out(row: CompetitionRole) -> RoleOut:
    """The role; its user must be loaded."""
    return RoleOut(username=row.user.username, role=row.role, granted_at=row.granted_at)
