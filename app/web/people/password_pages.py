"""Password reset pages: requesting a link by mail, and choosing a new password with it."""

from __future__ import annotations

from typing import Annotated

from fastapi import Form, Query, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import Field

from app.base.db import writing
from app.base.errors import EvergoldError, InvalidForm, LimitReached, NotFound
from app.people import password_resets
from app.teams.registration import settle_confirmed
from app.web.html.guards import OwnForm, PageForm, form_again
from app.web.html.rendering import render
from app.web.http.context import Server, ServerHere
from app.web.http.identity import VisitorHere
from app.web.http.rate_limits import client_of, limits_of
from app.web.http.routers import page_router
from app.web.http.visit import PlainPageVisit
from app.web.people.log_in import check_passwords_taken
from app.web.people.passwords import PasswordTurn

router = page_router("/password")

#: Where users are redirected after choosing a new password.
LOGIN_AFTER_RESET = "/login?done=password"


class ForgotForm(PageForm):
    """The account whose password is forgotten: a user name or an email address."""

    username: str = ""


class NewPasswordForm(PageForm):
    """The mailed secret, and the new password."""

    link: str = Field("", max_length=200)
    password: str = Field("", repr=False)


@router.get("/forgot")
def read_forgot(request: Request, server: ServerHere, visitor: VisitorHere) -> Response:
    check_passwords_taken(server.settings)
    return _forgot_page(request, ForgotForm())


def _forgot_page(
    request: Request, form: ForgotForm, sent: bool = False, error: EvergoldError | None = None
) -> Response:
    return render(request, "people/password_forgot.html", username=form.username, error=error, sent=sent)


@router.post("/forgot", dependencies=[OwnForm])
@form_again(_forgot_page, InvalidForm, LimitReached)
def ask_for_link(request: Request, server: ServerHere, form: Annotated[ForgotForm, Form()]) -> Response:
    """Mail a reset link; response and duration do not reveal whether the account exists."""
    _ask(request, server, form.username)
    return _forgot_page(request, form, sent=True)


@router.get("/new")
def read_new(visit: PlainPageVisit, link: Annotated[str, Query(max_length=200)] = "") -> Response:
    """Show the form without using the link, because mail programs and scanners open links, too."""
    check_passwords_taken(visit.server.settings)
    try:
        reset = password_resets.find(visit.session, link, visit.now)
    except NotFound as error:
        return _new_page(visit.request, NewPasswordForm(), error=error, status=error.status)
    return _new_page(visit.request, NewPasswordForm(link=link), reset.user.username)


def _new_page(
    request: Request, form: NewPasswordForm, username: str = "", status: int = 200, error: EvergoldError | None = None
) -> Response:
    """Return the page for a new password; it does not repeat an invalid link in its form."""
    link = "" if isinstance(error, NotFound) else form.link
    # its address is a secret
    return render(
        request, "people/password_new.html", status, may_store=False, link=link, error=error, username=username
    )


@router.post("/new", dependencies=[OwnForm])
@form_again(_new_page, NotFound, InvalidForm)
def choose(
    request: Request, server: ServerHere, turn: PasswordTurn, form: Annotated[NewPasswordForm, Form()]
) -> Response:
    check_passwords_taken(server.settings)
    with writing(server.engine) as session:
        user = password_resets.use(session, form.link, form.password, server.settings, server.clock())
        settle_confirmed(session, user, server.clock())
    return RedirectResponse(LOGIN_AFTER_RESET, 303)


def _ask(request: Request, server: Server, username: str) -> None:
    check_passwords_taken(server.settings)
    limits, now = limits_of(request), server.clock()
    name = username.strip().lower()[:320]
    if not name:
        raise InvalidForm("Please correct the marked fields.", fields={"username": "This field is required."})
    limits.hit(limits.rules.resets_address, client_of(request), now)
    limits.hit(limits.rules.resets_account, name, now)
    with writing(server.engine) as session:
        password_resets.ask(session, name, server.settings, now)
