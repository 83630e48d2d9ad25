"""The pages on which organisers edit a competition: dates and rules, texts; what is typed is first shown as a plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.db import reading
from app.base.errors import EvergoldError, Forbidden, InvalidForm, NotFound
from app.competitions.find import find_competition
from app.declarations.edits.edit import NOTE_CHARACTERS, Edit, EditConflict, Outcome, edit_values
from app.declarations.edits.fields import Part, Value, format_value, rule_parts, text_parts, typed_values
from app.declarations.revisions.documents import shown
from app.declarations.revisions.kept import find_revision, present_revision
from app.models import Competition, Revision
from app.people.roles import check_may_organise
from app.web.html.guards import to_login
from app.web.html.rendering import check_form, render
from app.web.http import csrf
from app.web.http.context import Server, ServerHere
from app.web.http.identity import Visitor, VisitorHere

router = APIRouter()

RULES, TEXTS = "", "texts"
#: A competition of ten phases with ten tasks has so many.
_FIELDS_LIMIT = 5_000


@dataclass(frozen=True, slots=True)
class Seen:
    """What an editor saw, and what holds now; they differ when somebody was faster."""

    competition: Competition
    base: Revision
    present: Revision


@router.get("/competitions/{competition}/edit")
def read_rules(request: Request, server: ServerHere, visitor: VisitorHere, competition: str) -> Response:
    return _fresh_page(request, server, visitor, competition, RULES)


@router.get("/competitions/{competition}/edit/texts")
def read_texts(request: Request, server: ServerHere, visitor: VisitorHere, competition: str) -> Response:
    return _fresh_page(request, server, visitor, competition, TEXTS)


@router.post("/competitions/{competition}/edit")
async def send_rules(request: Request, server: ServerHere, visitor: VisitorHere, competition: str) -> Response:
    return await _send(request, server, visitor, competition, RULES)


@router.post("/competitions/{competition}/edit/texts")
async def send_texts(request: Request, server: ServerHere, visitor: VisitorHere, competition: str) -> Response:
    return await _send(request, server, visitor, competition, TEXTS)


def _fresh_page(request: Request, server: Server, visitor: Visitor, competition: str, page: str) -> Response:
    if visitor.user is None:
        return to_login(request)
    return _page(request, page, _seen(server, visitor, competition, None), {})


async def _send(request: Request, server: Server, visitor: Visitor, competition: str, page: str) -> Response:
    if visitor.user is None or visitor.login is None:
        return to_login(request)
    form = await read_form(request)
    return await run_sync(_edit, request, server, visitor, competition, page, form)


async def read_form(request: Request) -> dict[str, str]:
    """Every text of a form with any number of fields."""
    async with request.form(max_fields=_FIELDS_LIMIT) as form:
        return {name: value for name, value in form.items() if isinstance(value, str)}


def _edit(
    request: Request, server: Server, visitor: Visitor, competition: str, page: str, form: Mapping[str, str]
) -> Response:
    check_form(request, form.get(csrf.FORM_FIELD))
    seen = _seen(server, visitor, competition, revision_number(form.get("base")))
    fields = [field for part in _parts(seen.base, page) for field in part.fields]
    values = typed_values(seen.base.document, fields, form)
    edit = asked(competition, visitor, form, seen.base.number)
    try:
        outcome = edit_values(server.engine, server.settings.storage_dir, edit, values, server.clock())
    except (NotFound, Forbidden):
        raise
    except EvergoldError as error:
        return _page(request, page, seen, form, values, error=error)
    if outcome.revision is not None:
        return RedirectResponse(links.history(competition, outcome.revision), 303)
    return _page(request, page, seen, form, values, outcome=outcome)


def asked(competition: str, visitor: Visitor, form: Mapping[str, str], base: int) -> Edit:
    """What a form with a preview asks for: a preview, or the change that was looked at."""
    is_preview = form.get("action") != "apply"
    note = " ".join(form.get("note", "").split())
    return Edit(competition, base, visitor.user, note, is_preview, None if is_preview else form.get("previewed", ""))


def revision_number(text: str | None) -> int:
    """As a form's hidden field has it; raises InvalidForm."""
    if text is None or not (text.isascii() and text.isdigit() and 0 < len(text) < 10):
        raise InvalidForm("This form does not say what it was made from: please load it again.", fields={"base": "?"})
    return int(text)


def _seen(server: Server, visitor: Visitor, name: str, base: int | None) -> Seen:
    """base: None for what holds."""
    with reading(server.engine) as session:
        competition = find_competition(session, name)
        check_may_organise(session, visitor.user, competition)
        present = present_revision(session, competition)
        return Seen(competition, find_revision(session, competition, present.number if base is None else base), present)


def _parts(revision: Revision, page: str) -> list[Part]:
    return text_parts(revision.document) if page == TEXTS else rule_parts(revision.document)


def _page(
    request: Request,
    page: str,
    seen: Seen,
    form: Mapping[str, str],
    values: Mapping[str, Value] | None = None,
    *,
    error: EvergoldError | None = None,
    outcome: Outcome | None = None,
) -> Response:
    """The form: what holds, and over it what was typed."""
    parts = _parts(seen.present, page)
    fields = {field.name: field for part in parts for field in part.fields}
    changed = values or {}
    shown_texts = {
        name: form[name] if name in changed else format_value(seen.present.document, field)
        for name, field in fields.items()
    }
    faults = error.details.get("fields", {}) if error else {}
    response = render(
        request,
        "declarations/edit.html",
        error.status if error else 200,
        competition=seen.competition,
        present=seen.present,
        page=page,
        parts=[(part, _is_open(part, page, shown_texts, {*changed, *faults})) for part in parts],
        shown=shown_texts,
        changed=changed,
        note=form.get("note", ""),
        note_characters=NOTE_CHARACTERS,
        error=error,
        faults=faults,
        elsewhere={name: fault for name, fault in faults.items() if name not in fields},
        conflicts=_conflicts(error, changed) if isinstance(error, EditConflict) else [],
        outcome=outcome,
    )
    response.headers["Cache-Control"] = "no-store"
    return response


def _is_open(part: Part, page: str, shown_texts: Mapping[str, str], touched: set[str]) -> bool:
    """Whether the part is shown at once: where something was typed or is wrong, or a rule differs from the phase's."""
    names = [field.name for field in part.fields]
    return part.is_open or not touched.isdisjoint(names) or (page == RULES and any(shown_texts[name] for name in names))


def _conflicts(error: EditConflict, changed: Mapping[str, Value]) -> list[dict[str, Any]]:
    """What others changed, and what was typed for the same value."""
    return [
        {
            "path": one["path"],
            "before": shown(one["before"]),
            "theirs": shown(one["after"]),
            "yours": shown(changed[one["path"]]) if one["path"] in changed else None,
        }
        for one in error.details["differences"]
    ]
