"""The page of the user's team: name, members, invitation link, leaving; and the page that an invitation link opens."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Form, Query, Response
from fastapi.responses import RedirectResponse
from pydantic import Field

from app.base import links
from app.base.db import writing
from app.base.errors import EvergoldError, InvalidForm, NameTaken
from app.competitions.allowances import allowances_of, late_entries
from app.competitions.find import find_competition
from app.teams.find import find_team, members_of, view_team
from app.teams.membership import (
    AlreadyInTeam,
    NamesFixed,
    TeamFull,
    create_team,
    find_invitation,
    invite,
    join_team,
    leave_team,
    remove_member,
    rename_team,
    revoke_invitation,
    transfer_team,
)
from app.teams.merge_offers import offers_of
from app.teams.registration import standing
from app.web.html.guards import FormSender, PageForm, PageUserVisit, form_again, form_guard
from app.web.html.rendering import render_page
from app.web.html.workspace import workspace_of
from app.web.http.context import public_address
from app.web.http.routers import page_router
from app.web.http.visit import UserVisit

PLACE = "/competitions/{competition}/team"
router = page_router(PLACE)

#: Passes a new link through the redirect to the page that shows it, once.
LINK_COOKIE = "evergold_invitation"
LINK_SECONDS = 60
#: The user who sends a form of this page; the page behind an invitation leads here, too.
Sender = Annotated[FormSender, Depends(form_guard(PLACE))]


class NameForm(PageForm):
    """A team's name."""

    name: str = ""


class MemberForm(PageForm):
    """The user name of a member."""

    username: str = ""


class JoinForm(PageForm):
    """The secret of an invitation."""

    link: str = Field("", max_length=200)


@router.get("")
def read_team(visit: PageUserVisit, competition: str) -> Response:
    secret = visit.request.cookies.get(LINK_COOKIE, "")
    response = team_page(visit, competition, secret=secret)
    if secret:
        response.delete_cookie(LINK_COOKIE, path=links.team(competition))
    return response


def team_page(
    visit: UserVisit,
    competition: str,
    form: PageForm | None = None,
    secret: str = "",
    error: EvergoldError | None = None,
) -> Response:
    """Return the team page. secret: of an invitation that was just created."""
    session, user, now = visit.session, visit.user, visit.now
    found = find_competition(session, competition)
    team = find_team(session, user, found.id)
    view = view_team(session, found, team, now) if team else None
    missing = standing(session, found, user).missing
    allowed = allowances_of(session, team) if team else []
    allowances = [(row, late_entries(session, row, row.phase)) for row in allowed]
    merging = offers_of(session, found, team, now)
    workspace = workspace_of(session, found, visit.viewer, "overview")
    return render_page(
        visit,
        "teams/page.html",
        may_store=not secret,
        competition=found,
        workspace=workspace,
        view=view,
        is_captain=view is not None and any(one.is_captain and one.username == user.username for one in view.members),
        is_fixed=view is not None and view.name_fixed_at is not None and now >= view.name_fixed_at,
        missing=missing,
        merging=merging,
        asked=getattr(form, "team", ""),
        allowances=allowances,
        now=now,
        typed=form.name if isinstance(form, NameForm) else None,
        link=public_address(visit.request, visit.server, links.join_team(found.name, secret)) if secret else "",
        error=error,
    )


@router.post("/name")
@form_again(team_page, InvalidForm, NameTaken, AlreadyInTeam, TeamFull, NamesFixed)
def name_team(sender: Sender, competition: str, form: Annotated[NameForm, Form()]) -> Response:
    """Create a team for a user without one, or rename the user's team."""
    with writing(sender.server.engine) as session:
        found = find_competition(session, competition)
        has_team = find_team(session, sender.user, found.id) is not None
        (rename_team if has_team else create_team)(sender.act(session), found, form.name)
    return RedirectResponse(links.team(competition), 303)


@router.post("/invitation")
@form_again(team_page, TeamFull)
def make_invitation(sender: Sender, competition: str) -> Response:
    with writing(sender.server.engine) as session:
        _, secret = invite(sender.act(session), find_competition(session, competition))
    response = RedirectResponse(f"{links.team(competition)}#invitation", 303)
    response.set_cookie(
        LINK_COOKIE,
        secret,
        max_age=LINK_SECONDS,
        path=links.team(competition),
        httponly=True,
        samesite="strict",
        secure=sender.server.settings.secure_cookies,
    )
    return response


@router.post("/invitation/revoke")
def end_invitation(sender: Sender, competition: str) -> Response:
    with writing(sender.server.engine) as session:
        revoke_invitation(sender.act(session), find_competition(session, competition))
    return RedirectResponse(links.team(competition), 303)


@router.post("/leave")
def leave(sender: Sender, competition: str) -> Response:
    with writing(sender.server.engine) as session:
        leave_team(sender.act(session), find_competition(session, competition))
    return RedirectResponse(links.team(competition), 303)


@router.post("/captain")
def hand_over(sender: Sender, competition: str, form: Annotated[MemberForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        transfer_team(sender.act(session), find_competition(session, competition), form.username)
    return RedirectResponse(links.team(competition), 303)


@router.post("/remove")
@form_again(team_page, InvalidForm)
def remove(sender: Sender, competition: str, form: Annotated[MemberForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        remove_member(sender.act(session), find_competition(session, competition), form.username)
    return RedirectResponse(links.team(competition), 303)


# --------------------------------------------------------------------------------------------------------- invitations


@router.get("/join")
def read_invitation(
    visit: PageUserVisit,
    competition: str,
    link: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    return _invitation(visit, competition, JoinForm(link=link))


def _invitation(
    visit: UserVisit,
    competition: str,
    form: JoinForm,
    error: EvergoldError | None = None,
) -> Response:
    session, user = visit.session, visit.user
    found = find_competition(session, competition)
    invitation = find_invitation(session, found, form.link, visit.now)
    present = find_team(session, user, found.id)
    return render_page(
        visit,
        "teams/join.html",
        may_store=False,  # its address is a secret
        competition=found,
        workspace=workspace_of(session, found, visit.viewer, "overview"),
        team=invitation.team,
        present=present,
        others=len(members_of(session, present)) - 1 if present else 0,
        missing=standing(session, found, user).missing,
        link=form.link,
        error=error,
    )


@router.post("/join")
@form_again(_invitation, AlreadyInTeam, TeamFull)
def join(sender: Sender, competition: str, form: Annotated[JoinForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        act = sender.act(session)
        found = find_competition(session, competition)
        join_team(act, found, find_invitation(session, found, form.link, act.now))
    return RedirectResponse(links.team(competition), 303)
