"""The page of a competition's announcements; organisers write there, see first what it will be, and change it later."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy.orm import Session

from app.base import links
from app.base.db import reading, writing
from app.base.errors import EvergoldError, Forbidden, NotFound
from app.competitions.find import find_competition
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
from app.messages.groups import GroupName, group_of
from app.models import Announcement, Competition, User
from app.models.messages import TITLE_CHARACTERS
from app.people.roles import check_may_organise, may_organise
from app.web.html.guards import to_login
from app.web.html.rendering import check_form, render
from app.web.http.context import Server, ServerHere
from app.web.http.identity import VisitorHere
from app.web.http.schemas import RowId
from app.web.http.viewer import Viewer, ViewerHere

router = APIRouter()

FormText = Annotated[str, Form()]
PLACE = "/competitions/{competition}/announcements"
LIMITS = {"title": TITLE_CHARACTERS, "text": TEXT_CHARACTERS}


@dataclass(frozen=True, slots=True)
class Typed:
    """What was typed into the form."""

    title: str = ""
    text: str = ""
    is_pinned: bool = False
    mail: str = ""

    @property
    def form(self) -> AnnouncementForm:
        return AnnouncementForm(self.title, self.text, self.is_pinned)


@dataclass(frozen=True, slots=True)
class Preview:
    """The group that was counted, and whom a mail would reach; None: nobody is asked for."""

    mail: str
    receivers: Receivers | None


@router.get(PLACE)
def read_announcements(request: Request, server: ServerHere, viewer: ViewerHere, competition: str) -> Response:
    return _page(request, server, viewer, competition, Typed())


@router.post(PLACE)
def send_announcement(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    competition: str,
    title: FormText = "",
    text: FormText = "",
    is_pinned: FormText = "",
    mail: FormText = "",
    counted: FormText = "",
    key: FormText = "",
    action: FormText = "preview",
    csrf_token: FormText = "",
) -> Response:
    """Nothing goes out to a group whose number was not shown before."""
    if visitor.user is None or visitor.login is None:
        return to_login(request)
    check_form(request, csrf_token)
    typed, viewer = Typed(title, text, bool(is_pinned), mail), Viewer(visitor.user, None)
    try:
        if action != "publish" or mail != counted:
            preview = _preview(server, visitor.user, competition, typed)
            return _page(request, server, viewer, competition, typed, preview=preview, key=key)
        _publish(server, visitor.user, competition, typed, key)
    except (NotFound, Forbidden):
        raise
    except EvergoldError as error:
        return _page(request, server, viewer, competition, typed, error=error, key=key)
    return RedirectResponse(links.announcements(competition), 303)


@router.get(f"{PLACE}/{{announcement_id}}")
def read_edit(
    request: Request, server: ServerHere, visitor: VisitorHere, competition: str, announcement_id: RowId
) -> Response:
    if visitor.user is None:
        return to_login(request)
    with reading(server.engine) as session:
        found = _organised(session, competition, visitor.user)
        one = find_announcement(session, found, announcement_id)
    return _edit_page(request, found, one, Typed(one.title, one.text, one.is_pinned))


@router.post(f"{PLACE}/{{announcement_id}}")
def send_edit(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    competition: str,
    announcement_id: RowId,
    title: FormText = "",
    text: FormText = "",
    is_pinned: FormText = "",
    csrf_token: FormText = "",
) -> Response:
    if visitor.user is None or visitor.login is None:
        return to_login(request)
    check_form(request, csrf_token)
    typed = Typed(title, text, bool(is_pinned))
    try:
        with writing(server.engine) as session:
            found = _organised(session, competition, visitor.user)
            edit(session, found, announcement_id, typed.form, editor=visitor.user, now=server.clock())
    except (NotFound, Forbidden):
        raise
    except EvergoldError as error:
        with reading(server.engine) as session:
            found = find_competition(session, competition)
            one = find_announcement(session, found, announcement_id)
        return _edit_page(request, found, one, typed, error)
    return RedirectResponse(f"{links.announcements(competition)}#announcement-{announcement_id}", 303)


@router.post(f"{PLACE}/{{announcement_id}}/withdraw")
def send_withdraw(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    competition: str,
    announcement_id: RowId,
    csrf_token: FormText = "",
) -> Response:
    if visitor.user is None or visitor.login is None:
        return to_login(request)
    check_form(request, csrf_token)
    with writing(server.engine) as session:
        found = _organised(session, competition, visitor.user)
        withdraw(session, found, announcement_id, actor=visitor.user, now=server.clock())
    return RedirectResponse(links.announcements(competition), 303)


def _organised(session: Session, name: str, user: User) -> Competition:
    found = find_competition(session, name)
    check_may_organise(session, user, found)
    return found


def _preview(server: Server, user: User, competition: str, typed: Typed) -> Preview:
    with reading(server.engine) as session:
        found = _organised(session, competition, user)
        typed.form.checked()
        group = group_of(found, typed.mail)
        return Preview(typed.mail, receivers(session, found, group) if group is not None else None)


def _publish(server: Server, user: User, competition: str, typed: Typed, key: str) -> None:
    with writing(server.engine) as session:
        found = _organised(session, competition, user)
        publish(
            session,
            found,
            typed.form,
            author=user,
            group=group_of(found, typed.mail),
            key=key,
            settings=server.settings,
            now=server.clock(),
        )


def _page(
    request: Request,
    server: Server,
    viewer: Viewer,
    name: str,
    typed: Typed,
    *,
    preview: Preview | None = None,
    error: EvergoldError | None = None,
    key: str = "",
) -> Response:
    with reading(server.engine) as session:
        competition = find_competition(session, name)
        organises = viewer.seen_as is None and may_organise(session, viewer.user, competition)
        listed = announcements_of(session, competition, with_withdrawn=organises)
    return render(
        request,
        "messages/announcements.html",
        error.status if error else 200,
        competition=competition,
        announcements=listed,
        organises=organises,
        typed=typed,
        preview=preview,
        error=error,
        key=key or secrets.token_urlsafe(16),
        groups=_groups(competition),
        limits=LIMITS,
    )


def _edit_page(
    request: Request, competition: Competition, one: Announcement, typed: Typed, error: EvergoldError | None = None
) -> Response:
    context: dict[str, Any] = {"competition": competition, "one": one, "typed": typed, "error": error}
    return render(request, "messages/announcement_edit.html", error.status if error else 200, **context, limits=LIMITS)


def _groups(competition: Competition) -> list[tuple[str, str]]:
    """Every choice of a group, in words."""
    of_phases = [
        (f"{name}:{phase.name}", f"{words} {phase.title}")
        for phase in competition.phases
        for name, words in (
            (GroupName.ENTERED, "those who entered"),
            (GroupName.WITHOUT_VALID, "those without a valid submission in"),
        )
    ]
    return [
        ("", "nobody"),
        (GroupName.ALL, "everybody who takes part"),
        *of_phases,
        (GroupName.ORGANISERS, "the organisers"),
    ]
