"""Pages on which a competition is started: as a draft, a blueprint, a copy, or from an uploaded folder or bundle."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated

from fastapi import Depends, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.db import writing
from app.base.errors import EvergoldError, InvalidForm, NameTaken
from app.base.text import one_line, refuse, wrong_text
from app.competitions.find import organised, organised_by
from app.competitions.organisers import check_may_create, may_create
from app.declarations.blueprints.abandoned import clears_at
from app.declarations.blueprints.build import build_draft
from app.declarations.blueprints.kept import begin_blueprint, begin_changes, begin_copy, list_blueprints
from app.declarations.blueprints.stories import copied_document, first_document
from app.declarations.revisions.kept import present_revision
from app.declarations.setup.kinds import KINDS, begun_document, kind_named, name_from
from app.declarations.values import NAME_PATTERN
from app.models import Blueprint, Right
from app.people.act import UserAct
from app.web.declarations.blueprint_receiving import receive_zip
from app.web.declarations.bundle_receiving import receive_bundle
from app.web.html.guards import (
    FormSender,
    PageUserVisit,
    SentFields,
    SentForm,
    SentUpload,
    form_again,
    form_guard,
    upload_guard,
)
from app.web.html.rendering import render, render_page
from app.web.http.routers import page_router
from app.web.http.visit import UserVisit
from evergold.scoring.tasks import TASKS

router = page_router()

START = "/organise"
FromStart = Annotated[SentUpload, Depends(upload_guard(START))]
FromEdit = Annotated[FormSender, Depends(form_guard("/competitions/{competition}/edit"))]


@router.get(START)
def read_start(visit: PageUserVisit) -> Response:
    return _start_page(visit)


def _start_page(
    visit: UserVisit,
    form: Mapping[str, str] | None = None,
    error: EvergoldError | None = None,
) -> Response:
    user = visit.user
    blueprints = list_blueprints(visit.session, user)
    own = organised_by(visit.session, user)
    return render_page(
        visit,
        "declarations/organise.html",
        blueprints=[(one, clears_at(one, visit.server.settings.blueprint_days)) for one in blueprints],
        own=own,
        may_create=may_create(user, visit.server.settings.organise),
        rule=visit.server.settings.organise,
        kinds=KINDS,
        task_types=sorted(TASKS.values(), key=lambda one: one.title),
        typed=form or {},
        faults=error.fields if error else {},
        error=error,
    )


@router.post(START)
@form_again(_start_page)
def send_start(sender: SentForm, form: SentFields) -> Response:
    check_may_create(sender.user, sender.server.settings.organise)
    if "kind" in form:
        return RedirectResponse(links.setup(_begin_draft(sender, form), "files"), 303)
    with writing(sender.server.engine) as session:
        blueprint = _begin(sender.act(session), form)
        return RedirectResponse(links.organise(blueprint.id), 303)


def _begin_draft(sender: FormSender, form: Mapping[str, str]) -> str:
    """Create a draft from a title and a kind of answers; return its name, which is derived from the title."""
    title, kind = one_line(form.get("title", "")), kind_named(form.get("kind", ""))
    refuse({"title": wrong_text(title, 200), "kind": "" if kind else "Choose what systems submit."})
    if kind is None:
        raise InvalidForm("Choose what systems submit.")
    typed, now = form.get("name", "").strip(), sender.server.clock()
    if typed and not _is_name(typed):
        refuse({"name": _NAME_WORDS})
    server, name = sender.server, typed or name_from(title)
    for number in range(2, _NAMES_TRIED):
        try:
            document = begun_document(name, title, kind, now)
            return build_draft(server.engine, server.settings, sender.user, document, now)
        except NameTaken:
            if typed:
                raise
            name = f"{name_from(title)}-{number}"
    raise NameTaken("Many competitions have a title like this: choose a name for addresses.")


def _begin(act: UserAct, form: Mapping[str, str]) -> Blueprint:
    name, title = form.get("name", "").strip(), one_line(form.get("title", ""))
    copied, task_type = form.get("copy", ""), form.get("type", "")
    refuse(
        {
            "title": wrong_text(title, 200),
            "name": "" if _is_name(name) else _NAME_WORDS,
            "type": "" if copied else _wrong_type(task_type),
        }
    )
    if not copied:
        return begin_blueprint(act, first_document(name, title, task_type, act.now))
    found = organised(act.session, act.user, copied, Right.EDIT)
    document = copied_document(present_revision(act.session, found).document, name, title)
    return begin_copy(act, found, document)


def _wrong_type(task_type: str) -> str:
    """Return why a draft cannot start with this task type; "" if it can."""
    if task_type not in TASKS:
        return "Choose a task type."
    if TASKS[task_type].run is None:
        return ""
    return "For your own program, zip its folder together with a competition.yaml, and upload the zip below."


_NAME_WORDS = "Use lower-case letters a-z, digits, and single hyphens between them."
#: Number of names tried for competitions with similar titles.
_NAMES_TRIED = 30


def _is_name(name: str) -> bool:
    return len(name) <= 60 and re.fullmatch(NAME_PATTERN, name) is not None


def _show_upload_form(visit: UserVisit, upload: SentUpload, error: EvergoldError) -> Response:
    return _start_page(visit, upload.fields, error)


@router.post(f"{START}/zip")
@form_again(_show_upload_form)
async def send_zip(upload: FromStart) -> Response:
    return RedirectResponse(
        links.organise(await receive_zip(upload.request, upload.server, upload.user, upload.check)), 303
    )


#: Sections of the page behind an import: fate of keys, title, and the sentence where there is none.
_FATES = (
    ("open", "Open: you have to do something", "Nothing is open."),
    ("assumed", "Assumed: the bundle leaves it open", "Nothing was assumed."),
    ("none", "No counterpart here", "Every key has a counterpart."),
    ("became", "What became what", "Nothing."),
)


@router.post(f"{START}/bundle")
@form_again(_show_upload_form)
async def send_bundle(upload: FromStart) -> Response:
    made = await receive_bundle(upload)
    return render(upload.request, "declarations/imported.html", may_store=False, made=made, fates=_FATES)


@router.post("/competitions/{competition}/rewrite")
def send_rewrite(sender: FromEdit, competition: str) -> Response:
    """Start or continue a change of the competition's whole declaration."""
    with writing(sender.server.engine) as session:
        blueprint = begin_changes(sender.act(session), organised(session, sender.user, competition, Right.EDIT))
        return RedirectResponse(links.organise(blueprint.id), 303)
