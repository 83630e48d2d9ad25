"""The pages of rescoring sets, for organisers: the list, a form to start one, and each set with its rank changes."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Form, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.db import writing
from app.base.errors import EvergoldError
from app.base.text import refuse, whole_number
from app.competitions.find import boards_of, organised
from app.models import RescoringState, Right
from app.rescoring.difference import difference_of
from app.rescoring.publishing import publish_rescoring
from app.rescoring.sets import (
    NOTE_CHARACTERS,
    TO_RESCORE,
    drop_rescoring,
    find_rescoring,
    list_rescorings,
    start_rescoring,
)
from app.web.html.guards import FormSender, PageForm, PageUserVisit, SentForm, Ticked, form_again, form_guard
from app.web.html.rendering import render_page
from app.web.html.workspace import desk_of
from app.web.http.routers import page_router
from app.web.http.schemas import RowId
from app.web.http.visit import UserVisit

router = page_router()

PLACE = "/competitions/{competition}/rescoring"
SET = f"{PLACE}/{{rescoring}}"
#: The user who sends a form of a set's own page.
SetForm = Annotated[FormSender, Depends(form_guard(SET))]


class RescoringForm(PageForm):
    """A rescoring set to start. tasks: PHASE/TASK; gold_version: as typed."""

    tasks: list[str] = []
    note: str = ""
    gold_version: str = ""
    with_rejected: Ticked = False

    def version(self) -> int | None:
        """Return the gold version; raise InvalidForm if it is not a number."""
        text = self.gold_version.strip()
        version = whole_number(text)
        refuse({"gold_version": f"'{text[:40]}' is not a version." if text and not version else ""})
        return version


class PublishForm(PageForm):
    """Options for publishing a rescoring set."""

    tell_teams: Ticked = False


@router.get(PLACE)
def read_rescorings(visit: PageUserVisit, competition: str) -> Response:
    return _list_page(visit, competition)


def _list_page(
    visit: UserVisit,
    competition: str,
    form: RescoringForm | None = None,
    error: EvergoldError | None = None,
) -> Response:
    session = visit.session
    found = organised(session, visit.user, competition, Right.SUBMISSIONS)
    sets = list_rescorings(session, found)
    workspace = desk_of(session, found, visit.viewer)
    return render_page(
        visit,
        "rescoring/list.html",
        may_store=False,
        competition=found,
        workspace=workspace,
        sets=sets,
        tasks=[(phase, phase_task.task) for phase in found.phases for phase_task in phase.phase_tasks],
        note_characters=NOTE_CHARACTERS,
        typed=form or RescoringForm(),
        error=error,
    )


@router.post(PLACE)
@form_again(_list_page)
def send_rescoring(sender: SentForm, competition: str, form: Annotated[RescoringForm, Form()]) -> Response:
    version = form.version()
    with writing(sender.server.engine) as session:
        number = start_rescoring(
            sender.act(session),
            organised(session, sender.user, competition, TO_RESCORE),
            form.tasks,
            note=form.note,
            gold_version=version,
            with_rejected=form.with_rejected,
        ).id
    return RedirectResponse(links.rescoring(competition, number), 303)


# ------------------------------------------------------------------------------------------------------------- one set


@router.get(SET)
def read_rescoring(visit: PageUserVisit, competition: str, rescoring: RowId) -> Response:
    return _page(visit, competition, rescoring)


def _page(
    visit: UserVisit,
    competition: str,
    rescoring: int,
    error: EvergoldError | None = None,
) -> Response:
    session = visit.session
    found = organised(session, visit.user, competition, Right.SUBMISSIONS)
    wanted = find_rescoring(session, found, rescoring)
    is_dropped = wanted.state == RescoringState.DROPPED
    difference = None if is_dropped else difference_of(session, wanted)
    workspace = desk_of(session, found, visit.viewer)
    return render_page(
        visit,
        "rescoring/page.html",
        may_store=False,
        competition=found,
        workspace=workspace,
        rescoring=wanted,
        is_open=wanted.state == RescoringState.OPEN,
        difference=difference,
        shown={(phase.name, board.name) for phase in found.phases for board in boards_of(found, phase)},
        error=error,
    )


@router.post(f"{SET}/publish")
@form_again(_page)
def send_publish(sender: SetForm, competition: str, rescoring: RowId, form: Annotated[PublishForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        publish_rescoring(
            sender.act(session),
            organised(session, sender.user, competition, TO_RESCORE),
            rescoring,
            tell_teams=form.tell_teams,
        )
    return RedirectResponse(links.rescoring(competition, rescoring), 303)


@router.post(f"{SET}/drop")
@form_again(_page)
def send_drop(sender: SetForm, competition: str, rescoring: RowId) -> Response:
    with writing(sender.server.engine) as session:
        drop_rescoring(sender.act(session), organised(session, sender.user, competition, TO_RESCORE), rescoring)
    return RedirectResponse(links.rescoring(competition, rescoring), 303)
