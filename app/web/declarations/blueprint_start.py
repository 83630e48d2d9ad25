"""The start page of new competitions: from a few answers, as a copy, or from a zip; and a list of the user's drafts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from fastapi import Depends, Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy.orm import Session

from app.base import links
from app.base.db import reading, writing
from app.base.errors import EvergoldError
from app.base.text import one_line, refuse, wrong_text
from app.competitions.find import organised, organised_by
from app.competitions.organisers import OrganiserLimits, check_may_create, limits_of, may_create
from app.declarations.blueprints.abandoned import clears_at
from app.declarations.blueprints.beginnings import copied_document, first_document
from app.declarations.blueprints.kept import begin_blueprint, begin_changes, begin_copy, list_blueprints
from app.declarations.revisions.kept import present_revision
from app.declarations.values import NAME_PATTERN
from app.models import Blueprint, Right, User
from app.web.declarations.blueprint_receiving import receive_zip
from app.web.html.guards import PageUser, SentFields, SentForm, SentUpload, form_again, form_guard, upload_guard
from app.web.html.rendering import render
from app.web.http.context import Server, ServerHere
from app.web.http.routers import page_router
from evergold.scoring.tasks import TASKS

router = page_router()

START = "/organise"
FromStart = Annotated[SentUpload, Depends(upload_guard(START))]
FromEdit = Annotated[User, Depends(form_guard("/competitions/{competition}/edit"))]


@router.get(START)
def read_start(request: Request, server: ServerHere, user: PageUser) -> Response:
    return _page(request, server, user)


def _page(
    request: Request,
    server: Server,
    user: User,
    form: Mapping[str, str] | None = None,
    error: EvergoldError | None = None,
) -> Response:
    with reading(server.engine) as session:
        blueprints = list_blueprints(session, user)
        own = organised_by(session, user)
    return render(
        request,
        "declarations/organise.html",
        blueprints=[(one, clears_at(one, server.settings.blueprint_days)) for one in blueprints],
        own=own,
        may_create=may_create(user, server.settings.organise),
        rule=server.settings.organise,
        task_types=sorted(TASKS.values(), key=lambda one: one.title),
        typed=form or {},
        faults=error.details.get("fields", {}) if error else {},
        error=error,
    )


@router.post(START)
@form_again(_page)
def send_start(request: Request, server: ServerHere, user: SentForm, form: SentFields) -> Response:
    check_may_create(user, server.settings.organise)
    with writing(server.engine) as session:
        blueprint = _begin(session, user, form, limits_of(server.settings), server.clock())
        return RedirectResponse(links.organise(blueprint.id), 303)


def _begin(session: Session, user: User, form: Mapping[str, str], limits: OrganiserLimits, now: datetime) -> Blueprint:
    name, title = form.get("name", "").strip(), one_line(form.get("title", ""))
    copied, task_type = form.get("copy", ""), form.get("type", "")
    refuse(
        {
            "title": wrong_text(title, 200),
            "name": "" if _is_name(name) else "Lower-case letters a-z, digits, and single hyphens between them.",
            "type": "" if copied or task_type in TASKS else "Choose a task type.",
        }
    )
    if not copied:
        return begin_blueprint(session, user, first_document(name, title, task_type, now), now)
    found = organised(session, user, copied, Right.EDIT)
    document = copied_document(present_revision(session, found).document, name, title)
    return begin_copy(session, user, found, document, limits, now)


def _is_name(name: str) -> bool:
    return len(name) <= 60 and re.fullmatch(NAME_PATTERN, name) is not None


def _zip_again(request: Request, server: Server, upload: SentUpload, error: EvergoldError) -> Response:
    return _page(request, server, upload.user, error=error)


@router.post(f"{START}/zip")
@form_again(_zip_again)
async def send_zip(request: Request, server: ServerHere, upload: FromStart) -> Response:
    return RedirectResponse(links.organise(await receive_zip(request, server, upload.user, upload.check)), 303)


@router.post("/competitions/{competition}/rewrite")
def send_rewrite(server: ServerHere, user: FromEdit, competition: str) -> Response:
    """Changes of everything that it declares begin, or go on."""
    with writing(server.engine) as session:
        blueprint = begin_changes(session, user, organised(session, user, competition, Right.EDIT), server.clock())
        return RedirectResponse(links.organise(blueprint.id), 303)
