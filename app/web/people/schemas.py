"""Requests of the API: accounts, tokens, roles, invitations and owners."""

from __future__ import annotations

from pydantic import Field, SecretStr

from app.base.answers import ApiModel, example
from app.models import Right, Role, TokenScope
from app.people import auth


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


class TokenRequest(ApiModel):
    """The request for a new token. name: of the token; username, password: only if the request is not authenticated
    already.
    """

    model_config = example(
        {
            "name": "laptop",
            "scopes": ["read", "submit"],
            "expires_in_days": 365,
            "username": "ada",
            "password": "a long pass phrase",
        }
    )

    name: str = Field(description="a name to recognise it by, 1 to 100 characters")
    scopes: list[TokenScope] | None = Field(
        None, description="scopes of the token; default: all that you, or the token in use, have"
    )
    expires_in_days: int = Field(
        auth.TOKEN_DAYS,
        ge=auth.TOKEN_DAYS_ALLOWED[0],
        le=auth.TOKEN_DAYS_ALLOWED[1],
        description="days until it expires",
    )
    username: str | None = Field(None, description="user name or e-mail address")
    password: SecretStr | None = None


class RightsIn(ApiModel):
    """The new permissions of an organiser."""

    model_config = example({"rights": ["edit", "messages"]})

    rights: list[Right] = Field(min_length=1)


class RoleInvitationIn(ApiModel):
    """A person to invite, and the role offered."""

    model_config = example({"whom": "grace@example.org", "role": "organiser", "rights": ["submissions", "gold"]})

    whom: str = Field(max_length=320, description="an e-mail address, or a user name")
    role: Role
    rights: list[Right] | None = Field(
        None, description="rights of an organiser, of those that you have; absent: all of them"
    )


class OwnerIn(ApiModel):
    """The new owner of a competition."""

    model_config = example({"owner": "grace"})

    owner: str = Field(max_length=320, description="user name or e-mail address of one of its organisers")


class OwnerOut(OwnerIn):
    """The owner of a competition."""


class DeletionIn(ApiModel):
    """Proof that the account's owner wants to delete it."""

    model_config = example({"password": "a long pass phrase"})

    password: SecretStr = SecretStr("")


class ConsentIn(ApiModel):
    """Consent to the publication of the user's predictions, given or revoked."""

    model_config = example({"consents": True})

    consents: bool
