"""The pages of moderation: the form that reports a text, and the organisers' list of reports."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Form, Query, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.db import writing
from app.base.errors import EvergoldError
from app.competitions.find import find_competition, organised
from app.competitions.visibility import Viewer
from app.models import ReportReason, Right, TextKind
from app.moderation.desk import desk_for, dismiss_as, hide_as, hide_reported, kinds_of, show_as
from app.moderation.hiding import REASON_CHARACTERS
from app.moderation.reports import REASON_WORDS, WORDS_CHARACTERS, earlier_report, report
from app.moderation.texts import WHICH_CHARACTERS, find_text
from app.people.competition_blocks import block, unblock
from app.people.rights import ANY_RIGHT, find_typed_user, find_user
from app.web.html.guards import FormSender, PageForm, PageUserVisit, SentForm, form_again, form_guard
from app.web.html.rendering import render_page
from app.web.html.workspace import desk_of, workspace_of
from app.web.http.rate_limits import limit_of_reports
from app.web.http.routers import page_router
from app.web.http.schemas import RowId
from app.web.http.visit import UserVisit

router = page_router()

REPORT = "/competitions/{competition}/report-text"
PLACE = "/competitions/{competition}/moderation"
FromPage = Annotated[FormSender, Depends(form_guard(PLACE))]
Which = Annotated[str, Query(max_length=WHICH_CHARACTERS)]
LIMITS = {"words": WORDS_CHARACTERS, "reason": REASON_CHARACTERS}


class ReportForm(PageForm):
    """A report; from an organiser, the reason for hiding the text."""

    reason: str = ""
    words: str = ""


class ReasonForm(PageForm):
    """A reason. username: of the person to block."""

    username: str = ""
    reason: str = ""


# ------------------------------------------------------------------------------------------------------------ reporting


@router.get(REPORT)
def read_report_form(visit: PageUserVisit, competition: str, kind: TextKind, which: Which) -> Response:
    return _report_page(visit, competition, kind, which)


def _report_page(
    visit: UserVisit,
    competition: str,
    kind: TextKind,
    which: str,
    form: ReportForm | None = None,
    error: EvergoldError | None = None,
) -> Response:
    session = visit.session
    found = find_competition(session, competition)
    text = find_text(session, found, kind, which, visit.viewer)
    return render_page(
        visit,
        "moderation/report.html",
        competition=found,
        workspace=workspace_of(session, found, visit.viewer),
        text=text,
        which=which,
        may_hide=kind in kinds_of(session, visit.user, found),
        reported=earlier_report(session, text, visit.user),
        reasons=REASON_WORDS,
        typed=form or ReportForm(),
        limits=LIMITS,
        error=error,
    )


@router.post(REPORT)
@form_again(_report_page)
def send_report(
    sender: SentForm, competition: str, kind: TextKind, which: Which, form: Annotated[ReportForm, Form()]
) -> Response:
    """Hide the text if the sender is an organiser who may do so; otherwise report it."""
    with writing(sender.server.engine) as session:
        act = sender.act(session)
        found = find_competition(session, competition)
        if kind in kinds_of(session, sender.user, found):
            hide_as(act, found, kind, which, form.words)
            return RedirectResponse(links.moderation(competition), 303)
        text = find_text(session, found, kind, which, Viewer(sender.user, act.now))
        report(
            act,
            found,
            text,
            next((one for one in ReportReason if one == form.reason), ReportReason.OTHER),
            form.words,
            before_new=limit_of_reports(sender.request, sender.user, act.now),
        )
    return RedirectResponse(links.report_text(competition, kind, which), 303)


# ----------------------------------------------------------------------------------------------------------- organisers


@router.get(PLACE)
def read_moderation(visit: PageUserVisit, competition: str) -> Response:
    return _page(visit, competition)


def _page(
    visit: UserVisit, competition: str, form: ReasonForm | None = None, error: EvergoldError | None = None
) -> Response:
    session, user = visit.session, visit.user
    found = organised(session, user, competition, ANY_RIGHT)
    return render_page(
        visit,
        "moderation/page.html",
        may_store=False,
        competition=found,
        workspace=desk_of(session, found, visit.viewer),
        desk=desk_for(session, found, user),
        reasons=REASON_WORDS,
        typed=form,
        limits=LIMITS,
        error=error,
    )


@router.post(f"{PLACE}/{{report_id}}/hide")
@form_again(_page)
def send_hide(sender: FromPage, competition: str, report_id: RowId, form: Annotated[ReasonForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        found = organised(session, sender.user, competition, ANY_RIGHT)
        hide_reported(sender.act(session), found, report_id, form.reason)
    return RedirectResponse(links.moderation(competition), 303)


@router.post(f"{PLACE}/{{report_id}}/dismiss")
def send_dismiss(sender: FromPage, competition: str, report_id: RowId) -> Response:
    with writing(sender.server.engine) as session:
        dismiss_as(sender.act(session), organised(session, sender.user, competition, ANY_RIGHT), report_id)
    return RedirectResponse(links.moderation(competition), 303)


@router.post(f"{PLACE}/{{hidden_id}}/show")
@form_again(_page)
def send_show(sender: FromPage, competition: str, hidden_id: RowId) -> Response:
    with writing(sender.server.engine) as session:
        show_as(sender.act(session), organised(session, sender.user, competition, ANY_RIGHT), hidden_id)
    return RedirectResponse(links.moderation(competition), 303)


@router.post(f"{PLACE}/block")
@form_again(_page)
def send_block(sender: FromPage, competition: str, form: Annotated[ReasonForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        found = organised(session, sender.user, competition, Right.EDIT)
        person = find_typed_user(session, form.username, "username")
        block(sender.act(session), found, person, form.reason)
    return RedirectResponse(links.moderation(competition), 303)


@router.post(f"{PLACE}/unblock")
def send_unblock(sender: FromPage, competition: str, form: Annotated[ReasonForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        found = organised(session, sender.user, competition, Right.EDIT)
        unblock(sender.act(session), found, find_user(session, form.username))
    return RedirectResponse(links.moderation(competition), 303)
