"""Pages that set up and remove second factors: an app, passkeys, recovery codes."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Form, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import Field

from app.base.db import reading, writing
from app.base.errors import EvergoldError, Forbidden, InvalidForm, LimitReached
from app.people import second_factor
from app.people.passkeys import Site, creation_options
from app.web.html.guards import FormSender, PageForm, PageUserVisit, form_again, form_guard
from app.web.html.rendering import render, render_page
from app.web.http.identity import LOGINS
from app.web.http.routers import page_router
from app.web.http.schemas import RowId
from app.web.http.visit import UserVisit
from app.web.people.clients import site_of
from app.web.people.identity_pages import ProofForm, logins_page
from app.web.people.passwords import PasswordTurn, prove_again

router = page_router()

APP, PASSKEYS = f"{LOGINS}/app", f"{LOGINS}/passkeys"
Sender = Annotated[FormSender, Depends(form_guard(LOGINS))]
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
def begin_app(sender: Sender, turn: PasswordTurn, form: Proof) -> Response:
    prove_again(sender, form.proof, "proof")
    with writing(sender.server.engine) as session:
        second_factor.begin_authenticator(session, sender.user, sender.server.clock())
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
def confirm_app(sender: Sender, form: Annotated[AppCodeForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        second_factor.confirm_authenticator(sender.act(session), sender.login, form.code)
    return _set_up(sender, "app")


@router.post(f"{APP}/remove")
@form_again(logins_page, InvalidForm, LimitReached)
def remove_app(sender: Sender, turn: PasswordTurn, form: Proof) -> Response:
    prove_again(sender, form.proof, "proof")
    with writing(sender.server.engine) as session:
        second_factor.remove_authenticator(session, sender.user, sender.server.settings, sender.server.clock())
    return RedirectResponse(f"{LOGINS}?done=removed", 303)


@router.post(f"{PASSKEYS}/begin")
@form_again(logins_page, InvalidForm, LimitReached, Forbidden)
def begin_passkey(sender: Sender, turn: PasswordTurn, form: Proof) -> Response:
    """Begin to add a passkey; the next page requests it from the browser."""
    site = _site(sender.request)
    prove_again(sender, form.proof, "proof")
    with writing(sender.server.engine) as session:
        known = [one.credential for one in second_factor.factors_of(session, sender.user).passkeys]
        options, challenge = creation_options(site, (sender.user.id, sender.user.username), known)
        second_factor.keep_challenge(session, sender.login, challenge)
    return render(sender.request, "people/passkey.html", may_store=False, options=options)


@router.post(PASSKEYS)
@form_again(logins_page, InvalidForm, Forbidden)
def add_passkey(sender: Sender, form: Annotated[NewPasskeyForm, Form()]) -> Response:
    site, sent = _site(sender.request), (form.answer, form.name)
    with writing(sender.server.engine) as session:
        second_factor.add_passkey(sender.act(session), sender.login, sent, site)
    return _set_up(sender, "passkey")


@router.post(f"{PASSKEYS}/{{passkey_id}}/remove")
@form_again(logins_page, InvalidForm, LimitReached)
def remove_passkey(sender: Sender, turn: PasswordTurn, passkey_id: RowId, form: Proof) -> Response:
    prove_again(sender, form.proof, "proof")
    with writing(sender.server.engine) as session:
        second_factor.remove_passkey(session, sender.user, passkey_id, sender.server.settings, sender.server.clock())
    return RedirectResponse(f"{LOGINS}?done=removed", 303)


@router.post(f"{LOGINS}/codes")
@form_again(logins_page, InvalidForm, LimitReached, Forbidden)
def make_codes(sender: Sender, turn: PasswordTurn, form: Proof) -> Response:
    """Create new recovery codes, which the next page shows once."""
    prove_again(sender, form.proof, "proof")
    return _codes_page(sender)


def _set_up(sender: FormSender, done: str) -> Response:
    """Return the page after a factor was added: new recovery codes if none are left, otherwise the list."""
    with reading(sender.server.engine) as session:
        codes = second_factor.factors_of(session, sender.user).codes
    return RedirectResponse(f"{LOGINS}?done={done}", 303) if codes else _codes_page(sender)


def _codes_page(sender: FormSender) -> Response:
    server = sender.server
    with writing(server.engine) as session:
        codes = second_factor.new_codes(session, sender.user, server.settings, server.clock())
    return render(sender.request, "people/codes.html", may_store=False, codes=codes)


def _site(request: Request) -> Site:
    site = site_of(request)
    if site is None:
        raise Forbidden("Passkeys need a server with a name and HTTPS.")
    return site
