"""The API of method cards: teams describe the system behind a submission, until its boards are frozen."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Query

from app.base import links
from app.base.db import reading, writing
from app.cards.edits import card_history, card_number, edit_card, frozen_by, is_of_team
from app.cards.kept import card_of_submission, form_of
from app.models import User
from app.submissions.find import get_submission
from app.web.http.context import Server, ServerHere
from app.web.http.errors import error_responses
from app.web.http.identity import ApiSubmitter, ApiUser
from app.web.http.routers import api_router
from app.web.submissions.card_schemas import CardIn, SubmissionCardOut, card_changes_out, card_form_out, card_out

router = api_router("submissions")


@router.get(
    "/submissions/{submission_id}/card",
    operation_id="get_card",
    summary="The method card of a submission",
    description="With the organisers' fields, and with every change so far. For its team and the organisers; "
    "everybody else reads cards in the rows of boards, where names are shown.",
    responses=error_responses(401, 404, 422),
)
def read_card(server: ServerHere, user: ApiUser, submission_id: UUID) -> SubmissionCardOut:
    return _card(server, user, submission_id)


@router.put(
    "/submissions/{submission_id}/card",
    operation_id="edit_card",
    summary="Write the method card of a submission",
    description="The whole card, until the official board of the phase is made: 409 `card_frozen` from then on. "
    "Nothing is changed unless everything is right; all errors are reported at once, by field (`fields.NAME` for "
    "answers). `system` gives the system another name. With `version`, 409 `card_changed` if somebody else "
    "changed it since.",
    responses=error_responses(401, 403, 404, 409, 422),
)
def put_card(
    server: ServerHere,
    user: ApiSubmitter,
    submission_id: UUID,
    card: CardIn,
    version: Annotated[int | None, Query(ge=0, le=2**31 - 1, description="the one that you have looked at")] = None,
) -> SubmissionCardOut:
    with writing(server.engine) as session:
        submission = get_submission(session, submission_id, user)
        said = card.model_dump(exclude={"system"})
        edit_card(session, submission, user, said, server.clock(), version=version, name=card.system)
    return _card(server, user, submission_id)


def _card(server: Server, user: User, submission_id: UUID) -> SubmissionCardOut:
    with reading(server.engine) as session:
        submission = get_submission(session, submission_id, user)
        frozen = frozen_by(session, submission)
        return SubmissionCardOut(
            submission=submission.id,
            system=submission.system.name if submission.system else "",
            card=card_out(card_of_submission(session, submission)),
            form=card_form_out(form_of(submission.phase_task)),
            version=card_number(session, submission),
            is_editable=frozen is None and is_of_team(session, submission, user),
            frozen_at=frozen.made_at if frozen else None,
            history=card_changes_out(card_history(session, submission)),
            page=links.card(submission.id),
        )
