"""The history of a competition's declaration, for organisers: its revisions, their content, and how to restore one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from fastapi import Query, Request, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.db import reading
from app.base.errors import EvergoldError
from app.base.storage import storage_of
from app.competitions.find import organised
from app.declarations.edits.edit import NOTE_CHARACTERS, Outcome, go_back
from app.declarations.edits.export import revision_text
from app.declarations.edits.texts import compared
from app.declarations.revisions.documents import differences, value_text
from app.declarations.revisions.kept import find_revision, list_revisions, present_revision
from app.helper.process import TooMuchWork
from app.models import Revision, Right, User
from app.web.declarations.editing_turns import EDITING
from app.web.declarations.pages import edit_of, revision_number
from app.web.html.guards import PageUser, SentFields, SentForm, form_again
from app.web.html.rendering import render
from app.web.html.workspace import desk_of
from app.web.http.context import Server, ServerHere
from app.web.http.routers import page_router
from app.web.http.schemas import RowId

router = page_router()

PAGE_LENGTH = 50
#: Nobody reads a longer comparison.
_LINES_COMPARED = 400


@router.get("/competitions/{competition}/history")
def read_history(
    request: Request,
    server: ServerHere,
    user: PageUser,
    competition: str,
    before: Annotated[RowId | None, Query()] = None,
) -> Response:
    with reading(server.engine) as session:
        found = organised(session, user, competition, Right.EDIT)
        revisions = list_revisions(session, found, limit=PAGE_LENGTH + 1, before=before)
        workspace = desk_of(session, found, user, server.clock())
    response = render(
        request,
        "declarations/history.html",
        competition=found,
        workspace=workspace,
        revisions=revisions[:PAGE_LENGTH],
        is_more=len(revisions) > PAGE_LENGTH,
    )
    response.headers["Cache-Control"] = "no-store"
    return response


@router.get("/competitions/{competition}/history/{number}", dependencies=EDITING)
def read_revision(request: Request, server: ServerHere, user: PageUser, competition: str, number: RowId) -> Response:
    return _page(request, server, user, competition, number)


def _page(
    request: Request,
    server: Server,
    user: User,
    competition: str,
    number: int,
    form: Mapping[str, str] | None = None,
    outcome: Outcome | None = None,
    error: EvergoldError | None = None,
) -> Response:
    with reading(server.engine) as session:
        found = organised(session, user, competition, Right.EDIT)
        revision, present = find_revision(session, found, number), present_revision(session, found)
        before = find_revision(session, found, number - 1) if number > 1 else None
        workspace = desk_of(session, found, user, server.clock())
    since = differences(revision.document, present.document)
    response = render(
        request,
        "declarations/revision.html",
        competition=found,
        workspace=workspace,
        revision=revision,
        present=present,
        since=[(one.path, value_text(one.before), value_text(one.after)) for one in since],
        compared=_compared(before, revision) if before else [],
        text=revision_text(revision, found.name),
        note=form.get("note", "") if form else "",
        note_characters=NOTE_CHARACTERS,
        error=error,
        faults=error.details.get("fields", {}) if error else {},
        outcome=outcome,
    )
    response.headers["Cache-Control"] = "no-store"
    return response


@router.post("/competitions/{competition}/history/{number}", dependencies=EDITING)
@form_again(_page)
def send_back(
    request: Request,
    server: ServerHere,
    user: SentForm,
    competition: str,
    number: RowId,
    form: SentFields,
) -> Response:
    edit = edit_of(competition, user, form, revision_number(form.get("base")))
    outcome = go_back(server.engine, storage_of(server.settings), edit, number, server.clock())
    if outcome.revision is not None:
        return RedirectResponse(links.history(competition, outcome.revision), 303)
    return _page(request, server, user, competition, number, form, outcome)


def _compared(before: Revision, after: Revision) -> list[tuple[str, str]]:
    """Return the changed lines of the YAML with some context, as (sign, text); none if comparing takes too long."""
    try:
        return compared(before.document, after.document, _LINES_COMPARED)
    except TooMuchWork:
        return []
