"""Pages of all submissions and of failed runs, for organisers: lists with actions."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Depends, Form, Query, Response
from fastapi.responses import RedirectResponse, StreamingResponse
from pydantic import Field, field_validator

from app.base import links
from app.base.db import reading, writing
from app.base.errors import EvergoldError, InvalidForm, NotFound
from app.base.storage import storage_of
from app.boards.marks import NOTE_CHARACTERS, mark_submissions
from app.competitions.find import organised
from app.exports.predictions import ExportFilter, packed, submissions_to_export, zip_chunks
from app.models import Right, RowStatus
from app.people import audit
from app.rescoring.sets import TO_RESCORE, score_anew
from app.runs.failures import check_names, failed_runs, queue_again, queue_all_again
from app.submissions.organisers_list import (
    CHOSEN_LIMIT,
    SubmissionFilter,
    chosen_submissions,
    list_all_submissions,
    teams_that_submitted,
)
from app.web.html.guards import FormSender, PageForm, PageUserVisit, SentForm, Ticked, form_again, form_guard
from app.web.html.rendering import render_page
from app.web.html.typed import none_if_invalid
from app.web.html.workspace import desk_of
from app.web.http.routers import page_router
from app.web.http.schemas import RowId
from app.web.http.visit import UserVisit

router = page_router()

SUBMISSIONS = "/competitions/{competition}/submissions"
PAGE_LENGTH = 50


class DeedForm(PageForm):
    """An action on the ticked submissions. deed: `rescore`, `download`, or one of RowStatus."""

    deed: str = ""
    note: str = Field("", max_length=2_000)
    submission: list[UUID] = Field(default_factory=list, max_length=CHOSEN_LIMIT)


class ListQuery(SubmissionFilter):
    """The filters of the list; invalid values are ignored. after: the submission that the page continues after."""

    after: UUID | None = None

    _none_if_invalid = field_validator("status", "marked", "withdrawn", "late", "since", "until", mode="wrap")(
        none_if_invalid
    )


ListQueryHere = Annotated[ListQuery, Query()]


@router.get(SUBMISSIONS)
def read_all_submissions(visit: PageUserVisit, competition: str, query: ListQueryHere) -> Response:
    return _page(visit, competition, query)


def _page(
    visit: UserVisit,
    competition: str,
    query: ListQuery,
    form: DeedForm | None = None,
    error: EvergoldError | None = None,
) -> Response:
    session = visit.session
    found = organised(session, visit.user, competition, Right.SUBMISSIONS)
    listed, cursor = list_all_submissions(session, found, query, after=query.after, limit=PAGE_LENGTH)
    chosen, after = query.parameters, query.after
    return render_page(
        visit,
        "submissions/all.html",
        competition=found,
        workspace=desk_of(session, found, visit.viewer),
        listed=listed,
        teams=teams_that_submitted(session, found),
        wanted=query,
        marks=list(RowStatus),
        here=links.all_submissions(competition, **chosen, **({"after": after} if after else {})),
        newest=links.all_submissions(competition, **chosen) if after else None,
        following=links.all_submissions(competition, **chosen, after=cursor) if cursor else None,
        typed=form or DeedForm(),
        note_characters=NOTE_CHARACTERS,
        error=error,
    )


@router.post(SUBMISSIONS)
@form_again(_page)
def send_deed(sender: SentForm, competition: str, query: ListQueryHere, form: Annotated[DeedForm, Form()]) -> Response:
    if not form.submission:
        raise InvalidForm("Select at least one submission.", fields={})
    if form.deed == "download":
        return _zip(sender, competition, form.submission)
    with writing(sender.server.engine) as session:
        act = sender.act(session)
        found = organised(
            session, sender.user, competition, TO_RESCORE if form.deed == "rescore" else Right.SUBMISSIONS
        )
        chosen = chosen_submissions(session, found, form.submission)
        if form.deed == "rescore":
            done = score_anew(act, found, chosen, note=form.note)
            target = links.rescoring(competition, done.rescoring) if done.rescoring else links.failed(competition)
            return RedirectResponse(target, 303)
        if form.deed not in tuple(RowStatus):
            raise InvalidForm("Choose what to do with the selected submissions.", fields={})
        mark_submissions(act, chosen, status=RowStatus(form.deed), note=form.note)
    return RedirectResponse(links.all_submissions(competition, marked="yes"), 303)


def _zip(sender: FormSender, competition: str, ids: list[UUID]) -> Response:
    """Return the chosen files as a zip; the download is recorded like every export."""
    now = sender.server.clock()
    with reading(sender.server.engine) as session:
        found = organised(session, sender.user, competition, Right.SUBMISSIONS)
        chosen_submissions(session, found, ids)
        submissions = submissions_to_export(session, found, ExportFilter(submission=ids), sender.user, now)
    with writing(sender.server.engine) as session:
        details = {"submissions": len(submissions), "chosen": True}
        audit.record(session, sender.user, "export.predictions", f"competition {found.name}", details, now=now)
    chunks = (chunk for chunk in zip_chunks(packed(submissions, storage_of(sender.server.settings)), now) if chunk)
    headers = {
        "Content-Disposition": f'attachment; filename="{found.name}-chosen-predictions.zip"',
        "Cache-Control": "private, no-store",
    }
    return StreamingResponse(chunks, media_type="application/zip", headers=headers)


FAILED = "/competitions/{competition}/failed"
SHOWN = 200
#: The user who sends a form of this page.
Organiser = Annotated[FormSender, Depends(form_guard(FAILED))]


class PlaceForm(PageForm):
    """A selection of failed runs by phase and task; empty: all. chosen: only the ticked runs, by id."""

    phase: str = ""
    task: str = ""
    chosen: Ticked = False
    run: list[RowId] = Field(default_factory=list, max_length=SHOWN)


@router.get(FAILED)
def read_failed(visit: PageUserVisit, competition: str) -> Response:
    session = visit.session
    found = organised(session, visit.user, competition, Right.SUBMISSIONS)
    runs = failed_runs(session, [found.id], SHOWN + 1)
    places = sorted({(run.phase, run.task) for run in runs})
    return render_page(
        visit,
        "submissions/failed.html",
        may_store=False,
        competition=found,
        workspace=desk_of(session, found, visit.viewer),
        runs=runs[:SHOWN],
        has_more=len(runs) > SHOWN,
        places=places if len(places) > 1 else [],
    )


@router.post(f"{FAILED}/queue-again")
def send_all_again(sender: Organiser, competition: str, form: Annotated[PlaceForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        found = organised(session, sender.user, competition, Right.SUBMISSIONS)
        act, phase, task = sender.act(session), form.phase or None, form.task or None
        check_names(found, phase, task)
        if form.chosen:
            for run_id in form.run:
                queue_again(act, run_id, competition_id=found.id)
        else:
            queue_all_again(act, found.id, phase=phase, task=task)
    return RedirectResponse(links.failed(competition), 303)


@router.post(f"{FAILED}/{{run_id}}/queue-again")
def send_again(sender: Organiser, competition: str, run_id: RowId) -> Response:
    with writing(sender.server.engine) as session:
        found = organised(session, sender.user, competition, Right.SUBMISSIONS)
        if not queue_again(sender.act(session), run_id, competition_id=found.id):
            raise NotFound(f"Competition '{competition}' has no failed run {run_id}.")
    return RedirectResponse(links.failed(competition), 303)
