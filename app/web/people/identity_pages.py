"""The page about logging in: linked providers, current login sessions, and the public ORCID iD."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Form, Query, Response
from fastapi.responses import RedirectResponse
from pydantic import Field

from app.base.db import writing
from app.base.errors import EvergoldError, Forbidden, InvalidForm, LimitReached
from app.people import logins, provider_logins, second_factor
from app.web.html.guards import FormSender, PageForm, PageUserVisit, Ticked, form_again, form_guard
from app.web.html.rendering import render, render_page
from app.web.http.identity import LOGINS, known_visitor
from app.web.http.routers import page_router
from app.web.http.schemas import RowId
from app.web.http.visit import UserVisit
from app.web.people.clients import client_of_provider, remember_login, site_of
from app.web.people.log_in import log_in_ways
from app.web.people.passwords import PasswordTurn, prove_again

router = page_router()

DONE = {
    "needed": "This server requires a second factor. Set one up here, then continue.",
    "app": "Done: from now on you need a code of your app to log in.",
    "passkey": "Added: from now on you need a passkey or a code to log in.",
    "removed": "Removed.",
    "ended": "Ended.",
    "linked": "Linked: from now on it opens your account.",
    "unlinked": "Unlinked: it no longer opens your account.",
    "orcid": "Kept.",
}
Sender = Annotated[FormSender, Depends(form_guard(LOGINS))]


class ProofForm(PageForm):
    """The form that proves ownership of the account. proof: its password, if it has one."""

    proof: str = Field("", repr=False)


class OrcidForm(PageForm):
    """The form that shows or hides the ORCID iD."""

    shown: Ticked = False


@router.get(LOGINS)
def read_logins(visit: PageUserVisit, done: Annotated[str, Query(max_length=20)] = "") -> Response:
    return logins_page(visit, done=DONE.get(done, ""))


def logins_page(visit: UserVisit, done: str = "", error: EvergoldError | None = None) -> Response:
    """Return the page about logging in."""
    settings, login = visit.server.settings, known_visitor(visit.request).login
    identities = provider_logins.list_identities(visit.session, visit.user)
    titles = dict(log_in_ways(settings))
    return render_page(
        visit,
        "people/logins.html",
        user=visit.user,
        identities=[(one, titles.get(one.provider, one.provider)) for one in identities],
        ways=log_in_ways(settings),
        proves_by_password=settings.passwords and visit.user.has_password,
        factors=second_factor.factors_of(visit.session, visit.user),
        has_passkeys=site_of(visit.request) is not None,
        logins=logins.list_logins(visit.session, visit.user, visit.now),
        this=login.id if login else 0,
        orcid=provider_logins.proved_orcid(identities, settings),
        done=done,
        error=error,
    )


@router.post(f"{LOGINS}/{{provider}}/link")
@form_again(logins_page, InvalidForm, LimitReached)
def begin_link(sender: Sender, turn: PasswordTurn, provider: str, form: Annotated[ProofForm, Form()]) -> Response:
    """Begin to link an identity; the next page has a link to the provider, because a form may lead only to our own
    pages.
    """
    from app.people.provider_client import authorization_address

    client = client_of_provider(sender.server.settings, provider)
    prove_again(sender, form.proof, "proof")
    with writing(sender.server.engine) as session:
        cookie, secrets = provider_logins.begin(session, provider, LOGINS, sender.server.clock(), linking=sender.user)
    onward = authorization_address(client, secrets)
    response = render(sender.request, "people/link_onward.html", may_store=False, title=client.title, onward=onward)
    remember_login(response, cookie, sender.server.settings)
    return response


@router.post(f"{LOGINS}/{{identity_id}}/unlink")
@form_again(logins_page, InvalidForm, LimitReached, Forbidden)
def unlink(sender: Sender, turn: PasswordTurn, identity_id: RowId, form: Annotated[ProofForm, Form()]) -> Response:
    prove_again(sender, form.proof, "proof")
    with writing(sender.server.engine) as session:
        provider_logins.unlink(session, sender.user, identity_id, sender.server.settings, sender.server.clock())
    return RedirectResponse(f"{LOGINS}?done=unlinked", 303)


@router.post(f"{LOGINS}/orcid")
def show_orcid(sender: Sender, form: Annotated[OrcidForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        provider_logins.show_orcid(session, sender.user, form.shown, sender.server.settings, sender.server.clock())
    return RedirectResponse(f"{LOGINS}?done=orcid", 303)


# ---------------------------------------------------------------------------------------------------------- log-ins


@router.post(f"{LOGINS}/end-others")
def end_others(sender: Sender) -> Response:
    with writing(sender.server.engine) as session:
        logins.end_others(session, sender.user, sender.login, sender.server.clock())
    return RedirectResponse(f"{LOGINS}?done=ended#logins", 303)


@router.post(f"{LOGINS}/{{login_id}}/end")
def end_login(sender: Sender, login_id: RowId) -> Response:
    with writing(sender.server.engine) as session:
        logins.end_login(session, sender.user, login_id, sender.server.clock())
    return RedirectResponse(f"{LOGINS}?done=ended#logins", 303)
