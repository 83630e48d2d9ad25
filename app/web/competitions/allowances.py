"""The API of extensions for single teams, granted by organisers: a later deadline, more submissions."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Response

from app.base.db import reading, writing
from app.competitions.allowances import grant, list_allowances, take_back
from app.competitions.find import organised
from app.models import Right
from app.web.competitions.allowance_schemas import AllowanceIn, AllowanceOut, AllowancesOut, allowance_out
from app.web.http.context import ServerHere
from app.web.http.errors import error_responses
from app.web.http.identity import ApiOrganiser
from app.web.http.paths import CompetitionName
from app.web.http.routers import api_router
from app.web.http.schemas import RowId

router = api_router("organising")

PLACE = "/competitions/{competition}/allowances"


@router.get(
    PLACE,
    operation_id="list_allowances",
    summary="What single teams are allowed, for organisers",
    responses=error_responses(401, 403, 404),
)
def read_allowances(server: ServerHere, user: ApiOrganiser, competition: CompetitionName) -> AllowancesOut:
    with reading(server.engine) as session:
        found = list_allowances(session, organised(session, user, competition, Right.SUBMISSIONS))
        return AllowancesOut(allowances=[allowance_out(one) for one in found])


@router.put(
    PLACE,
    operation_id="grant_allowance",
    summary="Allow a team a later close or more submissions, for organisers",
    description="In each task of a phase; what the team was allowed there before is replaced. What it sends after the "
    "close stands with a footnote and without a rank, never in the place of what came in time, unless `is_ranked`.",
    responses=error_responses(401, 403, 404, 422),
)
def put_allowance(
    server: ServerHere, user: ApiOrganiser, competition: CompetitionName, allowance: AllowanceIn
) -> AllowanceOut:
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.SUBMISSIONS)
        return allowance_out(grant(session, found, allowance.wanted, server.settings, actor=user, now=server.clock()))


@router.delete(
    f"{PLACE}/{{allowance_id}}",
    operation_id="take_back_allowance",
    summary="Take an allowance back, for organisers",
    description="What was accepted by it stays.",
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
        take_back(
            session,
            organised(session, user, competition, Right.SUBMISSIONS),
            allowance_id,
            actor=user,
            now=server.clock(),
        )
    return Response(status_code=204)
