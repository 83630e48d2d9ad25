"""The account page: profile, API tokens, and changes of password or email address."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Form, Query, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import Field

from app.base.db import reading, writing
from app.base.errors import EvergoldError, InvalidForm, LimitReached, NameTaken, NotAuthenticated
from app.models import TokenScope, User
from app.people import audit, auth, email_confirmations, password_resets
from app.people.mail_choices import MailKind, choice_of, wants
from app.web.html.forms import PageForm
from app.web.html.guards import PageUser, form_again, form_guard
from app.web.html.rendering import render
from app.web.http.context import Server, ServerHere
from app.web.http.identity import VisitorHere
from app.web.http.rate_limits import limits_of
from app.web.http.routers import page_router
from app.web.http.schemas import RowId
from app.web.people.passwords import PasswordTurn, check_password

router = page_router()

ACCOUNT = "/account"
#: Passes a new token through the redirect to the page that shows it, once; as safe as the session cookie.
NEW_TOKEN_COOKIE = "evergold_new_token"  # noqa: S105 - the cookie's name
NEW_TOKEN_SECONDS = 60
#: Scopes preselected in the form: enough to participate, nothing for organisers.
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
#: The user who sends a form of this page.
Sender = Annotated[User, Depends(form_guard(ACCOUNT))]


class TokenForm(PageForm):
    """A new API token."""

    scopes: list[TokenScope] = []
    name: str = ""
    days: int = auth.TOKEN_DAYS


class PasswordForm(PageForm):
    """A new password."""

    current_password: str = Field("", repr=False)
    password: str = Field("", repr=False)


class EmailForm(PageForm):
    """A new email address; email_password: the password of the account."""

    email: str = ""
    email_password: str = Field("", repr=False)


SentOnAccount = TokenForm | PasswordForm | EmailForm
#: The page's name for the form with the error.
_WRONG: dict[type, str] = {
    TokenForm: "token",
    PasswordForm: "password",
    EmailForm: "email",
    type(None): "confirmation",
}


@router.get(ACCOUNT)
def read_account(
    request: Request, server: ServerHere, user: PageUser, done: Annotated[str, Query(max_length=20)] = ""
) -> Response:
    secret = request.cookies.get(NEW_TOKEN_COOKIE)
    response = _page(request, server, user, secret=secret, done=DONE.get(done, ""))
    if secret:
        response.headers["Cache-Control"] = "no-store"
        response.delete_cookie(NEW_TOKEN_COOKIE, path=ACCOUNT)
    return response


def _page(
    request: Request,
    server: Server,
    user: User,
    form: SentOnAccount | None = None,
    secret: str | None = None,
    done: str = "",
    error: EvergoldError | None = None,
) -> Response:
    """Return the page; form: the form with the error, None for none or for the form that resends a link."""
    now = server.clock()
    with reading(server.engine) as session:
        tokens = [(token, auth.scopes_of(token)) for token in auth.list_tokens(session, user)]
        choice = choice_of(session, user)
        confirmed = email_confirmations.is_confirmed(session, user)
    token = form if isinstance(form, TokenForm) else TokenForm(scopes=list(PROPOSED_SCOPES))
    return render(
        request,
        "people/account.html",
        user=user,
        confirmed=confirmed,
        tokens=tokens,
        secret=secret,
        token=token,
        email=form.email if isinstance(form, EmailForm) else "",
        wrong=_WRONG[type(form)] if error else "",
        error=error,
        done=done,
        now=now,
        scope_words=SCOPE_WORDS,
        proposed=token.scopes,
        days_allowed=auth.TOKEN_DAYS_ALLOWED,
        mails={kind.value: wants(choice, kind) for kind in MailKind},
    )


@router.post("/account/tokens")
@form_again(_page, InvalidForm)
def create_token(request: Request, server: ServerHere, user: Sender, form: Annotated[TokenForm, Form()]) -> Response:
    now = server.clock()
    with writing(server.engine) as session:
        _, secret = auth.create_token(session, user, form.name, now, scopes=form.scopes, days=form.days)
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
def revoke_token(server: ServerHere, user: Sender, token_id: RowId) -> Response:
    with writing(server.engine) as session:
        auth.revoke_token(session, user, token_id, server.clock())
    return RedirectResponse(f"{ACCOUNT}#tokens", 303)


@router.post("/account/password")
@form_again(_page, InvalidForm, LimitReached)
def change_password(
    request: Request,
    server: ServerHere,
    user: Sender,
    visitor: VisitorHere,
    turn: PasswordTurn,
    form: Annotated[PasswordForm, Form()],
) -> Response:
    now = server.clock()
    _confirm(request, server, user, form.current_password, "current_password")
    with writing(server.engine) as session:
        auth.set_password(session, user, form.password, now, keep=visitor.login)
        audit.record(session, user, "password.change", f"user {user.username}", now=now)
        password_resets.mail_account_changed(session, user, "The password", server.settings, now)
    return RedirectResponse(f"{ACCOUNT}?done=password", 303)


@router.post("/account/email")
@form_again(_page, InvalidForm, NameTaken, LimitReached)
def change_email(
    request: Request,
    server: ServerHere,
    user: Sender,
    turn: PasswordTurn,
    form: Annotated[EmailForm, Form()],
) -> Response:
    """Change the address, and notify the old one: its reader may be the owner of the account."""
    now = server.clock()
    _confirm(request, server, user, form.email_password, "email_password")
    with writing(server.engine) as session:
        password_resets.mail_account_changed(session, user, "The e-mail address", server.settings, now)
        auth.set_email(session, user, form.email, now)
        if not email_confirmations.is_confirmed(session, user):
            email_confirmations.send_link(session, user, server.settings, now)
        audit.record(session, user, "email.change", f"user {user.username}", now=now)
    return RedirectResponse(f"{ACCOUNT}?done=email", 303)


@router.post("/account/confirm-email/send")
@form_again(_page, LimitReached)
def send_confirmation(request: Request, server: ServerHere, user: Sender) -> Response:
    """The link once more; as rare as mails for a forgotten password."""
    now, limits = server.clock(), limits_of(request)
    with writing(server.engine) as session:
        if not email_confirmations.is_confirmed(session, user):
            limits.hit(limits.rules.confirmations, f"user {user.id}", now)
            email_confirmations.send_link(session, user, server.settings, now)
    return RedirectResponse(f"{ACCOUNT}?done=confirmation", 303)


def _confirm(request: Request, server: Server, user: User, password: str, name: str) -> None:
    """Confirm the user's identity; raise InvalidForm about the field of that name, or LimitReached."""
    try:
        check_password(request, server, username=user.username, password=password)
    except NotAuthenticated:
        raise InvalidForm("Please correct what is marked.", fields={name: "This is not your password."}) from None
