"""Log-in for Codabench's clients: an API token, a form for downloads, and the account."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Form, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import Field

from app.base.db import writing
from app.base.errors import EvergoldError, NotAuthenticated
from app.people.client_tokens import client_token
from app.web.codabench.views import ProfileOut, TokenOut
from app.web.html.guards import HOME, PageForm, sent_fields
from app.web.http import csrf
from app.web.http.context import ServerHere
from app.web.http.identity import ApiUser
from app.web.http.routers import page_router
from app.web.people.log_in import check_password_is_enough, start_log_in
from app.web.people.passwords import PasswordTurn, check_password

router = page_router()

LOGIN = "/accounts/login/"
#: The cookie and the field in which these clients repeat what the form's page gave them.
CSRF_COOKIE, CSRF_FIELD = "csrftoken", "csrfmiddlewaretoken"
CSRF_SECONDS = 3600


class LoginFailed(EvergoldError):
    """Wrong user name or password; these clients expect the status 400."""

    status = 400
    code = "login_failed"


class CodabenchLoginForm(PageForm):
    """The user name and password of a log-in."""

    username: str = ""
    password: str = Field("", repr=False)


@router.post("/api/api-token-auth/")
def create_token(
    request: Request,
    response: Response,
    server: ServerHere,
    turn: PasswordTurn,
    username: Annotated[str, Form()],
    password: Annotated[str, Form()],
) -> TokenOut:
    try:
        user = check_password(request, server, username=username, password=password)
        check_password_is_enough(server, user)
        with writing(server.engine) as session:
            secret = client_token(session, user, password, server.clock())
    except NotAuthenticated as error:
        raise LoginFailed(error.message) from None
    response.headers["Cache-Control"] = "no-store"
    return TokenOut(token=secret)


@router.get(LOGIN)
def read_login(server: ServerHere) -> Response:
    """Set the form's CSRF token as a cookie, as clients expect, and redirect people to the normal log-in page."""
    response = RedirectResponse("/login", 303)
    response.set_cookie(
        CSRF_COOKIE,
        csrf.new_token(),
        max_age=CSRF_SECONDS,
        httponly=True,
        samesite="lax",
        secure=server.settings.secure_cookies,
    )
    return response


async def check_own_form(request: Request) -> None:
    """Raise ForgedRequest unless the form repeats the cookie's token and was sent from our own site."""
    sent = (await sent_fields(request)).get(CSRF_FIELD)
    csrf.check(request, csrf.mask(sent) if sent else None, request.cookies.get(CSRF_COOKIE))


@router.post(LOGIN, dependencies=[Depends(check_own_form)])
def log_in(
    request: Request, server: ServerHere, turn: PasswordTurn, form: Annotated[CodabenchLoginForm, Form()]
) -> Response:
    user = check_password(request, server, username=form.username, password=form.password)
    check_password_is_enough(server, user)
    with writing(server.engine) as session:
        response = start_log_in(request, session, user, (HOME, "password"))
    response.delete_cookie(CSRF_COOKIE)
    return response


@router.get("/api/my_profile/")
def read_profile(user: ApiUser) -> ProfileOut:
    return ProfileOut(username=user.username, display_name=user.display_name, email=user.email)
