"""Who organises or judges in a competition."""

from __future__ import annotations

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


def role_out(row: CompetitionRole) -> RoleOut:
    """The role; its user must be loaded."""
    return RoleOut(username=row.user.username, role=row.role, granted_at=row.granted_at)
