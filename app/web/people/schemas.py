"""Accounts, tokens, mail preferences, roles, invitations and the audit log in JSON."""

from __future__ import annotations

from typing import Any

from pydantic import Field, SecretStr

from app.base.answers import ApiModel, Moment, example
from app.models import (
    ApiToken,
    AuditEntry,
    Competition,
    CompetitionRole,
    MailChoice,
    Right,
    Role,
    RoleInvitation,
    TokenScope,
    User,
)
from app.people import auth
from app.people.mail import MailKind, wants

_EXAMPLE_TOKEN = {
    "id": 7,
    "name": "laptop",
    "prefix": "evg_Zk3q",
    "scopes": ["read", "submit"],
    "created_at": "2026-01-10T12:00:00Z",
    "expires_at": "2027-01-10T12:00:00Z",
    "last_used_at": None,
}


class Registration(ApiModel):
    """The data of a new account."""

    model_config = example(
        {
            "username": "ada",
            "email": "ada@example.org",
            "password": "a long pass phrase",
            "display_name": "Ada Lovelace",
        }
    )

    username: str = Field(description="3 to 40 characters: letters a-z, digits, and . _ - inside")
    email: str
    password: SecretStr = Field(description="10 to 200 characters")
    display_name: str = Field("", description="the name that boards show; default: the user name")


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
    email_confirmed: bool = Field(description="whether it was shown that you read mail there")
    display_name: str
    is_administrator: bool
    created_at: Moment


class TokenRequest(ApiModel):
    """A name for the new token; user name and password unless the request is authenticated already."""

    model_config = example(
        {
            "name": "laptop",
            "scopes": ["read", "submit"],
            "expires_in_days": 365,
            "username": "ada",
            "password": "a long pass phrase",
        }
    )

    name: str = Field(description="what you will recognise it by, 1 to 100 characters")
    scopes: list[TokenScope] | None = Field(
        None, description="what it may be used for; default: all permissions that you, or the token in use, have"
    )
    expires_in_days: int = Field(
        auth.TOKEN_DAYS, ge=auth.TOKEN_DAYS_ALLOWED[0], le=auth.TOKEN_DAYS_ALLOWED[1], description="it ends by itself"
    )
    username: str | None = Field(None, description="user name or e-mail address")
    password: SecretStr | None = None


class Token(ApiModel):
    """An API token without its secret, which is shown only once."""

    model_config = example(_EXAMPLE_TOKEN)

    id: int
    name: str
    prefix: str = Field(description="the first characters of the secret, to recognise the token")
    scopes: list[TokenScope]
    created_at: Moment
    expires_at: Moment | None = Field(description="null: never; only tokens from before there was an expiry")
    last_used_at: Moment | None = Field(description="to the minute")


class NewToken(Token):
    """A new token with its secret: keep it, it is not shown again."""

    model_config = example(
        {**_EXAMPLE_TOKEN, "username": "ada", "secret": "evg_Zk3qX0w9r7uV6tS5dF4gH3jK2lM1nB8vC7xZ6aS5dF4"}
    )

    username: str = Field(description="whose token it is")
    secret: str = Field(description="send it as `Authorization: Bearer evg_…`")


class TokenList(ApiModel):
    """The tokens of an account that were not revoked, newest first."""

    model_config = example({"tokens": [_EXAMPLE_TOKEN]})

    tokens: list[Token]


def account_out(user: User) -> Account:
    """Return the account as an API model."""
    return Account(
        username=user.username,
        email=user.email,
        email_confirmed=user.email_confirmed_at is not None,
        display_name=user.display_name,
        is_administrator=user.is_administrator,
        created_at=user.created_at,
    )


def token_out(token: ApiToken) -> Token:
    """Return the token as an API model, without its secret."""
    return Token(
        id=token.id,
        name=token.name,
        prefix=token.prefix,
        scopes=sorted(auth.scopes_of(token), key=list(TokenScope).index),
        created_at=token.created_at,
        expires_at=token.expires_at,
        last_used_at=token.last_used_at,
    )


def new_token_out(token: ApiToken, user: User, secret: str) -> NewToken:
    """Return the token as an API model, with its secret."""
    return NewToken(**token_out(token).model_dump(), username=user.username, secret=secret)


class MailChoices(ApiModel):
    """Mails besides those about the account itself, which are always sent."""

    model_config = example({"announcements": True, "results": False})

    announcements: bool = Field(description="of the organisers of competitions that one takes part in")
    results: bool = Field(description="when a submission of one's own was scored, rejected, or failed")


def mail_choices_out(choice: MailChoice | None) -> MailChoices:
    """Return the preferences as an API model; None: the defaults."""
    return MailChoices(
        announcements=wants(choice, MailKind.ANNOUNCEMENTS),
        results=wants(choice, MailKind.RESULTS),
    )


class AuditEntryOut(ApiModel):
    """One deed of an organiser or administrator; it never changes."""

    id: int
    at: Moment
    actor: str = Field(description="a user's name, or what acted by itself, such as the command line")
    action: str = Field(description="`thing.deed`")
    subject: str = Field(description="what it was done to")
    details: dict[str, Any]
    request_id: str | None = Field(description="as in the log; null: it was no request")


class AuditLog(ApiModel):
    """The newest first."""

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
    next: str | None = Field(description="leads to older ones; null: these were the oldest")


def entry_out(entry: AuditEntry) -> AuditEntryOut:
    """Return the entry as an API model."""
    return AuditEntryOut(
        id=entry.id,
        at=entry.at,
        actor=entry.actor,
        action=entry.action,
        subject=entry.subject,
        details=entry.details,
        request_id=entry.request_id,
    )


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
