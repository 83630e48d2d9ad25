"""The page of a submission's method card: what it says, how it came to say so, and the form that changes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.db import reading, writing
from app.base.errors import EvergoldError, Forbidden, NotFound
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
from app.submissions.find import get_submission
from app.web.html.guards import to_login
from app.web.html.rendering import check_form, render
from app.web.http import csrf
from app.web.http.context import Server, ServerHere
from app.web.http.identity import Visitor, VisitorHere
from app.web.http.viewer import ViewerHere

router = APIRouter()

VERSION_FIELD = "version"


async def _sent_fields(request: Request) -> dict[str, str]:
    """What a form says; its fields are the organisers' to name."""
    async with request.form() as form:
        return {name: value for name, value in form.items() if isinstance(value, str)}


@dataclass(frozen=True, slots=True)
class _Typed:
    """What was sent, and what was wrong with it."""

    fields: Mapping[str, str]
    error: EvergoldError


@router.get("/submissions/{submission_id}/card")
def read_card(
    request: Request, server: ServerHere, visitor: VisitorHere, _: ViewerHere, submission_id: UUID
) -> Response:
    if visitor.user is None:
        return to_login(request)
    return _page(request, server, visitor, submission_id)


@router.post("/submissions/{submission_id}/card")
async def send_card(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    submission_id: UUID,
    fields: Annotated[dict[str, str], Depends(_sent_fields)],
) -> Response:
    if visitor.user is None:
        return RedirectResponse(f"/login?next={links.card(submission_id)}", 303)
    check_form(request, fields.get(csrf.FORM_FIELD))
    return await run_sync(_save, request, server, visitor, submission_id, fields)


def _save(
    request: Request, server: Server, visitor: Visitor, submission_id: UUID, fields: Mapping[str, str]
) -> Response:
    if visitor.user is None:
        return to_login(request)
    try:
        with writing(server.engine) as session:
            submission = get_submission(session, submission_id, visitor.user)
            sent = {**sent_card(fields, form_of(submission.phase_task)), "method": fields.get("method", "")}
            looked_at = fields.get(VERSION_FIELD, "")
            version = int(looked_at) if looked_at.isascii() and looked_at.isdigit() and len(looked_at) < 10 else None
            edit_card(session, submission, visitor.user, sent, server.clock(), version=version)
    except (NotFound, Forbidden):
        raise
    except EvergoldError as error:
        return _page(request, server, visitor, submission_id, _Typed(fields, error))
    return RedirectResponse(links.submission(submission_id), 303)


def _page(
    request: Request, server: Server, visitor: Visitor, submission_id: UUID, typed: _Typed | None = None
) -> Response:
    with reading(server.engine) as session:
        submission = get_submission(session, submission_id, visitor.user)
        card, form = card_of_submission(session, submission), form_of(submission.phase_task)
        shown: dict[str, Any] = {
            "submission": submission,
            "task": submission.phase_task.task,
            "phase": submission.phase_task.phase,
            "competition": submission.phase_task.phase.competition,
            "card": card,
            "card_form": form,
            "version": card_number(session, submission),
            "frozen": frozen_by(session, submission),
            "is_mine": is_of_team(session, submission, visitor.user),
            "changes": card_history(session, submission),
        }
    fields = typed.fields if typed else fields_of(card, form)
    error = typed.error if typed else None
    return render(request, "submissions/card.html", error.status if error else 200, **shown, fields=fields, error=error)


def fields_of(card: MethodCard, form: CardForm) -> dict[str, str]:
    """A card as its form has it; `app.cards.edits.sent_card` reads it back."""
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
