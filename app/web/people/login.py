"""The pages of registration, login and logout."""

from __future__ import annotations

from typing import Annotated

from fastapi import Form, Query, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import Field

from app.base.db import writing
from app.base.errors import EvergoldError, InvalidForm, LimitReached, NameTaken, NotAuthenticated
from app.models import User
from app.people import auth
from app.web.html.forms import PageForm
from app.web.html.guards import HOME, OwnForm, SentFields, form_again, local_path
from app.web.html.rendering import check_form, render
from app.web.http import csrf
from app.web.http.context import Server, ServerHere
from app.web.http.identity import SESSION_COOKIE, VisitorHere, set_session_cookie
from app.web.http.routers import page_router
from app.web.people.passwords import PasswordTurn, check_password, register_account

router = page_router()
NextPath = Annotated[str, Query(alias="next")]


class LoginForm(PageForm):
    """A login. username: or an email address; following: where to continue afterwards."""

    username: str = ""
    password: str = Field("", repr=False)
    following: str = Field("", alias="next")


class AccountForm(PageForm):
    """A new account; following: as in LoginForm."""

    username: str = ""
    email: str = ""
    display_name: str = ""
    password: str = Field("", repr=False)
    following: str = Field("", alias="next")


@router.get("/login")
def read_login(
    request: Request,
    visitor: VisitorHere,
    following: NextPath = "",
    done: Annotated[str, Query(max_length=20)] = "",
) -> Response:
    if visitor.user is not None:
        return RedirectResponse(local_path(following), 303)
    return _login_page(request, LoginForm(following=following), done)


def _login_page(request: Request, form: LoginForm, done: str = "", error: EvergoldError | None = None) -> Response:
    context = {"following": form.following, "username": form.username, "done": done, "error": error}
    return render(request, "people/login.html", **context)


@router.post("/login", dependencies=[OwnForm])
@form_again(_login_page, NotAuthenticated, LimitReached)
def log_in(request: Request, server: ServerHere, turn: PasswordTurn, form: Annotated[LoginForm, Form()]) -> Response:
    user = check_password(request, server, username=form.username, password=form.password)
    return _logged_in(request, server, user, form.following)


@router.get("/register")
def read_register(request: Request, visitor: VisitorHere, following: NextPath = "") -> Response:
    if visitor.user is not None:
        return RedirectResponse(local_path(following), 303)
    return _register_page(request, AccountForm(following=following))


def _register_page(request: Request, form: AccountForm, error: EvergoldError | None = None) -> Response:
    return render(request, "people/register.html", following=form.following, typed=form, error=error)


@router.post("/register", dependencies=[OwnForm])
@form_again(_register_page, InvalidForm, NameTaken, LimitReached)
def register(
    request: Request, server: ServerHere, turn: PasswordTurn, form: Annotated[AccountForm, Form()]
) -> Response:
    user = register_account(
        request,
        server,
        username=form.username,
        email=form.email,
        display_name=form.display_name,
        password=form.password,
    )
    return _logged_in(request, server, user, form.following)


@router.post("/logout")
def log_out(request: Request, server: ServerHere, visitor: VisitorHere, fields: SentFields) -> Response:
    secret = request.cookies.get(SESSION_COOKIE)
    if secret and visitor.login is not None:
        check_form(request, fields.get(csrf.FORM_FIELD))
        with writing(server.engine) as session:
            auth.end_session(session, secret)
    response = RedirectResponse(HOME, 303)
    response.delete_cookie(SESSION_COOKIE)
    return response


def _logged_in(request: Request, server: Server, user: User, following: str) -> Response:
    """Log the user in with a new session, whatever cookie was sent."""
    with writing(server.engine) as session:
        _, secret = auth.start_session(session, user, server.clock(), server.settings.session_hours)
    response = RedirectResponse(local_path(following), 303)
    set_session_cookie(response, secret, server.settings)
    response.delete_cookie(csrf.FORM_COOKIE)
    return response
