"""The pages on which users answer role invitations, and join as guests by a secret link."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query, Request, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.db import reading, writing
from app.models import User
from app.people.invitations import answer, competition_of_link, join_as_guest, own_invitations, what_for
from app.web.html.guards import PageUser, SentFields, SentForm, form_guard
from app.web.html.rendering import render
from app.web.http.context import ServerHere
from app.web.http.routers import page_router
from app.web.http.schemas import RowId

router = page_router()

OWN = "/invitations"
#: The secret is not part of the path, because paths are logged.
JOIN = "/join"
Secret = Annotated[str, Query(max_length=200)]
FromOwn = Annotated[User, Depends(form_guard(OWN))]


@router.get(OWN)
def read_invitations(request: Request, server: ServerHere, user: PageUser) -> Response:
    with reading(server.engine) as session:
        found = own_invitations(session, user, server.clock())
    return render(request, "people/invitations.html", invitations=found, what_for=what_for)


@router.post(f"{OWN}/{{invitation_id}}/accept")
def send_acceptance(server: ServerHere, user: FromOwn, invitation_id: RowId) -> Response:
    with writing(server.engine) as session:
        competition = answer(session, user, invitation_id, True, server.clock())
        return RedirectResponse(links.competition(competition.name), 303)


@router.post(f"{OWN}/{{invitation_id}}/decline")
def send_refusal(server: ServerHere, user: FromOwn, invitation_id: RowId) -> Response:
    with writing(server.engine) as session:
        answer(session, user, invitation_id, False, server.clock())
    return RedirectResponse(OWN, 303)


@router.get(JOIN)
def read_link(request: Request, server: ServerHere, user: PageUser, link: Secret = "") -> Response:
    with reading(server.engine) as session:
        found = competition_of_link(session, link, server.clock())
    response = render(request, "people/join.html", competition=found, secret=link)
    response.headers["Cache-Control"] = "no-store"
    return response


@router.post(JOIN)
def send_link(server: ServerHere, user: SentForm, form: SentFields) -> Response:
    with writing(server.engine) as session:
        competition = join_as_guest(session, user, form.get("link", ""), server.clock())
        return RedirectResponse(links.competition(competition.name), 303)
