"""The announcements page of a competition, on which organisers also preview, publish and edit them."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Form, Request, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.db import reading, writing
from app.base.errors import EvergoldError
from app.base.text import many_lines
from app.competitions.find import find_competition, organised
from app.messages.announcements import (
    TEXT_CHARACTERS,
    AnnouncementForm,
    Receivers,
    announcements_of,
    edit,
    find_announcement,
    publish,
    receivers,
    withdraw,
)
from app.messages.groups import GroupName, chosen_group, groups_for
from app.models import Competition, Right, User
from app.models.messages import TITLE_CHARACTERS
from app.people.rights import may_organise
from app.texts.html import text_fault
from app.web.html.forms import PageForm, Ticked
from app.web.html.guards import PageUser, SentForm, form_again, form_guard
from app.web.html.rendering import render
from app.web.html.workspace import workspace_of
from app.web.http.context import Server, ServerHere
from app.web.http.routers import page_router
from app.web.http.schemas import RowId
from app.web.http.viewer import Viewer, ViewerHere

router = page_router()

PLACE = "/competitions/{competition}/announcements"
ONE = f"{PLACE}/{{announcement_id}}"
LIMITS = {"title": TITLE_CHARACTERS, "text": TEXT_CHARACTERS}


class AnnouncementPageForm(PageForm):
    """An announcement.

    mail: the group of recipients; counted: the group whose number was shown before; key: unique per form, so that a
    double click publishes once.
    """

    title: str = ""
    text: str = ""
    is_pinned: Ticked = False
    mail: str = ""
    counted: str = ""
    key: str = ""
    action: str = "preview"

    def announcement(self) -> AnnouncementForm:
        return AnnouncementForm(self.title, self.text, self.is_pinned)


Written = Annotated[AnnouncementPageForm, Form()]


@dataclass(frozen=True, slots=True)
class Preview:
    """The selected group, and the number of people a mail would reach; None: no mail."""

    mail: str
    receivers: Receivers | None


@router.get(PLACE)
def read_announcements(request: Request, server: ServerHere, viewer: ViewerHere, competition: str) -> Response:
    return _page(request, server, viewer, competition)


def _page(
    request: Request,
    server: Server,
    viewer: Viewer,
    competition: str,
    form: AnnouncementPageForm | None = None,
    preview: Preview | None = None,
    error: EvergoldError | None = None,
) -> Response:
    with reading(server.engine) as session:
        found = find_competition(session, competition)
        organises = viewer.seen_as is None and may_organise(session, viewer.user, found, Right.MESSAGES)
        listed = announcements_of(session, found, with_withdrawn=organises)
        workspace = workspace_of(session, found, viewer, server.clock(), "questions")
    return render(
        request,
        "messages/announcements.html",
        competition=found,
        workspace=workspace,
        announcements=listed,
        organises=organises,
        typed=form or AnnouncementPageForm(),
        preview=preview,
        error=error,
        key=(form and form.key) or secrets.token_urlsafe(16),
        groups=_groups(found, workspace.rights),
        limits=LIMITS,
    )


def _write_again(
    request: Request, server: Server, user: User, competition: str, form: AnnouncementPageForm, error: EvergoldError
) -> Response:
    return _page(request, server, Viewer(user, None), competition, form, error=error)


@router.post(PLACE)
@form_again(_write_again)
def send_announcement(
    request: Request, server: ServerHere, user: SentForm, competition: str, form: Written
) -> Response:
    """Nothing goes out to a group whose number was not shown before."""
    if form.action != "publish" or form.mail != form.counted:
        preview = _preview(server, user, competition, form)
        return _page(request, server, Viewer(user, None), competition, form, preview)
    text_fault(many_lines(form.text))  # before anything is locked
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.MESSAGES)
        publish(
            session,
            found,
            form.announcement(),
            author=user,
            group=chosen_group(session, found, form.mail, user),
            key=form.key,
            settings=server.settings,
            now=server.clock(),
        )
    return RedirectResponse(links.announcements(competition), 303)


def _preview(server: Server, user: User, competition: str, form: AnnouncementPageForm) -> Preview:
    with reading(server.engine) as session:
        found = organised(session, user, competition, Right.MESSAGES)
        form.announcement().checked()
        group = chosen_group(session, found, form.mail, user)
        return Preview(form.mail, receivers(session, found, group) if group is not None else None)


# ------------------------------------------------------------------------------------------------------------- one


@router.get(ONE)
def read_edit(
    request: Request, server: ServerHere, user: PageUser, competition: str, announcement_id: RowId
) -> Response:
    return _edit_page(request, server, user, competition, announcement_id)


def _edit_page(
    request: Request,
    server: Server,
    user: User,
    competition: str,
    announcement_id: int,
    form: AnnouncementPageForm | None = None,
    error: EvergoldError | None = None,
) -> Response:
    with reading(server.engine) as session:
        found = organised(session, user, competition, Right.MESSAGES)
        one = find_announcement(session, found, announcement_id)
        workspace = workspace_of(session, found, Viewer(user, None), server.clock(), "questions")
    typed = form or AnnouncementPageForm(title=one.title, text=one.text, is_pinned=one.is_pinned)
    template = "messages/announcement_edit.html"
    return render(
        request, template, competition=found, workspace=workspace, one=one, typed=typed, error=error, limits=LIMITS
    )


@router.post(ONE)
@form_again(_edit_page)
def send_edit(
    request: Request, server: ServerHere, user: SentForm, competition: str, announcement_id: RowId, form: Written
) -> Response:
    text_fault(many_lines(form.text))  # before anything is locked
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.MESSAGES)
        edit(session, found, announcement_id, form.announcement(), editor=user, now=server.clock())
    return RedirectResponse(f"{links.announcements(competition)}#announcement-{announcement_id}", 303)


@router.post(f"{ONE}/withdraw")
def send_withdraw(
    server: ServerHere,
    user: Annotated[User, Depends(form_guard(PLACE))],
    competition: str,
    announcement_id: RowId,
) -> Response:
    with writing(server.engine) as session:
        withdraw(
            session,
            organised(session, user, competition, Right.MESSAGES),
            announcement_id,
            actor=user,
            now=server.clock(),
        )
    return RedirectResponse(links.announcements(competition), 303)


_GROUPS = {
    GroupName.ALL: "everybody who takes part",
    GroupName.ENTERED: "those who entered",
    GroupName.WITHOUT_VALID: "those without a valid submission in",
    GroupName.ORGANISERS: "the organisers",
}


def _groups(competition: Competition, rights: Collection[Right]) -> list[tuple[str, str]]:
    """Return all recipient groups allowed with these rights, with their labels."""
    titles = {phase.name: phase.title for phase in competition.phases}
    groups = (name.partition(":") for name in groups_for(competition, rights))
    return [
        ("", "nobody"),
        *(
            (f"{name}{colon}{phase}", f"{_GROUPS[GroupName(name)]} {titles.get(phase, '')}".strip())
            for name, colon, phase in groups
        ),
    ]
