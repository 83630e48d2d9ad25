"""Mail preferences: the switches of the account page, and the page behind the unsubscribe link of mails.

The link itself is the permission: no login is needed, and mail programs may unsubscribe by themselves (RFC 8058).
Opening the page changes nothing, because programs open links in mails, too.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Form, Query, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import Field

from app.base.db import reading, writing
from app.models import User
from app.people.mail_choices import MailKind, choose, find_link
from app.web.html.forms import PageForm, Ticked
from app.web.html.guards import SentFields, form_guard
from app.web.html.rendering import check_form, render
from app.web.http import csrf
from app.web.http.context import ServerHere
from app.web.http.identity import VisitorHere
from app.web.http.routers import page_router

router = page_router()

LINK_CHARACTERS = 200
ONE_CLICK = "One-Click"
WORDS = {
    MailKind.ANNOUNCEMENTS: "with announcements of competitions",
    MailKind.RESULTS: "about results of submissions",
}


class ChoicesForm(PageForm):
    """The mail preferences of a user."""

    announcements: Ticked = False
    results: Ticked = False


class UnsubscribeForm(PageForm):
    """Unsubscribing. one_click: sent by mail programs; people have the link in the form, or still in the address."""

    link: str = Field("", max_length=LINK_CHARACTERS)
    one_click: str = Field("", alias="List-Unsubscribe", max_length=40)


LinkParameter = Annotated[str, Query(max_length=LINK_CHARACTERS)]


@router.get("/mail/unsubscribe")
def read_unsubscribe(request: Request, server: ServerHere, visitor: VisitorHere, link: LinkParameter = "") -> Response:
    with reading(server.engine) as session:
        user, kind = find_link(session, link)
    return _page(request, user.username, kind, link, done=False)


@router.post("/mail/unsubscribe")
def send_unsubscribe(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    form: Annotated[UnsubscribeForm, Form()],
    fields: SentFields,
    link: LinkParameter = "",
) -> Response:
    """Unsubscribe. A mail program sends List-Unsubscribe=One-Click without a cookie; the link itself is the proof."""
    if form.one_click != ONE_CLICK:
        check_form(request, fields.get(csrf.FORM_FIELD))
    with writing(server.engine) as session:
        user, kind = find_link(session, form.link or link)
        choose(session, user, {kind: False})
    return _page(request, user.username, kind, "", done=True)


@router.post("/account/mail")
def send_choices(
    server: ServerHere,
    user: Annotated[User, Depends(form_guard("/account"))],
    form: Annotated[ChoicesForm, Form()],
) -> Response:
    wanted = {MailKind.ANNOUNCEMENTS: form.announcements, MailKind.RESULTS: form.results}
    with writing(server.engine) as session:
        choose(session, user, wanted)
    return RedirectResponse("/account?done=mail", 303)


def _page(request: Request, username: str, kind: MailKind, link: str, *, done: bool) -> Response:
    response = render(request, "people/unsubscribe.html", username=username, what=WORDS[kind], link=link, done=done)
    response.headers["Cache-Control"] = "no-store"
    return response
