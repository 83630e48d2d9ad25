"""The page on which organisers publish, pause, archive and delete a competition."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Depends, Form, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.db import writing
from app.base.errors import EvergoldError
from app.competitions.confirmation import confirm_scores, confirmation_of, decline_scores, shown
from app.competitions.find import organised
from app.competitions.life import (
    REASON_CHARACTERS,
    WAITING,
    Life,
    change_life,
    keep_competition,
    life_of,
    plan_deletion,
    submitting_teams,
)
from app.competitions.readiness import readiness
from app.models import Halt, Right, Stage
from app.web.html.guards import FormSender, PageForm, PageUserVisit, SentForm, form_again, form_guard
from app.web.html.rendering import render_page
from app.web.html.workspace import desk_of
from app.web.http.routers import page_router
from app.web.http.visit import UserVisit

router = page_router()

PLACE = "/competitions/{competition}/life"
FromPage = Annotated[FormSender, Depends(form_guard(PLACE))]


class LifeForm(PageForm):
    """The chosen status of a competition."""

    stage: Stage
    halt: Halt = Halt.NONE
    reason: str = ""

    @property
    def wanted(self) -> Life:
        return Life(self.stage, self.halt, self.reason)


class ConfirmationForm(PageForm):
    """The decision on the scores of baselines. why: the reason for continuing without a confirmation."""

    verdict: Literal["confirmed", "declined"]
    why: str = ""


@router.get(PLACE)
def read_life(visit: PageUserVisit, competition: str) -> Response:
    return _page(visit, competition)


def _page(
    visit: UserVisit,
    competition: str,
    form: LifeForm | ConfirmationForm | None = None,
    error: EvergoldError | None = None,
) -> Response:
    session = visit.session
    found = organised(session, visit.user, competition, Right.EDIT)
    can_be_deleted = not submitting_teams(session, found)
    workspace = desk_of(session, found, visit.viewer)
    return render_page(
        visit,
        "competitions/life.html",
        competition=found,
        workspace=workspace,
        points=readiness(session, found, visit.now) if found.stage == Stage.DRAFT else [],
        chosen=form.wanted if isinstance(form, LifeForm) else life_of(found),
        confirmation=confirmation_of(session, found),
        shown=shown,
        why=form.why if isinstance(form, ConfirmationForm) else "",
        can_be_deleted=can_be_deleted,
        waiting_days=WAITING.days,
        reason_characters=REASON_CHARACTERS,
        error=error,
    )


@router.post(PLACE)
@form_again(_page)
def send_life(sender: SentForm, competition: str, form: Annotated[LifeForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        change_life(
            session,
            organised(session, sender.user, competition, Right.EDIT),
            form.wanted,
            actor=sender.user,
            now=sender.server.clock(),
        )
    return RedirectResponse(links.life(competition), 303)


@router.post(f"{PLACE}/confirmation")
@form_again(_page)
def send_confirmation(sender: FromPage, competition: str, form: Annotated[ConfirmationForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        act, found = sender.act(session), organised(session, sender.user, competition, Right.EDIT)
        if form.verdict == "confirmed":
            confirm_scores(act, found)
        else:
            decline_scores(act, found, form.why)
    return RedirectResponse(links.life(competition), 303)


@router.post(f"{PLACE}/deletion")
@form_again(_page)
def send_deletion(sender: FromPage, competition: str) -> Response:
    with writing(sender.server.engine) as session:
        plan_deletion(
            session,
            organised(session, sender.user, competition, Right.EDIT),
            actor=sender.user,
            now=sender.server.clock(),
        )
    return RedirectResponse(links.life(competition), 303)


@router.post(f"{PLACE}/deletion/stop")
def stop_deletion(sender: FromPage, competition: str) -> Response:
    with writing(sender.server.engine) as session:
        keep_competition(
            session,
            organised(session, sender.user, competition, Right.EDIT),
            actor=sender.user,
            now=sender.server.clock(),
        )
    return RedirectResponse(links.life(competition), 303)
