"""Pages that set up and remove second factors: an app, passkeys, recovery codes."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Form, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import Field

from app.base.db import reading, writing
from app.base.errors import EvergoldError, Forbidden, InvalidForm, LimitReached
from app.models import LoginSession, User
from app.people import second_factor
from app.people.passkeys import Site, creation_options
from app.web.html.guards import LogInFirst, PageForm, PageUserVisit, form_again, form_guard
from app.web.html.rendering import render, render_page
from app.web.http.context import ServerHere
from app.web.http.identity import LOGINS, Visitor, VisitorHere
from app.web.http.routers import page_router
from app.web.http.schemas import RowId
from app.web.http.visit import UserVisit
from app.web.people.clients import site_of
from app.web.people.identity_pages import ProofForm, logins_page
from app.web.people.passwords import PasswordTurn, prove_again

router = page_router()

APP, PASSKEYS = f"{LOGINS}/app", f"{LOGINS}/passkeys"
Sender = Annotated[User, Depends(form_guard(LOGINS))]
Proof = Annotated[ProofForm, Form()]


class AppCodeForm(PageForm):
    """The first code of an authenticator app."""

    code: str = Field("", max_length=100, repr=False)


class NewPasskeyForm(PageForm):
    """The browser's response for a new passkey, as JSON, and a name for the passkey."""

    answer: str = Field("", max_length=20_000, repr=False)
    name: str = ""


@router.post(f"{APP}/begin")
@form_again(logins_page, InvalidForm, LimitReached, Forbidden)
def begin_app(
    request: Request, server: ServerHere, user: Sender, visitor: VisitorHere, turn: PasswordTurn, form: Proof
) -> Response:
    prove_again(request, server, visitor, form.proof, "proof")
    with writing(server.engine) as session:
        second_factor.begin_authenticator(session, user, server.clock())
    return RedirectResponse(APP, 303)


@router.get(APP)
def read_app(visit: PageUserVisit) -> Response:
    return _app_page(visit)


def _app_page(visit: UserVisit, error: EvergoldError | None = None) -> Response:
    import segno

    address, secret = second_factor.pending_authenticator(visit.session, visit.user, visit.server.settings.server_name)
    picture = segno.make(address, error="m").svg_data_uri(scale=4, border=4, light="white")
    return render_page(
        visit, "people/app.html", may_store=False, address=address, secret=secret, picture=picture, error=error
    )


@router.post(APP)
@form_again(_app_page, InvalidForm)
def confirm_app(
    request: Request, server: ServerHere, user: Sender, visitor: VisitorHere, form: Annotated[AppCodeForm, Form()]
) -> Response:
    with writing(server.engine) as session:
        second_factor.confirm_authenticator(server.act(session, user), _login(visitor), form.code)
    return _set_up(request, user, "app")


@router.post(f"{APP}/remove")
@form_again(logins_page, InvalidForm, LimitReached)
def remove_app(
    request: Request, server: ServerHere, user: Sender, visitor: VisitorHere, turn: PasswordTurn, form: Proof
) -> Response:
    prove_again(request, server, visitor, form.proof, "proof")
    with writing(server.engine) as session:
        second_factor.remove_authenticator(session, user, server.settings, server.clock())
    return RedirectResponse(f"{LOGINS}?done=removed", 303)


@router.post(f"{PASSKEYS}/begin")
@form_again(logins_page, InvalidForm, LimitReached, Forbidden)
def begin_passkey(
    request: Request, server: ServerHere, user: Sender, visitor: VisitorHere, turn: PasswordTurn, form: Proof
) -> Response:
    """Begin to add a passkey; the next page requests it from the browser."""
    site = _site(request)
    prove_again(request, server, visitor, form.proof, "proof")
    with writing(server.engine) as session:
        known = [one.credential for one in second_factor.factors_of(session, user).passkeys]
        options, challenge = creation_options(site, (user.id, user.username), known)
        second_factor.keep_challenge(session, _login(visitor), challenge)
    return render(request, "people/passkey.html", may_store=False, options=options)


@router.post(PASSKEYS)
@form_again(logins_page, InvalidForm, Forbidden)
def add_passkey(
    request: Request, server: ServerHere, user: Sender, visitor: VisitorHere, form: Annotated[NewPasskeyForm, Form()]
) -> Response:
    site, sent = _site(request), (form.answer, form.name)
    with writing(server.engine) as session:
        second_factor.add_passkey(server.act(session, user), _login(visitor), sent, site)
    return _set_up(request, user, "passkey")


@router.post(f"{PASSKEYS}/{{passkey_id}}/remove")
@form_again(logins_page, InvalidForm, LimitReached)
def remove_passkey(
    request: Request,
    server: ServerHere,
    user: Sender,
    visitor: VisitorHere,
    turn: PasswordTurn,
    passkey_id: RowId,
    form: Proof,
) -> Response:
    prove_again(request, server, visitor, form.proof, "proof")
    with writing(server.engine) as session:
        second_factor.remove_passkey(session, user, passkey_id, server.settings, server.clock())
    return RedirectResponse(f"{LOGINS}?done=removed", 303)


@router.post(f"{LOGINS}/codes")
@form_again(logins_page, InvalidForm, LimitReached, Forbidden)
def make_codes(
    request: Request, server: ServerHere, user: Sender, visitor: VisitorHere, turn: PasswordTurn, form: Proof
) -> Response:
    """Create new recovery codes, which the next page shows once."""
    prove_again(request, server, visitor, form.proof, "proof")
    return _codes_page(request, user)


def _set_up(request: Request, user: User, done: str) -> Response:
    """Return the page after a factor was added: new recovery codes if none are left, otherwise the list."""
    with reading(request.app.state.server.engine) as session:
        codes = second_factor.factors_of(session, user).codes
    return RedirectResponse(f"{LOGINS}?done={done}", 303) if codes else _codes_page(request, user)


def _codes_page(request: Request, user: User) -> Response:
    server = request.app.state.server
    with writing(server.engine) as session:
        codes = second_factor.new_codes(session, user, server.settings, server.clock())
    return render(request, "people/codes.html", may_store=False, codes=codes)


def _login(visitor: Visitor) -> LoginSession:
    """Return the login session, which the guard of the form has already checked."""
    if visitor.login is None:
        raise LogInFirst(LOGINS, was_sent=True)
    return visitor.login


def _site(request: Request) -> Site:
    site = site_of(request)
    if site is None:
        raise Forbidden("Passkeys need a server with a name and HTTPS.")
    return site
