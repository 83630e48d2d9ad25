"""The page of one's team: its name and members, the link that invites, leaving it; and the page behind such a link."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.db import reading, writing
from app.base.errors import EvergoldError, InvalidForm, NameTaken
from app.competitions.find import find_competition
from app.models import User
from app.teams.find import find_team, members_of, view_team
from app.teams.invitations import find_invitation, invite, revoke_invitation
from app.teams.membership import (
    AlreadyInTeam,
    NamesFixed,
    TeamFull,
    create_team,
    join_team,
    leave_team,
    remove_member,
    rename_team,
    transfer_team,
)
from app.teams.registration import standing
from app.web.html.guards import to_login
from app.web.html.rendering import check_form, render
from app.web.http.context import Server, ServerHere
from app.web.http.identity import VisitorHere
from app.web.teams.api import invitation_link

router = APIRouter(prefix="/competitions/{competition}/team")

#: Carries a new link over the redirect to the page that shows it, once.
LINK_COOKIE = "evergold_invitation"
LINK_SECONDS = 60
FormText = Annotated[str, Form()]
#: What a form can do about: it is shown again, with what was typed.
_CORRECTABLE = (InvalidForm, NameTaken, AlreadyInTeam, TeamFull, NamesFixed)


@router.get("")
def read_team(request: Request, server: ServerHere, visitor: VisitorHere, competition: str) -> Response:
    if visitor.user is None:
        return to_login(request)
    link = request.cookies.get(LINK_COOKIE, "")
    response = _page(request, server, visitor.user, competition, link=link)
    if link:
        response.headers["Cache-Control"] = "no-store"
        response.delete_cookie(LINK_COOKIE, path=links.team(competition))
    return response


@router.post("/name")
def name_team(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    competition: str,
    name: FormText = "",
    csrf_token: FormText = "",
) -> Response:
    """A new team for who has none, or another name for the one that there is."""
    if visitor.user is None:
        return _log_in_first(competition)
    check_form(request, csrf_token)
    try:
        with writing(server.engine) as session:
            found = find_competition(session, competition)
            has_team = find_team(session, visitor.user, found.id) is not None
            (rename_team if has_team else create_team)(session, found, visitor.user, name, server.clock())
    except _CORRECTABLE as error:
        return _page(request, server, visitor.user, competition, typed=name, error=error)
    return RedirectResponse(links.team(competition), 303)


@router.post("/invitation")
def make_invitation(
    request: Request, server: ServerHere, visitor: VisitorHere, competition: str, csrf_token: FormText = ""
) -> Response:
    if visitor.user is None:
        return _log_in_first(competition)
    check_form(request, csrf_token)
    try:
        with writing(server.engine) as session:
            found = find_competition(session, competition)
            _, secret = invite(session, found, visitor.user, server.clock())
    except TeamFull as error:
        return _page(request, server, visitor.user, competition, error=error)
    response = RedirectResponse(f"{links.team(competition)}#invitation", 303)
    response.set_cookie(
        LINK_COOKIE,
        secret,
        max_age=LINK_SECONDS,
        path=links.team(competition),
        httponly=True,
        samesite="strict",
        secure=server.settings.secure_cookies,
    )
    return response


@router.post("/invitation/revoke")
def end_invitation(
    request: Request, server: ServerHere, visitor: VisitorHere, competition: str, csrf_token: FormText = ""
) -> Response:
    if visitor.user is None:
        return _log_in_first(competition)
    check_form(request, csrf_token)
    with writing(server.engine) as session:
        revoke_invitation(session, find_competition(session, competition), visitor.user, server.clock())
    return RedirectResponse(links.team(competition), 303)


@router.post("/leave")
def leave(
    request: Request, server: ServerHere, visitor: VisitorHere, competition: str, csrf_token: FormText = ""
) -> Response:
    if visitor.user is None:
        return _log_in_first(competition)
    check_form(request, csrf_token)
    with writing(server.engine) as session:
        leave_team(session, find_competition(session, competition), visitor.user, server.clock())
    return RedirectResponse(links.team(competition), 303)


@router.post("/captain")
def hand_over(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    competition: str,
    username: FormText = "",
    csrf_token: FormText = "",
) -> Response:
    if visitor.user is None:
        return _log_in_first(competition)
    check_form(request, csrf_token)
    with writing(server.engine) as session:
        transfer_team(session, find_competition(session, competition), visitor.user, username, server.clock())
    return RedirectResponse(links.team(competition), 303)


@router.post("/remove")
def remove(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    competition: str,
    username: FormText = "",
    csrf_token: FormText = "",
) -> Response:
    if visitor.user is None:
        return _log_in_first(competition)
    check_form(request, csrf_token)
    try:
        with writing(server.engine) as session:
            remove_member(session, find_competition(session, competition), visitor.user, username, server.clock())
    except InvalidForm as error:
        return _page(request, server, visitor.user, competition, error=error)
    return RedirectResponse(links.team(competition), 303)


@router.get("/join")
def read_invitation(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    competition: str,
    link: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    if visitor.user is None:
        return to_login(request)
    return _invitation(request, server, visitor.user, competition, link)


@router.post("/join")
def join(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    competition: str,
    link: Annotated[str, Form(max_length=200)] = "",
    csrf_token: FormText = "",
) -> Response:
    if visitor.user is None:
        return _log_in_first(competition)
    check_form(request, csrf_token)
    now = server.clock()
    try:
        with writing(server.engine) as session:
            found = find_competition(session, competition)
            join_team(session, found, visitor.user, find_invitation(session, found, link, now), now)
    except (AlreadyInTeam, TeamFull) as error:
        return _invitation(request, server, visitor.user, competition, link, error)
    return RedirectResponse(links.team(competition), 303)


def _log_in_first(competition: str) -> Response:
    return RedirectResponse(f"/login?next={links.team(competition)}", 303)


def _page(
    request: Request,
    server: Server,
    user: User,
    competition: str,
    *,
    typed: str | None = None,
    link: str = "",
    error: EvergoldError | None = None,
) -> Response:
    now = server.clock()
    with reading(server.engine) as session:
        found = find_competition(session, competition)
        view = view_team(session, found, user, now)
        missing = standing(session, found, user).missing
    return render(
        request,
        "teams/page.html",
        error.status if error else 200,
        competition=found,
        view=view,
        is_captain=view is not None and view.captain_id == user.id,
        is_fixed=view is not None and view.name_fixed_at is not None and now >= view.name_fixed_at,
        missing=missing,
        typed=typed,
        link=invitation_link(request, server, found.name, link) if link else "",
        error=error,
    )


def _invitation(
    request: Request,
    server: Server,
    user: User,
    competition: str,
    link: str,
    error: EvergoldError | None = None,
) -> Response:
    with reading(server.engine) as session:
        found = find_competition(session, competition)
        invitation = find_invitation(session, found, link, server.clock())
        present = find_team(session, user, found.id)
        response = render(
            request,
            "teams/join.html",
            error.status if error else 200,
            competition=found,
            team=invitation.team,
            present=present,
            others=len(members_of(session, present)) - 1 if present else 0,
            missing=standing(session, found, user).missing,
            link=link,
            error=error,
        )
    response.headers["Cache-Control"] = "no-store"  # its address is a secret
    return response
