"""A forgotten password: asking for a link by mail, and choosing a new one with it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from app.base.db import reading, writing
from app.base.errors import EvergoldError, InvalidForm, LimitReached, NotFound
from app.people import password_resets
from app.teams.registration import settle_confirmed
from app.web.html.guards import OwnForm, with_headers
from app.web.html.rendering import render
from app.web.http.context import Server, ServerHere
from app.web.http.identity import VisitorHere
from app.web.http.rate_limits import client_of, limits_of
from app.web.people.passwords import PasswordTurn

router = APIRouter(prefix="/password")

#: Where somebody lands who has chosen a new password.
LOGIN_AFTER_RESET = "/login?done=password"
FormText = Annotated[str, Form()]


@router.get("/forgot")
def read_forgot(request: Request, visitor: VisitorHere) -> Response:
    return render(request, "people/password_forgot.html", username="", error=None, sent=False)


@router.post("/forgot", dependencies=[OwnForm])
def ask_for_link(request: Request, server: ServerHere, visitor: VisitorHere, username: FormText = "") -> Response:
    """The same answer, after the same work, whether there is such an account or not."""
    try:
        _ask(request, server, username)
    except (InvalidForm, LimitReached) as error:
        page = render(request, "people/password_forgot.html", error.status, username=username, error=error, sent=False)
        return with_headers(page, error, request)
    return render(request, "people/password_forgot.html", username=username, error=None, sent=True)


@router.get("/new")
def read_new(
    request: Request, server: ServerHere, visitor: VisitorHere, link: Annotated[str, Query(max_length=200)] = ""
) -> Response:
    """Only looks: mail programs and scanners open links, too."""
    try:
        with reading(server.engine) as session:
            reset = password_resets.find(session, link, server.clock())
    except NotFound as error:
        return _form(request, "", error)
    return _form(request, link, username=reset.user.username)


@router.post("/new", dependencies=[OwnForm])
def choose(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    turn: PasswordTurn,
    link: Annotated[str, Form(max_length=200)] = "",
    password: FormText = "",
) -> Response:
    try:
        with writing(server.engine) as session:
            user = password_resets.use(session, link, password, server.settings, server.clock())
            settle_confirmed(session, user, server.clock())
    except (NotFound, InvalidForm) as error:
        return _form(request, link if isinstance(error, InvalidForm) else "", error)
    return RedirectResponse(LOGIN_AFTER_RESET, 303)


def _ask(request: Request, server: Server, username: str) -> None:
    limits, now = limits_of(request), server.clock()
    name = username.strip().lower()[:320]
    if not name:
        raise InvalidForm("Please correct what is marked.", fields={"username": "This is missing."})
    limits.hit(limits.rules.resets_address, client_of(request), now)
    limits.hit(limits.rules.resets_account, name, now)
    with writing(server.engine) as session:
        password_resets.ask(session, name, server.settings, now)


def _form(request: Request, link: str, error: EvergoldError | None = None, username: str = "") -> Response:
    context = {"link": link, "error": error, "username": username}
    response = render(request, "people/password_new.html", error.status if error else 200, **context)
    response.headers["Cache-Control"] = "no-store"  # its address is a secret
    return response
