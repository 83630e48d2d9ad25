"""The people page of a competition, for organisers: roles, invitations, the guest link, the owner."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Form, Response
from fastapi.responses import RedirectResponse
from pydantic import Field

from app.base import links
from app.base.db import writing
from app.base.errors import EvergoldError
from app.competitions.find import organised
from app.competitions.organisers import (
    OrganiserLimits,
    can_transfer,
    change_rights,
    hand_over,
    limits_of,
    needs_to_take,
    take_role,
)
from app.models import Competition, Right, Role, User
from app.people.invitations import ROLE_WORDS, end_links, invite, make_link, open_invitations, take_back
from app.people.rights import ANY_RIGHT, RIGHT_WORDS, find_user, list_roles
from app.web.html.guards import FormSender, PageForm, PageUserVisit, form_again, form_guard
from app.web.html.rendering import render_page
from app.web.html.workspace import desk_of
from app.web.http.context import public_address
from app.web.http.routers import page_router
from app.web.http.schemas import RowId
from app.web.http.visit import UserVisit, user_visit_of

router = page_router()

PLACE = "/competitions/{competition}/people"
FromPage = Annotated[FormSender, Depends(form_guard(PLACE))]


class PersonForm(PageForm):
    """A person and a role. rights: permissions of an organiser."""

    whom: str = ""
    role: Role = Role.ORGANISER
    rights: list[Right] = Field(default_factory=list)


class OwnerForm(PageForm):
    """The new owner of a competition."""

    owner: str = ""


@router.get(PLACE)
def read_people(visit: PageUserVisit, competition: str) -> Response:
    return _page(visit, competition)


def _page(
    visit: UserVisit,
    competition: str,
    form: PageForm | None = None,
    error: EvergoldError | None = None,
    secret: str = "",
) -> Response:
    session, user, now = visit.session, visit.user, visit.now
    found = organised(session, user, competition, ANY_RIGHT)
    workspace = desk_of(session, found, visit.viewer)
    may_invite = Right.EDIT in workspace.rights
    return render_page(
        visit,
        "people/competition.html",
        may_store=False,
        competition=found,
        workspace=workspace,
        roles=list_roles(session, found),
        invitations=open_invitations(session, found, now) if may_invite else [],
        owner=session.get(User, found.owner_id) if found.owner_id else None,
        may_invite=may_invite,
        can_transfer=can_transfer(user, found),
        role_words=ROLE_WORDS,
        right_words=RIGHT_WORDS,
        link=public_address(visit.request, visit.server, links.join(secret)) if secret else "",
        typed=form,
        error=error,
    )


@router.post(f"{PLACE}/invite")
@form_again(_page)
def send_invitation(sender: FromPage, competition: str, form: Annotated[PersonForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        found = organised(session, sender.user, competition, Right.EDIT)
        invite(sender.act(session), found, form.whom, form.role, rights=form.rights)
    return RedirectResponse(links.people(competition), 303)


@router.post(f"{PLACE}/invitations/{{invitation_id}}/take-back")
def send_take_back(sender: FromPage, competition: str, invitation_id: RowId) -> Response:
    with writing(sender.server.engine) as session:
        take_back(sender.act(session), organised(session, sender.user, competition, Right.EDIT), invitation_id)
    return RedirectResponse(links.people(competition), 303)


@router.post(f"{PLACE}/revoke")
@form_again(_page)
def send_revoke(sender: FromPage, competition: str, form: Annotated[PersonForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        needed = needs_to_take(sender.user, form.role, form.whom)
        found = organised(session, sender.user, competition, needed)
        take_role(sender.act(session), found, find_user(session, form.whom), form.role)
        is_left = needed is ANY_RIGHT and not sender.user.is_administrator
    return RedirectResponse("/" if is_left else links.people(competition), 303)


@router.post(f"{PLACE}/rights")
@form_again(_page)
def send_rights(sender: FromPage, competition: str, form: Annotated[PersonForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        found = organised(session, sender.user, competition, ANY_RIGHT)
        change_rights(sender.act(session), found, find_user(session, form.whom), form.rights)
    return RedirectResponse(links.people(competition), 303)


@router.post(f"{PLACE}/link")
def send_link(sender: FromPage, competition: str) -> Response:
    """Create a guest link, which the next page shows once."""
    with writing(sender.server.engine) as session:
        secret = make_link(sender.act(session), organised(session, sender.user, competition, Right.EDIT))
    with user_visit_of(sender.request, sender.user) as visit:
        return _page(visit, competition, secret=secret)


@router.post(f"{PLACE}/link/end")
def send_end_of_link(sender: FromPage, competition: str) -> Response:
    with writing(sender.server.engine) as session:
        end_links(sender.act(session), organised(session, sender.user, competition, Right.EDIT))
    return RedirectResponse(links.people(competition), 303)


@router.post(f"{PLACE}/owner")
@form_again(_page)
def send_owner(sender: FromPage, competition: str, form: Annotated[OwnerForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        found: Competition = organised(session, sender.user, competition, ANY_RIGHT)
        limits: OrganiserLimits = limits_of(sender.server.settings)
        hand_over(sender.act(session), found, form.owner, limits)
    return RedirectResponse(links.people(competition), 303)
