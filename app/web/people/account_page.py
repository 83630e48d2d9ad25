"""The account page: who I am, my API tokens, a new password or e-mail address."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from app.base.db import reading, writing
from app.base.errors import EvergoldError, InvalidForm, LimitReached, NameTaken, NotAuthenticated
from app.models import TokenScope, User
from app.people import audit, auth, email_confirmations, password_resets
from app.people.mail_choices import MailKind, choice_of, wants
from app.web.html.guards import PageUser, form_guard, with_headers
from app.web.html.rendering import render
from app.web.http.context import Server, ServerHere
from app.web.http.identity import VisitorHere
from app.web.http.rate_limits import limits_of
from app.web.http.schemas import RowId
from app.web.people.passwords import PasswordTurn, check_password

router = APIRouter()

ACCOUNT = "/account"
#: Carries a new token over the redirect to the page that shows it, once; as well kept as the session's own cookie.
NEW_TOKEN_COOKIE = "evergold_new_token"  # noqa: S105 - the cookie's name
NEW_TOKEN_SECONDS = 60
#: What a form proposes: enough to take part, and nothing of what organisers may do.
PROPOSED_SCOPES = (TokenScope.READ, TokenScope.SUBMIT)
SCOPE_WORDS = {
    TokenScope.READ: ("Read", "whatever you may read"),
    TokenScope.SUBMIT: ("Submit", "send predictions, and take part otherwise"),
    TokenScope.ORGANISE: ("Organise", "what organisers do, where you are one"),
}
DONE = {
    "password": "Your password was changed; you were logged out everywhere else.",
    "email": "Your address was changed. A link was sent there with which you confirm it.",
    "confirmation": "A link was written to your address.",
    "mail": "Kept: you get the mails that are ticked below.",
}
FormText = Annotated[str, Form()]
#: Sends one of this page's forms.
Sender = Annotated[User, Depends(form_guard(ACCOUNT))]


@dataclass(frozen=True, slots=True)
class Typed:
    """What was typed into the form that was sent, and what was wrong with it."""

    form: str = ""
    fields: dict[str, Any] = field(default_factory=dict)
    error: EvergoldError | None = None


@router.get(ACCOUNT)
def read_account(
    request: Request, server: ServerHere, user: PageUser, done: Annotated[str, Query(max_length=20)] = ""
) -> Response:
    secret = request.cookies.get(NEW_TOKEN_COOKIE)
    response = _page(request, server, user, Typed(), secret=secret, done=DONE.get(done, ""))
    if secret:
        response.headers["Cache-Control"] = "no-store"
        response.delete_cookie(NEW_TOKEN_COOKIE, path=ACCOUNT)
    return response


@router.post("/account/tokens")
def create_token(
    request: Request,
    server: ServerHere,
    user: Sender,
    scopes: Annotated[list[TokenScope], Form(default_factory=list)],
    name: FormText = "",
    days: Annotated[int, Form()] = auth.TOKEN_DAYS,
) -> Response:
    try:
        with writing(server.engine) as session:
            _, secret = auth.create_token(session, user, name, server.clock(), scopes=scopes, days=days)
    except InvalidForm as error:
        typed = Typed("token", {"name": name, "days": days, "scopes": scopes}, error)
        return _page(request, server, user, typed)
    response = RedirectResponse(f"{ACCOUNT}#new-token", 303)
    response.set_cookie(
        NEW_TOKEN_COOKIE,
        secret,
        max_age=NEW_TOKEN_SECONDS,
        path=ACCOUNT,
        httponly=True,
        samesite="strict",
        secure=server.settings.secure_cookies,
    )
    return response


@router.post("/account/tokens/{token_id}/revoke")
def revoke_token(request: Request, server: ServerHere, user: Sender, token_id: RowId) -> Response:
    with writing(server.engine) as session:
        auth.revoke_token(session, user, token_id, server.clock())
    return RedirectResponse(f"{ACCOUNT}#tokens", 303)


@router.post("/account/password")
def change_password(
    request: Request,
    server: ServerHere,
    user: Sender,
    visitor: VisitorHere,
    turn: PasswordTurn,
    current_password: FormText = "",
    password: FormText = "",
) -> Response:
    now = server.clock()
    try:
        _confirm(request, server, user, current_password, "current_password")
        with writing(server.engine) as session:
            auth.set_password(session, user, password, now, keep=visitor.login)
            audit.record(session, user, "password.change", f"user {user.username}", now=now)
            password_resets.mail_account_changed(session, user, "The password", server.settings, now)
    except (InvalidForm, LimitReached) as error:
        return _page(request, server, user, Typed("password", {}, error))
    return RedirectResponse(f"{ACCOUNT}?done=password", 303)


@router.post("/account/email")
def change_email(
    request: Request,
    server: ServerHere,
    user: Sender,
    turn: PasswordTurn,
    email: FormText = "",
    email_password: FormText = "",
) -> Response:
    """The old address is told: whoever reads there may be the one to whom the account belongs."""
    now = server.clock()
    try:
        _confirm(request, server, user, email_password, "email_password")
        with writing(server.engine) as session:
            password_resets.mail_account_changed(session, user, "The e-mail address", server.settings, now)
            auth.set_email(session, user, email, now)
            if not email_confirmations.is_confirmed(session, user):
                email_confirmations.send_link(session, user, server.settings, now)
            audit.record(session, user, "email.change", f"user {user.username}", now=now)
    except (InvalidForm, NameTaken, LimitReached) as error:
        return _page(request, server, user, Typed("email", {"email": email}, error))
    return RedirectResponse(f"{ACCOUNT}?done=email", 303)


@router.post("/account/confirm-email/send")
def send_confirmation(request: Request, server: ServerHere, user: Sender) -> Response:
    """The link once more; as rare as mails for a forgotten password."""
    now, limits = server.clock(), limits_of(request)
    try:
        with writing(server.engine) as session:
            if not email_confirmations.is_confirmed(session, user):
                limits.hit(limits.rules.confirmations, f"user {user.id}", now)
                email_confirmations.send_link(session, user, server.settings, now)
    except LimitReached as error:
        return _page(request, server, user, Typed("confirmation", {}, error))
    return RedirectResponse(f"{ACCOUNT}?done=confirmation", 303)


def _confirm(request: Request, server: Server, user: User, password: str, name: str) -> None:
    """That it is really the user who sits here; raises InvalidForm about the field of that name, or LimitReached."""
    try:
        check_password(request, server, username=user.username, password=password)
    except NotAuthenticated:
        raise InvalidForm("Please correct what is marked.", fields={name: "This is not your password."}) from None


def _page(
    request: Request, server: Server, user: User, typed: Typed, *, secret: str | None = None, done: str = ""
) -> Response:
    now = server.clock()
    with reading(server.engine) as session:
        tokens = [(token, auth.scopes_of(token)) for token in auth.list_tokens(session, user)]
        choice = choice_of(session, user)
        confirmed = email_confirmations.is_confirmed(session, user)
    response = render(
        request,
        "people/account.html",
        typed.error.status if typed.error else 200,
        user=user,
        confirmed=confirmed,
        tokens=tokens,
        secret=secret,
        typed=typed,
        done=done,
        now=now,
        scope_words=SCOPE_WORDS,
        proposed=typed.fields.get("scopes", PROPOSED_SCOPES),
        days_allowed=auth.TOKEN_DAYS_ALLOWED,
        token_days=auth.TOKEN_DAYS,
        mails={kind.value: wants(choice, kind) for kind in MailKind},
    )
    return with_headers(response, typed.error, request) if typed.error else response
