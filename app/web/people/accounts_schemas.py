"""Accounts and API tokens."""

from __future__ import annotations

from pydantic import Field, SecretStr

from app.models import ApiToken, TokenScope, User
from app.people import auth
from app.web.http.schemas import ApiModel, Moment, example

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
