"""Registering on the pages: terms and state for the person, the list for organisers, and the link that confirms."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Path, Query, Request, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.db import reading, writing
from app.base.errors import EvergoldError, InvalidForm, LimitReached
from app.competitions.find import find_competition
from app.models import RegistrationStatus
from app.people import email_confirmations
from app.people.roles import check_may_organise, find_user, may_organise
from app.teams.registration import decide, list_registrations, settle_confirmed, standing
from app.teams.registration_rules import rules_of
from app.web.html.guards import to_login
from app.web.html.rendering import check_form, render
from app.web.http.context import Server, ServerHere
from app.web.http.identity import Visitor, VisitorHere
from app.web.people.login import with_headers
from app.web.teams.registration import register_here

router = APIRouter()

CONFIRM = "/account/confirm-email"
FormText = Annotated[str, Form()]
Secret = Annotated[str, Query(max_length=200)]
DECISIONS = {"approve": RegistrationStatus.APPROVED, "refuse": RegistrationStatus.REFUSED}


@router.get("/competitions/{competition}/registration")
def read_registration(request: Request, server: ServerHere, visitor: VisitorHere, competition: str) -> Response:
    return _page(request, server, visitor, competition)


@router.post("/competitions/{competition}/registration")
def register(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    competition: str,
    terms_sha256: FormText = "",
    terms: FormText = "",
    csrf_token: FormText = "",
) -> Response:
    if visitor.user is None:
        return to_login(request)
    check_form(request, csrf_token)
    try:
        register_here(request, server, visitor.user, competition, terms_sha256 if terms else None)
    except (InvalidForm, LimitReached) as error:
        return _page(request, server, visitor, competition, error)
    return RedirectResponse(links.registration(competition), 303)


@router.get("/competitions/{competition}/registrations")
def read_registrations(request: Request, server: ServerHere, visitor: VisitorHere, competition: str) -> Response:
    if visitor.user is None:
        return to_login(request)
    with reading(server.engine) as session:
        found = find_competition(session, competition)
        check_may_organise(session, visitor.user, found)
        rows = list_registrations(session, found)
    waiting = [row for row in rows if row.status == RegistrationStatus.PENDING]
    others = [row for row in rows if row.status != RegistrationStatus.PENDING]
    return render(
        request, "teams/registrations.html", competition=found, rules=rules_of(found), waiting=waiting, others=others
    )


@router.post("/competitions/{competition}/registrations/{username}")
def answer(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    competition: str,
    username: Annotated[str, Path(max_length=320)],
    decision: FormText = "",
    csrf_token: FormText = "",
) -> Response:
    if visitor.user is None:
        return RedirectResponse(f"/login?next={links.registrations(competition)}", 303)
    check_form(request, csrf_token)
    with writing(server.engine) as session:
        found = find_competition(session, competition)
        check_may_organise(session, visitor.user, found)
        theirs = find_user(session, username)
        if decision not in DECISIONS:
            raise InvalidForm("Please approve or refuse.", fields={"decision": "`approve` or `refuse`."})
        status = DECISIONS[decision]
        decide(session, found, theirs, status, server.settings, server.clock(), actor=visitor.user)
    return RedirectResponse(links.registrations(competition), 303)


@router.get(CONFIRM)
def read_confirmation(request: Request, server: ServerHere, visitor: VisitorHere, link: Secret = "") -> Response:
    """Only looks: mail programs and scanners open links, too. Who is logged in shows whose account it is about."""
    if visitor.user is None:
        return to_login(request)
    with reading(server.engine) as session:
        found = email_confirmations.find(session, visitor.user, link, server.clock())
    return _confirmation(request, email=found.email, link=link, entered=None)


@router.post(CONFIRM)
def confirm(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    link: Annotated[str, Form(max_length=200)] = "",
    csrf_token: FormText = "",
) -> Response:
    if visitor.user is None:
        return to_login(request)
    check_form(request, csrf_token)
    with writing(server.engine) as session:
        email_confirmations.confirm(session, visitor.user, link, server.clock())
        entered = settle_confirmed(session, visitor.user, server.clock())
    return _confirmation(request, email="", link="", entered=entered)


def _confirmation(request: Request, **context: object) -> Response:
    response = render(request, "people/confirm_email.html", **context)
    response.headers["Cache-Control"] = "no-store"  # its address is a secret
    return response


def _page(
    request: Request, server: Server, visitor: Visitor, competition: str, error: EvergoldError | None = None
) -> Response:
    with reading(server.engine) as session:
        found = find_competition(session, competition)
        mine = standing(session, found, visitor.user) if visitor.user else None
        is_organiser = may_organise(session, visitor.user, found)
    response = render(
        request,
        "teams/registration.html",
        error.status if error else 200,
        competition=found,
        rules=rules_of(found),
        mine=mine,
        is_organiser=is_organiser,
        error=error,
    )
    return with_headers(response, error, server) if error else response
