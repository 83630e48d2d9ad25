"""Pages of a log-in with a provider: redirect, return, and the account, which is new or linked by its owner."""

from __future__ import annotations

from typing import Annotated, cast

from fastapi import Form, Query, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import Field
from sqlalchemy.orm import Session

from app.base.db import reading, writing
from app.base.errors import (
    EvergoldError,
    Forbidden,
    InvalidForm,
    LimitReached,
    NameTaken,
    NotAuthenticated,
)
from app.base.text import is_address, refuse
from app.models import ProviderLogin, User
from app.people import auth, email_confirmations, provider_logins, second_factor
from app.people.providers import Person
from app.teams.registration import settle_confirmed
from app.web.html.guards import OwnForm, PageForm, form_again, local_path
from app.web.html.rendering import render
from app.web.http.context import Server, ServerHere
from app.web.http.identity import VisitorHere
from app.web.http.rate_limits import client_of, limits_of
from app.web.http.routers import page_router
from app.web.people.clients import LOGIN_PLACE, client_of_provider, forget_login, login_cookie, remember_login
from app.web.people.log_in import log_in_page, proved_first
from app.web.people.passwords import PasswordTurn, check_password, counted_registration
from app.web.people.provider_turns import ProviderTurn

router = page_router()

FINISH = f"{LOGIN_PLACE}/finish"
Word = Annotated[str, Query(max_length=4096)]


class NewAccountForm(PageForm):
    """A new account. email: only needed if the provider has not verified an address."""

    username: str = ""
    email: str = ""
    display_name: str = ""


class OwnPasswordForm(PageForm):
    """The account to link, and its password."""

    owner: str = ""
    password: str = Field("", repr=False)


class OwnAddressForm(PageForm):
    """The address of the account to link."""

    address: str = ""


class MailedLinkForm(PageForm):
    """The secret of a mailed link."""

    link: str = Field("", max_length=200)


AnyForm = NewAccountForm | OwnPasswordForm | OwnAddressForm
#: The page's name for the form with the error.
_WRONG: dict[type, str] = {NewAccountForm: "account", OwnPasswordForm: "password", OwnAddressForm: "mail"}


@router.get(f"{LOGIN_PLACE}/with/{{provider}}")
def to_provider(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    turn: ProviderTurn,
    provider: str,
    following: Annotated[str, Query(alias="next")] = "",
) -> Response:
    """Redirect to the provider; from a link instead of a form, because a form may lead only to our own pages."""
    from app.people.provider_client import ProviderAway, authorization_address

    if visitor.user is not None:
        return RedirectResponse(local_path(following), 303)
    client = client_of_provider(server.settings, provider)
    with writing(server.engine) as session:
        cookie, secrets = provider_logins.begin(session, provider, following, server.clock())
    try:
        response: Response = RedirectResponse(authorization_address(client, secrets), 303)
    except ProviderAway as error:
        return _refused(request, following, error)
    remember_login(response, cookie, server.settings)
    response.headers["Cache-Control"] = "no-store"
    return response


@router.get(f"{LOGIN_PLACE}/with/{{provider}}/callback")
def from_provider(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    turn: ProviderTurn,
    provider: str,
    state: Word = "",
) -> Response:
    """Handle the provider's response, once, in the browser where the log-in began."""
    from app.people.provider_client import ProviderAway, ProviderRefused, person_of

    client, now = client_of_provider(server.settings, provider), server.clock()
    with writing(server.engine) as session:  # committed before the request to the provider: no second response
        login, secrets = provider_logins.take_answer(session, login_cookie(request), provider, state, now)
    try:
        person = person_of(client, dict(request.query_params), secrets)
    except (ProviderAway, ProviderRefused) as error:
        return _refused(request, login.following, error)
    if login.linking_id is not None:
        return _linked(server, visitor.user, login, person)
    with writing(server.engine) as session:
        user = provider_logins.account_of(session, person, provider, server.settings, now)
        if user is None:
            provider_logins.keep_answer(session, login.id, person)
        else:
            provider_logins.end(session, login)
    if user is None:
        return RedirectResponse(FINISH, 303)
    return forget_login(proved_first(request, server, user, login.following, client.title))


def _linked(server: Server, user: User | None, login: ProviderLogin, person: Person) -> Response:
    """Link the identity to the account that started the log-in, if its user is still logged in."""
    if user is None or user.id != login.linking_id:
        raise Forbidden("You are no longer logged in as the person who started this. Nothing was changed.")
    with writing(server.engine) as session:
        provider_logins.link(server.act(session, user), person, login.provider)
        provider_logins.end(session, login)
    return forget_login(RedirectResponse("/account/logins?done=linked", 303))


def _refused(request: Request, following: str, error: EvergoldError) -> Response:
    """Return the log-in page with the error."""
    response = log_in_page(request, following=following, error=error)
    response.status_code = error.status
    return response


# --------------------------------------------------------------------------------------------------- the first time


@router.get(FINISH)
def read_finish(request: Request, server: ServerHere) -> Response:
    return _finish_page(request)


def _finish_page(
    request: Request, form: AnyForm | None = None, sent: str = "", error: EvergoldError | None = None
) -> Response:
    """Return the page that completes a log-in. sent: the address to which a link is mailed if it has an account."""
    server = cast(Server, request.app.state.server)
    with reading(server.engine) as session:
        login, person = provider_logins.find_answered(session, login_cookie(request), server.clock())
    client = client_of_provider(server.settings, login.provider)
    typed = form if isinstance(form, NewAccountForm) else _proposed(person)
    return render(
        request,
        "people/login_finish.html",
        may_store=False,
        title=client.title,
        person=person,
        typed=typed,
        owner=form.owner if isinstance(form, OwnPasswordForm) else "",
        address=form.address if isinstance(form, OwnAddressForm) else "",
        passwords=server.settings.passwords,
        wrong=_WRONG[type(form)] if error and form else "",
        sent=sent,
        error=error,
    )


def _proposed(person: Person) -> NewAccountForm:
    """Return the form of a new account, filled in with the provider's data."""
    allowed = "".join(one for one in person.username.lower() if one.isascii() and (one.isalnum() or one in "._-"))
    return NewAccountForm(username=allowed.strip("._-")[:40], email=person.email, display_name=person.name[:100])


@router.post(f"{FINISH}/account", dependencies=[OwnForm])
@form_again(_finish_page, InvalidForm, NameTaken, LimitReached)
def open_account(request: Request, server: ServerHere, form: Annotated[NewAccountForm, Form()]) -> Response:
    with counted_registration(request, server.clock()), writing(server.engine) as session:
        user, (following, way) = _new_account(server, session, request, form)
    return forget_login(proved_first(request, server, user, following, way))


def _new_account(
    server: Server, session: Session, request: Request, form: NewAccountForm
) -> tuple[User, tuple[str, str]]:
    """Return the new account, where to continue, and how its owner logged in."""
    settings, now = server.settings, server.clock()
    login, person = provider_logins.find_answered(session, login_cookie(request), now)
    how = login.following, client_of_provider(settings, login.provider).title
    user = provider_logins.open_account(
        session,
        login,
        auth.NewAccount(form.username, form.email, None, form.display_name),
        settings,
        now,
    )
    if not person.is_email_proved:
        email_confirmations.send_link(session, user, settings, now)
    return user, how


@router.post(f"{FINISH}/password", dependencies=[OwnForm])
@form_again(_finish_page, NotAuthenticated, NameTaken, LimitReached)
def link_by_password(
    request: Request, server: ServerHere, turn: PasswordTurn, form: Annotated[OwnPasswordForm, Form()]
) -> Response:
    """Link the identity to the account whose password was entered."""
    now = server.clock()
    with reading(server.engine) as session:
        provider_logins.find_answered(session, login_cookie(request), now)
    user = check_password(request, server, username=form.owner, password=form.password)
    with writing(server.engine) as session:
        login, _ = provider_logins.find_answered(session, login_cookie(request), now)
        _check_first_is_enough(session, user)
        following = login.following
        provider_logins.link_answered(session, login, user, server.settings, now)
    return forget_login(proved_first(request, server, user, following, "password"))


def _check_first_is_enough(session: Session, user: User) -> None:
    """Raise Forbidden for an account with a second factor: the first factor alone must not link an identity."""
    if second_factor.has_second_factor(session, user):
        raise Forbidden("This account has a second factor: log in to it first, then link on the page 'Logging in'.")


@router.post(f"{FINISH}/mail", dependencies=[OwnForm])
@form_again(_finish_page, InvalidForm, LimitReached)
def ask_for_mail(request: Request, server: ServerHere, form: Annotated[OwnAddressForm, Form()]) -> Response:
    """Mail a link to the account with this address; response and duration do not reveal whether there is one."""
    limits, now, address = limits_of(request), server.clock(), form.address.strip().lower()
    refuse({"address": "" if is_address(address) else "This is not an e-mail address."})
    with reading(server.engine) as session:
        provider_logins.find_answered(session, login_cookie(request), now)
    limits.hit(limits.rules.resets_address, client_of(request), now)
    limits.hit(limits.rules.resets_account, address, now)
    with writing(server.engine) as session:
        login, _ = provider_logins.find_answered(session, login_cookie(request), now)
        title = client_of_provider(server.settings, login.provider).title
        provider_logins.ask_by_mail(session, login, address, title, server.settings, now)
    return _finish_page(request, form, sent=address)


@router.get(f"{FINISH}/link")
def read_link(request: Request, server: ServerHere, link: Annotated[str, Query(max_length=200)] = "") -> Response:
    """Show the form without using the link, because mail programs and scanners open links, too."""
    with reading(server.engine) as session:
        login, person, user = provider_logins.find_mailed(session, login_cookie(request), link, server.clock())
    title = client_of_provider(server.settings, login.provider).title
    # its address is a secret
    return render(
        request,
        "people/login_link.html",
        may_store=False,
        title=title,
        person=person,
        username=user.username,
        link=link,
    )


@router.post(f"{FINISH}/link", dependencies=[OwnForm])
def link_by_mail(request: Request, server: ServerHere, form: Annotated[MailedLinkForm, Form()]) -> Response:
    """Link the identity to the account that received the link."""
    now = server.clock()
    with writing(server.engine) as session:
        _, _, owner = provider_logins.find_mailed(session, login_cookie(request), form.link, now)
        if owner.email_confirmed:
            _check_first_is_enough(session, owner)
        user, following = provider_logins.link_mailed(session, login_cookie(request), form.link, server.settings, now)
        settle_confirmed(session, user, now)
    return forget_login(proved_first(request, server, user, following, "mail"))
