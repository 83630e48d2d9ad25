"""The page of all competitions by size and owner, where an administrator takes one over or gives it to somebody."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Form, Response
from fastapi.responses import RedirectResponse

from app.administration.competitions import list_sizes, transfer
from app.base.db import writing
from app.base.errors import EvergoldError
from app.competitions.find import find_competition
from app.competitions.organisers import limits_of
from app.people.rights import find_typed_user
from app.web.administration.access import AdminVisit, admin_form_of
from app.web.html.administration import ADMIN, render_section
from app.web.html.guards import FormSender, PageForm, form_again
from app.web.http.routers import page_router
from app.web.http.visit import UserVisit

router = page_router()

COMPETITIONS = f"{ADMIN}/competitions"
FromCompetitions = Annotated[FormSender, Depends(admin_form_of(COMPETITIONS))]


class OwnerForm(PageForm):
    """The new owner of a competition."""

    owner: str = ""


@router.get(COMPETITIONS)
def read_all(visit: AdminVisit) -> Response:
    return _page(visit)


def _page(visit: UserVisit, error: EvergoldError | None = None) -> Response:
    return render_section(visit, "administration/competitions.html", found=list_sizes(visit.session), error=error)


@router.post(f"{COMPETITIONS}/{{competition}}/owner")
@form_again(_page)
def send_owner(sender: FromCompetitions, competition: str, form: Annotated[OwnerForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        found, limits = find_competition(session, competition), limits_of(sender.server.settings)
        to = find_typed_user(session, form.owner, "owner")
        transfer(sender.act(session), found, to.username, limits)
    return RedirectResponse(COMPETITIONS, 303)
