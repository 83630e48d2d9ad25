"""Registering, logging in, logging out."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from app.base.db import writing
from app.base.errors import EvergoldError, InvalidForm, LimitReached, NameTaken, NotAuthenticated
from app.models import User
from app.people import auth
from app.web.html.guards import HOME, local_path
from app.web.html.rendering import check_form, render
from app.web.http import csrf
from app.web.http.context import Server, ServerHere
from app.web.http.errors import headers_of
from app.web.http.identity import SESSION_COOKIE, VisitorHere, set_session_cookie
from app.web.people.passwords import PasswordTurn, check_password, register_account

router = APIRouter()
FormText = Annotated[str, Form()]
NextPath = Annotated[str, Query(alias="next")]
NextField = Annotated[str, Form(alias="next")]


@router.get("/login")
def read_login(
    request: Request,
    visitor: VisitorHere,
    following: NextPath = "",
    done: Annotated[str, Query(max_length=20)] = "",
) -> Response:
    if visitor.user is not None:
        return RedirectResponse(local_path(following), 303)
    return render(request, "people/login.html", following=following, username="", error=None, done=done)


@router.post("/login")
def log_in(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    turn: PasswordTurn,
    username: FormText = "",
    password: FormText = "",
    following: NextField = "",
    csrf_token: FormText = "",
) -> Response:
    check_form(request, csrf_token)
    try:
        user = check_password(request, server, username=username, password=password)
    except (NotAuthenticated, LimitReached) as error:
        context = {"following": following, "username": username, "error": error, "done": ""}
        return with_headers(render(request, "people/login.html", error.status, **context), error, server)
    return _logged_in(request, server, user, following)


@router.get("/register")
def read_register(request: Request, visitor: VisitorHere, following: NextPath = "") -> Response:
    if visitor.user is not None:
        return RedirectResponse(local_path(following), 303)
    return render(request, "people/register.html", following=following, typed={}, error=None)


@router.post("/register")
def register(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    turn: PasswordTurn,
    username: FormText = "",
    email: FormText = "",
    display_name: FormText = "",
    password: FormText = "",
    following: NextField = "",
    csrf_token: FormText = "",
) -> Response:
    check_form(request, csrf_token)
    typed = {"username": username, "email": email, "display_name": display_name}
    try:
        user = register_account(request, server, **typed, password=password)
    except (InvalidForm, NameTaken, LimitReached) as error:
        context = {"following": following, "typed": typed, "error": error}
        return with_headers(render(request, "people/register.html", error.status, **context), error, server)
    return _logged_in(request, server, user, following)


@router.post("/logout")
def log_out(request: Request, server: ServerHere, visitor: VisitorHere, csrf_token: FormText = "") -> Response:
    secret = request.cookies.get(SESSION_COOKIE)
    if secret and visitor.login is not None:
        check_form(request, csrf_token)
        with writing(server.engine) as session:
            auth.end_session(session, secret)
    response = RedirectResponse(HOME, 303)
    response.delete_cookie(SESSION_COOKIE)
    return response


def with_headers(response: Response, error: EvergoldError, server: Server) -> Response:
    """A form shown again, with the headers that its error has anywhere else: when to try again."""
    if isinstance(error, LimitReached):
        response.headers.update(headers_of(error, server.clock()))
    return response


def _logged_in(request: Request, server: Server, user: User, following: str) -> Response:
    """A new session for every log-in, whatever cookie came with the request."""
    with writing(server.engine) as session:
        _, secret = auth.start_session(session, user, server.clock(), server.settings.session_hours)
    response = RedirectResponse(local_path(following), 303)
    set_session_cookie(response, secret, server.settings)
    response.delete_cookie(csrf.FORM_COOKIE)
    return response
