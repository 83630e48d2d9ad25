"""The page of a submission's method card: its content, its history, and the form that edits it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from fastapi import Request, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.db import reading, writing
from app.base.errors import EvergoldError
from app.cards.edits import (
    ANSWER_START,
    LANGUAGE_START,
    card_history,
    card_number,
    edit_card,
    frozen_by,
    is_of_team,
    sent_card,
)
from app.cards.form import CardForm, MethodCard
from app.cards.kept import card_of_submission, form_of
from app.cards.systems import NAME_CHARACTERS, NAME_FIELD
from app.models import User
from app.submissions.find import get_submission
from app.web.html.guards import PageUser, SentFields, SentForm, form_again
from app.web.html.rendering import render
from app.web.html.workspace import workspace_of_task
from app.web.http.context import Server, ServerHere
from app.web.http.routers import page_router
from app.web.http.viewer import Viewer, ViewerHere

router = page_router()

VERSION_FIELD = "version"


@router.get("/submissions/{submission_id}/card")
def read_card(request: Request, server: ServerHere, user: PageUser, _: ViewerHere, submission_id: UUID) -> Response:
    return _page(request, server, user, submission_id)


def _page(
    request: Request,
    server: Server,
    user: User,
    submission_id: UUID,
    fields: Mapping[str, str] | None = None,
    error: EvergoldError | None = None,
) -> Response:
    """Return the page; fields: the submitted values, None for those of the card."""
    with reading(server.engine) as session:
        submission = get_submission(session, submission_id, user)
        card, form = card_of_submission(session, submission), form_of(submission.phase_task)
        shown: dict[str, Any] = {
            "submission": submission,
            "workspace": workspace_of_task(session, submission.phase_task, Viewer(user, None), server.clock(), "runs"),
            "task": submission.phase_task.task,
            "phase": submission.phase_task.phase,
            "competition": submission.phase_task.phase.competition,
            "card": card,
            "card_form": form,
            "version": card_number(session, submission),
            "frozen": frozen_by(session, submission),
            "is_mine": is_of_team(session, submission, user),
            "changes": card_history(session, submission),
            "system_characters": NAME_CHARACTERS,
        }
    name = submission.system.name if submission.system else ""
    typed = {**fields_of(card, form), NAME_FIELD: name} if fields is None else fields
    return render(request, "submissions/card.html", **shown, fields=typed, error=error)


@router.post("/submissions/{submission_id}/card")
@form_again(_page)
def send_card(
    request: Request, server: ServerHere, user: SentForm, submission_id: UUID, fields: SentFields
) -> Response:
    looked_at = fields.get(VERSION_FIELD, "")
    version = int(looked_at) if looked_at.isascii() and looked_at.isdigit() and len(looked_at) < 10 else None
    with writing(server.engine) as session:
        submission = get_submission(session, submission_id, user)
        sent = {**sent_card(fields, form_of(submission.phase_task)), "method": fields.get("method", "")}
        edit_card(session, submission, user, sent, server.clock(), version=version, name=fields.get(NAME_FIELD))
    return RedirectResponse(links.submission(submission_id), 303)


def fields_of(card: MethodCard, form: CardForm) -> dict[str, str]:
    """Return the form fields of a card; `app.cards.edits.sent_card` parses them."""
    answers = {ANSWER_START + one.name: one.text for one in card.answers}
    fields = {
        "method": card.method,
        "summary": card.summary,
        "paper": card.paper,
        "code": card.code,
        "data": card.data,
        **answers,
    }
    if form.languages:
        return fields | {LANGUAGE_START + name: "yes" for name in card.languages}
    return fields | {"languages": " ".join(card.languages)}
