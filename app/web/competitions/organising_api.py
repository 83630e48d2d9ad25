"""The API of extensions for single teams, and of a competition's status, for organisers."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Response

from app.base.db import writing
from app.competitions.allowances import grant, list_allowances, take_back
from app.competitions.confirmation import confirm_scores, confirmation_of, decline_scores
from app.competitions.find import organised
from app.competitions.life import change_life, keep_competition, plan_deletion
from app.competitions.views import (
    AllowanceOut,
    AllowancesOut,
    ConfirmationOut,
    LifeOut,
    describe_allowance,
    describe_confirmation,
    describe_life,
)
from app.models import Right
from app.web.competitions.schemas import AllowanceIn, ConfirmationIn, LifeIn
from app.web.http.context import ServerHere
from app.web.http.errors import error_responses
from app.web.http.identity import ApiOrganiser
from app.web.http.paths import CompetitionName
from app.web.http.routers import api_router
from app.web.http.schemas import RowId
from app.web.http.visit import ApiOrganiserVisit

router = api_router("organising")

ALLOWANCES = "/competitions/{competition}/allowances"


@router.get(
    ALLOWANCES,
    operation_id="list_allowances",
    summary="Extensions of teams, for organisers",
    responses=error_responses(401, 403, 404),
)
def read_allowances(visit: ApiOrganiserVisit, competition: CompetitionName) -> AllowancesOut:
    found = list_allowances(visit.session, organised(visit.session, visit.user, competition, Right.SUBMISSIONS))
    return AllowancesOut(allowances=[describe_allowance(one) for one in found])


@router.put(
    ALLOWANCES,
    operation_id="grant_allowance",
    summary="Give a team a later deadline or extra submissions, for organisers",
    description=(
        "Applies to each task of the phase and replaces an earlier extension of the team in it. Late submissions "
        "get a footnote and no rank, and never replace one in time, unless `is_ranked`."
    ),
    responses=error_responses(401, 403, 404, 422),
)
def put_allowance(
    server: ServerHere, user: ApiOrganiser, competition: CompetitionName, allowance: AllowanceIn
) -> AllowanceOut:
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.SUBMISSIONS)
        granted = grant(server.act(session, user), found, allowance.wanted)
        return describe_allowance(granted)


@router.delete(
    f"{ALLOWANCES}/{{allowance_id}}",
    operation_id="take_back_allowance",
    summary="Revoke an extension, for organisers",
    description="Submissions sent under the extension stay.",
    status_code=204,
    responses=error_responses(401, 403, 404, 422),
)
def delete_allowance(
    server: ServerHere,
    user: ApiOrganiser,
    competition: CompetitionName,
    allowance_id: Annotated[RowId, Path(examples=[3])],
) -> Response:
    with writing(server.engine) as session:
        take_back(server.act(session, user), organised(session, user, competition, Right.SUBMISSIONS), allowance_id)
    return Response(status_code=204)


LIFE = "/competitions/{competition}/life"


@router.get(
    LIFE,
    operation_id="get_life",
    summary="The status of a competition: who sees it, and what is paused, for organisers",
    responses=error_responses(401, 403, 404),
)
def read_life(visit: ApiOrganiserVisit, competition: CompetitionName) -> LifeOut:
    return describe_life(organised(visit.session, visit.user, competition, Right.EDIT))


@router.put(
    LIFE,
    operation_id="change_life",
    summary="Publish, hide, pause or archive a competition, for organisers",
    responses=error_responses(401, 403, 404, 409, 422),
)
def put_life(server: ServerHere, user: ApiOrganiser, competition: CompetitionName, life: LifeIn) -> LifeOut:
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.EDIT)
        change_life(session, found, life.wanted, actor=user, now=server.clock())
        return describe_life(found)


CONFIRMATION = f"{LIFE}/confirmation"


@router.get(
    CONFIRMATION,
    operation_id="get_confirmation",
    summary="Baseline scores of an imported competition to confirm, for organisers",
    responses=error_responses(401, 403, 404),
)
def read_confirmation(visit: ApiOrganiserVisit, competition: CompetitionName) -> ConfirmationOut:
    found = organised(visit.session, visit.user, competition, Right.EDIT)
    return describe_confirmation(confirmation_of(visit.session, found))


@router.put(
    CONFIRMATION,
    operation_id="confirm_scores",
    summary="Confirm the scores of baselines, or decline, for organisers",
    description="Until then an imported competition stays a draft.",
    responses=error_responses(401, 403, 404, 409, 422),
)
def put_confirmation(
    server: ServerHere, user: ApiOrganiser, competition: CompetitionName, verdict: ConfirmationIn
) -> ConfirmationOut:
    with writing(server.engine) as session:
        act, found = server.act(session, user), organised(session, user, competition, Right.EDIT)
        if verdict.is_confirmed:
            confirm_scores(act, found)
        else:
            decline_scores(act, found, verdict.why)
        return describe_confirmation(confirmation_of(session, found))


@router.put(
    f"{LIFE}/deletion",
    operation_id="plan_deletion",
    summary="Delete a competition in seven days, for organisers",
    description="Only if no team has submitted. Until then only organisers see it and can cancel the deletion.",
    responses=error_responses(401, 403, 404, 409),
)
def put_deletion(server: ServerHere, user: ApiOrganiser, competition: CompetitionName) -> LifeOut:
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.EDIT)
        plan_deletion(session, found, actor=user, now=server.clock())
        return describe_life(found)


@router.delete(
    f"{LIFE}/deletion",
    operation_id="keep_competition",
    summary="Cancel the deletion of a competition, for organisers",
    description="The competition becomes a draft.",
    responses=error_responses(401, 403, 404),
)
def delete_deletion(server: ServerHere, user: ApiOrganiser, competition: CompetitionName) -> LifeOut:
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.EDIT)
        keep_competition(session, found, actor=user, now=server.clock())
        return describe_life(found)
