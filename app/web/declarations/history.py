"""The history of a competition's declaration, for organisers: its revisions, what one says, and the way back to it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.db import reading
from app.base.errors import EvergoldError, Forbidden, NotFound
from app.competitions.find import find_competition
from app.declarations.edits.edit import NOTE_CHARACTERS, Outcome, go_back
from app.declarations.edits.export import revision_text
from app.declarations.edits.yaml_text import declaration_text
from app.declarations.revisions.documents import differences, shown
from app.declarations.revisions.kept import find_revision, list_revisions, present_revision
from app.models import Revision
from app.people.roles import check_may_organise
from app.web.declarations.pages import asked, read_form, revision_number
from app.web.html.guards import to_login
from app.web.html.rendering import check_form, render
from app.web.http import csrf
from app.web.http.context import Server, ServerHere
from app.web.http.identity import Visitor, VisitorHere
from app.web.http.schemas import RowId

router = APIRouter()

PAGE_LENGTH = 50
#: A longer comparison is not read by anybody.
_LINES_COMPARED = 400


@router.get("/competitions/{competition}/history")
def read_history(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    competition: str,
    before: Annotated[RowId | None, Query()] = None,
) -> Response:
    if visitor.user is None:
        return to_login(request)
    with reading(server.engine) as session:
        found = find_competition(session, competition)
        check_may_organise(session, visitor.user, found)
        revisions = list_revisions(session, found, limit=PAGE_LENGTH + 1, before=before)
    response = render(
        request,
        "declarations/history.html",
        competition=found,
        revisions=revisions[:PAGE_LENGTH],
        is_more=len(revisions) > PAGE_LENGTH,
    )
    response.headers["Cache-Control"] = "no-store"
    return response


@router.get("/competitions/{competition}/history/{number}")
def read_revision(
    request: Request, server: ServerHere, visitor: VisitorHere, competition: str, number: RowId
) -> Response:
    if visitor.user is None:
        return to_login(request)
    return _page(request, server, visitor, competition, number, {})


@router.post("/competitions/{competition}/history/{number}")
async def send_back(
    request: Request, server: ServerHere, visitor: VisitorHere, competition: str, number: RowId
) -> Response:
    if visitor.user is None or visitor.login is None:
        return to_login(request)
    form = await read_form(request)
    return await run_sync(_back, request, server, visitor, competition, number, form)


def _back(
    request: Request, server: Server, visitor: Visitor, competition: str, number: int, form: Mapping[str, str]
) -> Response:
    check_form(request, form.get(csrf.FORM_FIELD))
    try:
        edit = asked(competition, visitor, form, revision_number(form.get("base")))
        outcome = go_back(server.engine, server.settings.storage_dir, edit, number, server.clock())
    except (NotFound, Forbidden):
        raise
    except EvergoldError as error:
        return _page(request, server, visitor, competition, number, form, error=error)
    if outcome.revision is not None:
        return RedirectResponse(links.history(competition, outcome.revision), 303)
    return _page(request, server, visitor, competition, number, form, outcome=outcome)


def _page(
    request: Request,
    server: Server,
    visitor: Visitor,
    name: str,
    number: int,
    form: Mapping[str, str],
    *,
    error: EvergoldError | None = None,
    outcome: Outcome | None = None,
) -> Response:
    with reading(server.engine) as session:
        competition = find_competition(session, name)
        check_may_organise(session, visitor.user, competition)
        revision, present = find_revision(session, competition, number), present_revision(session, competition)
        before = find_revision(session, competition, number - 1) if number > 1 else None
    since = differences(revision.document, present.document)
    response = render(
        request,
        "declarations/revision.html",
        error.status if error else 200,
        competition=competition,
        revision=revision,
        present=present,
        since=[(one.path, shown(one.before), shown(one.after)) for one in since],
        compared=_compared(before, revision) if before else [],
        text=revision_text(revision, competition.name),
        note=form.get("note", ""),
        note_characters=NOTE_CHARACTERS,
        error=error,
        faults=error.details.get("fields", {}) if error else {},
        outcome=outcome,
    )
    response.headers["Cache-Control"] = "no-store"
    return response


def _compared(before: Revision, after: Revision) -> list[tuple[str, str]]:
    """The lines of the YAML that differ, with a few around them: (sign, text)."""
    old, new = (declaration_text(one.document).splitlines() for one in (before, after))
    lines = list(difflib.unified_diff(old, new, lineterm="", n=2))[2:]
    return [(line[:1], line[1:] if line[:1] != "@" else "…") for line in lines[:_LINES_COMPARED]]
