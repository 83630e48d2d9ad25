"""The forms for merging two teams, which are on the team page."""

from __future__ import annotations

from typing import Annotated

from fastapi import Form, Path, Response
from fastapi.responses import RedirectResponse
from pydantic import Field

from app.base import links
from app.base.db import writing
from app.base.errors import InvalidForm
from app.competitions.find import find_competition
from app.submissions.merging import accept_merge
from app.teams.membership import TeamFull
from app.teams.merge_offers import NoMerging, ask_to_merge, end_offer
from app.web.html.guards import PageForm, form_again
from app.web.http.routers import page_router
from app.web.http.schemas import RowId
from app.web.teams.pages import PLACE, Sender, team_page

router = page_router(f"{PLACE}/merging")
OfferId = Annotated[RowId, Path()]


class AskForm(PageForm):
    """The form of a request to merge. team: name of the team to merge with."""

    team: str = Field("", max_length=200)


@router.post("")
@form_again(team_page, InvalidForm, NoMerging)
def ask(sender: Sender, competition: str, form: Annotated[AskForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        found = find_competition(session, competition)
        ask_to_merge(sender.act(session), found, form.team)
    return _back(competition)


@router.post("/{offer_id}/accept")
@form_again(team_page, NoMerging, TeamFull)
def accept(sender: Sender, competition: str, offer_id: OfferId) -> Response:
    with writing(sender.server.engine) as session:
        found = find_competition(session, competition)
        accept_merge(sender.act(session), found, offer_id)
    return _back(competition)


@router.post("/{offer_id}/end")
def end(sender: Sender, competition: str, offer_id: OfferId) -> Response:
    """Decline an offer to merge, or withdraw one's own."""
    with writing(sender.server.engine) as session:
        end_offer(sender.act(session), find_competition(session, competition), offer_id)
    return _back(competition)


def _back(competition: str) -> Response:
    return RedirectResponse(f"{links.team(competition)}#merging", 303)
