"""API schemas for accounts: tokens, mail preferences, roles, invitations and audit entries."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field

from app.base.answers import ApiModel, Moment, example
from app.models import ApiToken, Competition, CompetitionRole, Pace, Right, Role, RoleInvitation, TokenScope, User

TOKEN_EXAMPLE: dict[str, Any] = {
    "id": 7,
    "name": "laptop",
    "prefix": "evg_Zk3q",
    "scopes": ["read", "submit"],
    "created_at": "2026-01-10T12:00:00Z",
    "expires_at": "2027-01-10T12:00:00Z",
    "last_used_at": None,
}
ROLE_EXAMPLE: dict[str, Any] = {
    "username": "grace",
    "role": "organiser",
    "rights": ["edit", "gold"],
    "granted_at": "2026-01-10T12:00:00Z",
}
INVITATION_EXAMPLE: dict[str, Any] = {
    "id": 3,
    "role": "organiser",
    "rights": ["submissions", "gold"],
    "address": "grace@example.org",
    "invited_by": "olga",
    "expires_at": "2026-02-09T12:00:00Z",
}
OWN_INVITATION_EXAMPLE: dict[str, Any] = {
    "id": 3,
    "competition": "demo",
    "title": "Idiom shared task",
    "role": "organiser",
    "rights": ["submissions", "gold"],
    "invited_by": "olga",
    "expires_at": "2026-02-09T12:00:00Z",
}


class Account(ApiModel):
    """An account as its owner sees it."""

    model_config = example(
        {
            "username": "ada",
            "email": "ada@example.org",
            "email_confirmed": True,
            "display_name": "Ada Lovelace",
            "is_administrator": False,
            "created_at": "2026-01-10T12:00:00Z",
        }
    )

    username: str
    email: str
    email_confirmed: bool = Field(description="whether the address is confirmed")
    display_name: str
    is_administrator: bool
    created_at: Moment


class Token(ApiModel):
    """An API token without its secret."""

    model_config = example(TOKEN_EXAMPLE)

    id: int
    name: str
    prefix: str = Field(description="the first characters of the secret, to recognise the token")
    scopes: list[TokenScope]
    created_at: Moment
    expires_at: Moment | None = Field(description="null: never (only old tokens)")
    last_used_at: Moment | None = Field(description="time of the last use, to the minute")

    @classmethod
    def of(cls, token: ApiToken) -> Token:
        """Return the token, with its scopes in the order of `TokenScope`."""
        held = token.scopes.split()
        return Token(
            id=token.id,
            name=token.name,
            prefix=token.prefix,
            scopes=[scope for scope in TokenScope if scope in held],
            created_at=token.created_at,
            expires_at=token.expires_at,
            last_used_at=token.last_used_at,
        )


class NewToken(Token):
    """A new token with its secret, which is shown only once."""

    model_config = example(
        {**TOKEN_EXAMPLE, "username": "ada", "secret": "evg_Zk3qX0w9r7uV6tS5dF4gH3jK2lM1nB8vC7xZ6aS5dF4"}
    )

    username: str = Field(description="user name of the owner")
    secret: str = Field(description="send it as `Authorization: Bearer evg_…`")


class MailChoices(ApiModel):
    """Mails that users can choose; those about the account itself are always sent."""

    model_config = example(
        {"announcements": True, "results": False, "announcements_pace": "daily", "results_pace": "at_once"}
    )

    announcements: bool = Field(description="announcements of the organisers of your competitions")
    results: bool = Field(description="when a submission of yours was scored, rejected, or failed")
    announcements_pace: Pace = Field(
        Pace.AT_ONCE, description="each at once, or one mail per day or week; if a phase closes soon, always at once"
    )
    results_pace: Pace = Field(Pace.AT_ONCE, description="likewise")


class AuditEntryOut(ApiModel):
    """One action of an organiser or administrator; it never changes."""

    id: int
    at: Moment
    actor: str = Field(description="a user name, or the part of the server that acted, such as the command line")
    action: str = Field(description="`thing.deed`")
    subject: str = Field(description="the object of the action")
    details: dict[str, Any]
    request_id: str | None = Field(description="ID of the request, as in the log; null: not a request")


class RoleOut(ApiModel):
    """A role in a competition other than participant; administrators need none. rights: of an organiser; the owner has
    all.
    """

    model_config = example(ROLE_EXAMPLE)

    username: str
    role: Role
    rights: list[Right]
    granted_at: Moment

    @classmethod
    def of(cls, row: CompetitionRole, competition: Competition) -> Self:
        """Return the role; its user must be loaded."""
        is_owner = row.role == Role.ORGANISER and row.user_id == competition.owner_id
        rights = [*Right] if is_owner else [Right(name) for name in row.rights.split()]
        return cls(username=row.user.username, role=row.role, rights=rights, granted_at=row.granted_at)


class RoleInvitationOut(ApiModel):
    """An open invitation to a role."""

    model_config = example(INVITATION_EXAMPLE)

    id: int
    role: Role
    rights: list[Right] = Field(description="of an organiser")
    address: str = Field(description="empty: anybody with the secret link")
    invited_by: str | None = Field(description="a user name; null: on the server's command line")
    expires_at: Moment

    @classmethod
    def of(cls, row: RoleInvitation, invited_by: User | None) -> Self:
        """Return the invitation."""
        return cls(
            id=row.id,
            role=row.role,
            rights=[Right(name) for name in row.rights.split()],
            address=row.address or "",
            invited_by=invited_by.username if invited_by else None,
            expires_at=row.expires_at,
        )


class OwnInvitationOut(ApiModel):
    """An invitation of the user."""

    model_config = example(OWN_INVITATION_EXAMPLE)

    id: int
    competition: str
    title: str
    role: Role
    rights: list[Right] = Field(description="of an organiser")
    invited_by: str | None = Field(description="a user name; null: on the server's command line")
    expires_at: Moment

    @classmethod
    def of(cls, row: RoleInvitation) -> Self:
        """Return the invitation for its recipient; its sender and the competition must be loaded."""
        return cls(
            id=row.id,
            competition=row.competition.name,
            title=row.competition.title,
            role=row.role,
            rights=[Right(name) for name in row.rights.split()],
            invited_by=row.invited_by.username if row.invited_by else None,
            expires_at=row.expires_at,
        )


class TokenList(ApiModel):
    """The tokens of an account that were not revoked, newest first."""

    model_config = example({"tokens": [TOKEN_EXAMPLE]})

    tokens: list[Token]


class AuditLog(ApiModel):
    """Entries of the audit log, newest first."""

    model_config = example(
        {
            "entries": [
                {
                    "id": 17,
                    "at": "2026-01-10T12:00:00Z",
                    "actor": "grace",
                    "action": "run.queue_again",
                    "subject": "run 4711",
                    "details": {},
                    "request_id": "0b9f6c1d2e3a4b5c",
                }
            ],
            "next": "/api/v1/audit?limit=1&before=17",
        }
    )

    entries: list[AuditEntryOut]
    next: str | None = Field(description="address of older entries; null: these are the oldest")


class RoleList(ApiModel):
    """Everybody with a role, sorted by role, organisers first."""

    model_config = example({"roles": [ROLE_EXAMPLE]})

    roles: list[RoleOut]


class RoleInvitationList(ApiModel):
    """Open invitations to roles, newest first."""

    model_config = example({"invitations": [INVITATION_EXAMPLE]})

    invitations: list[RoleInvitationOut]


class OwnInvitationList(ApiModel):
    """Invitations of the user, newest first."""

    model_config = example({"invitations": [OWN_INVITATION_EXAMPLE]})

    invitations: list[OwnInvitationOut]


class AcceptedInvitation(ApiModel):
    """The competition and the role that were accepted."""

    model_config = example({"competition": "demo"})

    competition: str
