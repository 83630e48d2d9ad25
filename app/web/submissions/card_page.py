"""The form of a submission's method card, and the team's notes on it."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from fastapi import Response
from fastapi.responses import RedirectResponse
from sqlalchemy.orm import Session

from app.base import links
from app.base.db import writing
from app.base.errors import EvergoldError, Forbidden
from app.base.text import many_lines, refuse, whole_number
from app.cards.edits import (
    card_history,
    card_number,
    card_of_submission,
    edit_card,
    fields_of,
    form_of,
    frozen_by,
    is_of_team,
    sent_card,
)
from app.cards.systems import NAME_CHARACTERS, NAME_FIELD
from app.models import Submission, User
from app.people.competition_blocks import check_not_blocked
from app.submissions.accept import DESCRIPTION_CHARACTERS, text_faults
from app.submissions.find import get_submission
from app.teams.find import orcids_of
from app.web.html.guards import PageUserVisit, SentFields, SentForm, form_again
from app.web.html.rendering import render_page
from app.web.html.workspace import workspace_of_task
from app.web.http.identity import ViewerHere
from app.web.http.routers import page_router
from app.web.http.visit import UserVisit

router = page_router()

VERSION_FIELD = "version"


@router.get("/submissions/{submission_id}/card")
def read_card(visit: PageUserVisit, _: ViewerHere, submission_id: UUID) -> Response:
    return _page(visit, submission_id)


def _page(
    visit: UserVisit,
    submission_id: UUID,
    fields: Mapping[str, str] | None = None,
    error: EvergoldError | None = None,
) -> Response:
    """Return the page of a method card. fields: the submitted values, None to show those of the card."""
    session = visit.session
    submission = get_submission(session, submission_id, visit.user)
    place = submission.phase_task
    card, form = card_of_submission(session, submission), form_of(place)
    name = submission.system.name if submission.system else ""
    of_card = {**fields_of(card, form), NAME_FIELD: name, "description": submission.description}
    return render_page(
        visit,
        "submissions/card.html",
        submission=submission,
        workspace=workspace_of_task(session, place, visit.viewer, "runs"),
        task=place.task,
        phase=place.phase,
        competition=place.phase.competition,
        card=card,
        orcids=orcids_of(session, submission.team.competition_id, submission.team.name),
        card_form=form,
        version=card_number(session, submission),
        frozen=frozen_by(session, submission),
        is_mine=is_of_team(session, submission, visit.user),
        changes=card_history(session, submission),
        system_characters=NAME_CHARACTERS,
        description_characters=DESCRIPTION_CHARACTERS,
        fields=of_card if fields is None else fields,
        error=error,
    )


@router.post("/submissions/{submission_id}/card")
@form_again(_page)
def send_card(sender: SentForm, submission_id: UUID, fields: SentFields) -> Response:
    version = whole_number(fields.get(VERSION_FIELD, ""))
    with writing(sender.server.engine) as session:
        submission = get_submission(session, submission_id, sender.user)
        sent = {**sent_card(fields, form_of(submission.phase_task)), "method": fields.get("method", "")}
        edit_notes(session, submission, sender.user, fields.get("description", submission.description))
        edit_card(sender.act(session), submission, sent, version=version, name=fields.get(NAME_FIELD))
    return RedirectResponse(links.submission(submission_id), 303)


def edit_notes(session: Session, submission: Submission, user: User, notes: str) -> None:
    """Replace the team's notes on a submission. Raises Forbidden, InvalidForm."""
    if not is_of_team(session, submission, user):
        raise Forbidden("Only its team can change the notes of a submission.")
    check_not_blocked(session, submission.phase_task.phase.competition, user)
    refuse(text_faults({"description": notes}))
    submission.description = many_lines(notes)
