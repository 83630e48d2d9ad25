"""The API of accounts: tokens, mail preferences, and the user's own role invitations."""

from __future__ import annotations

from typing import Annotated

from fastapi import Request, Response, Security

from app.base.db import writing
from app.base.errors import InvalidForm
from app.models import User
from app.people import auth
from app.people.digests import settle_held_back
from app.people.invitations import answer, own_invitations
from app.people.mail import MailKind, choose, mail_choices
from app.people.views import (
    AcceptedInvitation,
    Account,
    MailChoices,
    NewToken,
    OwnInvitationList,
    OwnInvitationOut,
    Token,
    TokenList,
)
from app.web.http.context import Server, ServerHere
from app.web.http.errors import error_responses
from app.web.http.identity import ANY_SCOPE, ApiOrganiser, ApiSubmitter, ApiUser, Visitor, api_visitor, user_of
from app.web.http.routers import api_router
from app.web.http.schemas import RowId
from app.web.http.visit import ApiUserVisit
from app.web.people.log_in import check_password_is_enough
from app.web.people.passwords import PasswordTurn, check_password, register_account
from app.web.people.schemas import Registration, TokenRequest

router = api_router("accounts")


@router.get(
    "/me/mail",
    operation_id="read_mail_choices",
    summary="Settings of my mails",
    responses=error_responses(401, 403),
)
def read_mail_choices(visit: ApiUserVisit) -> MailChoices:
    return mail_choices(visit.session, visit.user)


@router.put(
    "/me/mail",
    operation_id="choose_mail",
    summary="Switch mails on or off, or collect them into digests",
    description="Mails about the account itself, such as a new password, are always sent.",
    responses=error_responses(401, 403, 422),
)
def put_mail_choices(server: ServerHere, user: ApiSubmitter, form: MailChoices) -> MailChoices:
    wanted = {MailKind.ANNOUNCEMENTS: form.announcements, MailKind.RESULTS: form.results}
    paces = {MailKind.ANNOUNCEMENTS: form.announcements_pace, MailKind.RESULTS: form.results_pace}
    with writing(server.engine) as session:
        choose(session, user, wanted, paces)
        settle_held_back(session, user, server.clock())
        return mail_choices(session, user)


PLACE = "/me/invitations"


@router.get(
    PLACE,
    operation_id="list_own_invitations",
    summary="Invitations to a role that wait for my answer",
    description="Invitations to your confirmed address.",
    responses=error_responses(401, 403),
)
def read_own_invitations(visit: ApiUserVisit) -> OwnInvitationList:
    found = own_invitations(visit.session, visit.user, visit.now)
    return OwnInvitationList(invitations=[OwnInvitationOut.of(one) for one in found])


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


AnyScope = Annotated[Visitor, Security(api_visitor, scopes=[ANY_SCOPE])]


@router.post(
    "/register",
    operation_id="register",
    summary="Create an account",
    status_code=201,
    responses=error_responses(403, 409, 413, 422, 429),
)
def register(request: Request, server: ServerHere, turn: PasswordTurn, form: Registration) -> Account:
    account = auth.NewAccount(form.username, form.email, form.password.get_secret_value(), form.display_name)
    user = register_account(request, server, account)
    return Account.model_validate(user, from_attributes=True)


@router.get("/me", operation_id="read_account", summary="Your account", responses=error_responses(401))
def read_account(user: ApiUser) -> Account:
    return Account.model_validate(user, from_attributes=True)


@router.get("/tokens", operation_id="list_tokens", summary="Your API tokens", responses=error_responses(401))
def list_tokens(visit: ApiUserVisit) -> TokenList:
    return TokenList(tokens=auth.list_tokens(visit.session, visit.user))


@router.post(
    "/tokens",
    operation_id="create_token",
    summary="Create an API token",
    description=(
        "Send user name and password in the body, or authenticate as usual. The secret is shown only once. A token "
        "can only create tokens with no more scopes and no later expiry than its own."
    ),
    status_code=201,
    responses=error_responses(401, 403, 413, 422, 429),
)
def create_token(
    request: Request, response: Response, server: ServerHere, visitor: AnyScope, turn: PasswordTurn, form: TokenRequest
) -> NewToken:
    user = _owner(request, server, visitor, form)
    with writing(server.engine) as session:
        token, secret = auth.create_token(
            session,
            user,
            form.name,
            server.clock(),
            scopes=form.scopes,
            days=form.expires_in_days,
            made_with=visitor.token if form.password is None else None,
        )
    response.headers["Cache-Control"] = "no-store"
    return NewToken(**Token.of(token).model_dump(), username=user.username, secret=secret)


@router.delete(
    "/tokens/{token_id}",
    operation_id="revoke_token",
    summary="Revoke an API token",
    description="A token can revoke itself, and your other tokens with no more scopes than its own.",
    status_code=204,
    responses=error_responses(401, 403, 404, 422),
)
def revoke_token(server: ServerHere, visitor: AnyScope, token_id: RowId) -> None:
    user = user_of(visitor)
    with writing(server.engine) as session:
        auth.revoke_token(session, user, token_id, server.clock(), made_with=visitor.token)


def _owner(request: Request, server: Server, visitor: Visitor, form: TokenRequest) -> User:
    if form.username is None and form.password is None and visitor.user is not None:
        return visitor.user
    missing = {
        name: "This field is required."
        for name, value in (("username", form.username), ("password", form.password))
        if value is None
    }
    if form.username is None or form.password is None:
        raise InvalidForm("Send your user name and password, or an API token.", fields=missing)
    owner = check_password(request, server, username=form.username, password=form.password.get_secret_value())
    check_password_is_enough(server, owner)
    return owner
