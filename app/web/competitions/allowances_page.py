"""The page on which organisers grant extensions to single teams and revoke them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Form, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.db import writing
from app.base.errors import EvergoldError, InvalidForm
from app.base.text import refuse
from app.competitions.allowances import (
    REASON_CHARACTERS,
    NewExtension,
    grant,
    list_allowances,
    take_back,
    teams_to_allow,
)
from app.competitions.find import organised
from app.models import Right
from app.web.html.guards import FormSender, PageForm, PageUserVisit, SentForm, form_again, form_guard
from app.web.html.rendering import render_page
from app.web.html.typed import typed_moment, typed_number
from app.web.html.workspace import desk_of
from app.web.http.routers import page_router
from app.web.http.schemas import RowId
from app.web.http.visit import UserVisit

router = page_router()

PLACE = "/competitions/{competition}/allowances"


class AllowanceForm(PageForm):
    """An extension for a team, as typed."""

    phase: str = ""
    team: str = ""
    until: str = ""
    late: str = ""
    extra_per_day: str = ""
    extra_total: str = ""
    reason: str = ""

    def wanted(self) -> NewExtension:
        """Return the extension; raise InvalidForm for invalid times and numbers."""
        wrong: dict[str, str] = {}
        until = typed_moment("until", self.until, wrong)
        per_day = typed_number("extra_per_day", self.extra_per_day, wrong)
        total = typed_number("extra_total", self.extra_total, wrong)
        refuse(wrong)
        return NewExtension(self.phase, self.team, until, self.late == "ranked", per_day or 0, total or 0, self.reason)


@router.get(PLACE)
def read_allowances(visit: PageUserVisit, competition: str) -> Response:
    return _page(visit, competition)


def _page(
    visit: UserVisit,
    competition: str,
    form: AllowanceForm | None = None,
    error: EvergoldError | None = None,
) -> Response:
    session, now = visit.session, visit.now
    found = organised(session, visit.user, competition, Right.SUBMISSIONS)
    granted = list_allowances(session, found)
    teams = teams_to_allow(session, found)
    workspace = desk_of(session, found, visit.viewer)
    return render_page(
        visit,
        "competitions/allowances.html",
        competition=found,
        workspace=workspace,
        granted=granted,
        teams=teams,
        typed=form or AllowanceForm(),
        error=error,
        now=now,
        reason_characters=REASON_CHARACTERS,
    )


@router.post(PLACE)
@form_again(_page, InvalidForm)
def send_allowance(sender: SentForm, competition: str, form: Annotated[AllowanceForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        found = organised(session, sender.user, competition, Right.SUBMISSIONS)
        grant(sender.act(session), found, form.wanted())
    return RedirectResponse(links.allowances(competition), 303)


@router.post(f"{PLACE}/{{allowance_id}}/take-back")
def send_take_back(
    sender: Annotated[FormSender, Depends(form_guard(PLACE))], competition: str, allowance_id: RowId
) -> Response:
    with writing(sender.server.engine) as session:
        take_back(sender.act(session), organised(session, sender.user, competition, Right.SUBMISSIONS), allowance_id)
    return RedirectResponse(links.allowances(competition), 303)
