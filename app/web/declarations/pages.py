"""Pages of a declaration: the form that edits it, and its history with every revision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from fastapi import Query, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.errors import EvergoldError, InvalidForm
from app.base.storage import storage_of
from app.base.text import whole_number
from app.competitions.find import organised
from app.declarations.edits.edit import NOTE_CHARACTERS, Edit, EditConflict, Outcome, edit_values, go_back
from app.declarations.edits.export import revision_text
from app.declarations.edits.fields import Kind, Part, Value, format_value, rule_parts, text_parts, typed_values
from app.declarations.edits.texts import compared
from app.declarations.revisions.documents import differences, value_text
from app.declarations.revisions.kept import find_revision, list_revisions, present_revision
from app.helper.process import TooMuchWork
from app.models import Competition, Revision, Right, User
from app.web.declarations.editing_turns import EDITING
from app.web.html.guards import FormSender, PageUserVisit, SentFields, SentForm, form_again
from app.web.html.rendering import render_page
from app.web.html.workspace import Workspace, desk_of
from app.web.http.routers import page_router
from app.web.http.schemas import RowId
from app.web.http.visit import UserVisit, Visit, user_visit_of

router = page_router()

RULES, TEXTS = "", "texts"


@dataclass(frozen=True, slots=True)
class EditorState:
    """The revision that an editor saw, and the current one; they differ after a concurrent edit."""

    competition: Competition
    workspace: Workspace
    base: Revision
    present: Revision


@router.get("/competitions/{competition}/edit")
def read_rules(visit: PageUserVisit, competition: str) -> Response:
    return _page(visit, RULES, _seen(visit, competition, None), {})


@router.get("/competitions/{competition}/edit/texts")
def read_texts(visit: PageUserVisit, competition: str) -> Response:
    return _page(visit, TEXTS, _seen(visit, competition, None), {})


def texts_page(visit: UserVisit, competition: str, error: EvergoldError) -> Response:
    """Return the page of texts with an error of another form on it."""
    return _page(visit, TEXTS, _seen(visit, competition, None), {}, error=error)


def _edit_again(
    page: str, visit: UserVisit, competition: str, form: Mapping[str, str], error: EvergoldError
) -> Response:
    seen = _seen(visit, competition, revision_number(form.get("base")))
    return _page(visit, page, seen, form, _values(seen, page, form), error=error)


@router.post("/competitions/{competition}/edit", dependencies=EDITING)
@form_again(partial(_edit_again, RULES))
def send_rules(sender: SentForm, competition: str, form: SentFields) -> Response:
    return _edit(sender, competition, RULES, form)


@router.post("/competitions/{competition}/edit/texts", dependencies=EDITING)
@form_again(partial(_edit_again, TEXTS))
def send_texts(sender: SentForm, competition: str, form: SentFields) -> Response:
    return _edit(sender, competition, TEXTS, form)


def _edit(sender: FormSender, competition: str, page: str, form: Mapping[str, str]) -> Response:
    with user_visit_of(sender.request, sender.user) as visit:
        seen = _seen(visit, competition, revision_number(form.get("base")))
        visit.session.close()  # before anything is written
        values, edit = _values(seen, page, form), edit_of(competition, sender.user, form, seen.base.number)
        outcome = edit_values(visit.server.engine, storage_of(visit.server.settings), edit, values, visit.now)
        if outcome.revision is not None:
            return RedirectResponse(links.history(competition, outcome.revision), 303)
        return _page(visit, page, seen, form, values, outcome=outcome)


def edit_of(competition: str, user: User, form: Mapping[str, str], base: int) -> Edit:
    """Return the edit that a form requests: a preview, or a change that was previewed."""
    is_preview = form.get("action") != "apply"
    note = " ".join(form.get("note", "").split())
    return Edit(competition, base, user, note, is_preview, None if is_preview else form.get("previewed", ""))


def revision_number(text: str | None) -> int:
    """Return the revision number of a form's hidden field; raise InvalidForm."""
    number = whole_number(text or "")
    if number is None:
        raise InvalidForm("This form has no base revision: please reload the page.", fields={"base": "?"})
    return number


def _seen(visit: UserVisit, name: str, base: int | None) -> EditorState:
    """Return the editor's state; base: the revision seen, None for the current one."""
    competition = organised(visit.session, visit.user, name, Right.EDIT)
    present = present_revision(visit.session, competition)
    workspace = desk_of(visit.session, competition, visit.viewer)
    seen = find_revision(visit.session, competition, present.number if base is None else base)
    return EditorState(competition, workspace, seen, present)


def _parts(revision: Revision, page: str) -> list[Part]:
    return text_parts(revision.document) if page == TEXTS else rule_parts(revision.document)


def _values(seen: EditorState, page: str, form: Mapping[str, str]) -> dict[str, Value]:
    """Return the submitted values that differ from those seen."""
    fields = [field for part in _parts(seen.base, page) for field in part.fields]
    return typed_values(seen.base.document, fields, form)


def _page(
    visit: Visit,
    page: str,
    seen: EditorState,
    form: Mapping[str, str],
    values: Mapping[str, Value] | None = None,
    *,
    error: EvergoldError | None = None,
    outcome: Outcome | None = None,
) -> Response:
    """Return the form with the current values, overlaid with the submitted ones."""
    parts = _parts(seen.present, page)
    fields = {field.name: field for part in parts for field in part.fields}
    changed = values or {}
    shown_texts = {
        name: form[name] if name in changed else format_value(seen.present.document, field)
        for name, field in fields.items()
    }
    faults = error.fields if error else {}
    return render_page(
        visit,
        "declarations/edit.html",
        may_store=False,
        competition=seen.competition,
        workspace=seen.workspace,
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
        texts=_image_texts(parts) if page == TEXTS else [],
    )


def _image_texts(parts: list[Part]) -> list[tuple[str, str]]:
    """Return the texts that may show images: name and label."""
    return [(one.name, f"{part.title}: {one.label}") for part in parts for one in part.fields if one.kind is Kind.TEXT]


def _is_open(part: Part, page: str, shown_texts: Mapping[str, str], touched: set[str]) -> bool:
    """Return True if the part is initially open: edited, with errors, or with a rule that differs from the phase's."""
    names = [field.name for field in part.fields]
    return part.is_open or not touched.isdisjoint(names) or (page == RULES and any(shown_texts[name] for name in names))


def _conflicts(error: EditConflict, changed: Mapping[str, Value]) -> list[dict[str, Any]]:
    """Return the concurrent changes of others, each with the submitted value for the same path."""
    return [
        {
            "path": one["path"],
            "before": value_text(one["before"]),
            "theirs": value_text(one["after"]),
            "yours": value_text(changed[one["path"]]) if one["path"] in changed else None,
        }
        for one in error.details["differences"]
    ]


PAGE_LENGTH = 50
#: Maximum number of lines of a comparison.
_LINES_COMPARED = 400


@router.get("/competitions/{competition}/history")
def read_history(
    visit: PageUserVisit,
    competition: str,
    before: Annotated[RowId | None, Query()] = None,
) -> Response:
    session = visit.session
    found = organised(session, visit.user, competition, Right.EDIT)
    revisions = list_revisions(session, found, limit=PAGE_LENGTH + 1, before=before)
    workspace = desk_of(session, found, visit.viewer)
    return render_page(
        visit,
        "declarations/history.html",
        may_store=False,
        competition=found,
        workspace=workspace,
        revisions=revisions[:PAGE_LENGTH],
        is_more=len(revisions) > PAGE_LENGTH,
    )


@router.get("/competitions/{competition}/history/{number}", dependencies=EDITING)
def read_revision(visit: PageUserVisit, competition: str, number: RowId) -> Response:
    return _history_page(visit, competition, number)


def _history_page(
    visit: UserVisit,
    competition: str,
    number: int,
    form: Mapping[str, str] | None = None,
    outcome: Outcome | None = None,
    error: EvergoldError | None = None,
) -> Response:
    session = visit.session
    found = organised(session, visit.user, competition, Right.EDIT)
    revision, present = find_revision(session, found, number), present_revision(session, found)
    before = find_revision(session, found, number - 1) if number > 1 else None
    workspace = desk_of(session, found, visit.viewer)
    since = differences(revision.document, present.document)
    return render_page(
        visit,
        "declarations/revision.html",
        may_store=False,
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
        faults=error.fields if error else {},
        outcome=outcome,
    )


@router.post("/competitions/{competition}/history/{number}", dependencies=EDITING)
@form_again(_history_page)
def send_back(sender: SentForm, competition: str, number: RowId, form: SentFields) -> Response:
    edit = edit_of(competition, sender.user, form, revision_number(form.get("base")))
    outcome = go_back(sender.server.engine, storage_of(sender.server.settings), edit, number, sender.server.clock())
    if outcome.revision is not None:
        return RedirectResponse(links.history(competition, outcome.revision), 303)
    with user_visit_of(sender.request, sender.user) as visit:
        return _history_page(visit, competition, number, form, outcome)


def _compared(before: Revision, after: Revision) -> list[tuple[str, str]]:
    """Return the changed lines of the YAML with some context, as (sign, text); empty if comparing takes too long."""
    try:
        return compared(before.document, after.document, _LINES_COMPARED)
    except TooMuchWork:
        return []
