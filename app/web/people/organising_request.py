"""The page of a request to organise: the form, the pending request, and the administrators' answer."""

from __future__ import annotations

from typing import Annotated

from fastapi import Form, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.db import writing
from app.base.errors import EvergoldError
from app.competitions.organisers import may_create
from app.people.email_confirmations import is_confirmed
from app.people.organising_requests import TEXT_CHARACTERS, ask_to_organise, latest_request
from app.web.html.guards import PageForm, PageUserVisit, SentForm, form_again
from app.web.html.rendering import render_page
from app.web.http.routers import page_router
from app.web.http.visit import UserVisit

router = page_router()

PLACE = "/account/organise"


class AskForm(PageForm):
    """The form of a request to organise. text: what the person wants to organise."""

    text: str = ""


@router.get(PLACE)
def read_request(visit: PageUserVisit) -> Response:
    return _page(visit)


def _page(visit: UserVisit, form: AskForm | None = None, error: EvergoldError | None = None) -> Response:
    session, user, settings = visit.session, visit.user, visit.server.settings
    return render_page(
        visit,
        "people/ask_to_organise.html",
        may_create=may_create(user, settings.organise),
        rule=settings.organise,
        is_confirmed=is_confirmed(session, user),
        latest=latest_request(session, user),
        contact=settings.contact,
        text_characters=TEXT_CHARACTERS,
        typed=form or AskForm(),
        error=error,
    )


@router.post(PLACE)
@form_again(_page)
def send_request(sender: SentForm, form: Annotated[AskForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        ask_to_organise(sender.act(session), form.text)
    return RedirectResponse(links.ask_to_organise(), 303)
