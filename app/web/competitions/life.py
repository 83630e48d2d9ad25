"""The API of a competition's status, for organisers: publish, pause, archive, delete it."""

from __future__ import annotations

from app.base.db import reading, writing
from app.competitions.find import organised
from app.competitions.life import change_life, keep_competition, plan_deletion
from app.models import Right
from app.web.competitions.life_schemas import LifeIn, LifeOut, life_out
from app.web.http.context import ServerHere
from app.web.http.errors import error_responses
from app.web.http.identity import ApiOrganiser
from app.web.http.paths import CompetitionName
from app.web.http.routers import api_router

router = api_router("organising")

PLACE = "/competitions/{competition}/life"


@router.get(
    PLACE,
    operation_id="get_life",
    summary="Who sees a competition and what is at rest in it, for organisers",
    responses=error_responses(401, 403, 404),
)
def read_life(server: ServerHere, user: ApiOrganiser, competition: CompetitionName) -> LifeOut:
    with reading(server.engine) as session:
        return life_out(organised(session, user, competition, Right.EDIT))


@router.put(
    PLACE,
    operation_id="change_life",
    summary="Publish, hide, pause or archive a competition, for organisers",
    responses=error_responses(401, 403, 404, 409, 422),
)
def put_life(server: ServerHere, user: ApiOrganiser, competition: CompetitionName, life: LifeIn) -> LifeOut:
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.EDIT)
        change_life(session, found, life.wanted, actor=user, now=server.clock())
        return life_out(found)


@router.put(
    f"{PLACE}/deletion",
    operation_id="plan_deletion",
    summary="Delete a competition in seven days, for organisers",
    description="Only where no team has submitted. Until then organisers alone see it, and can keep it.",
    responses=error_responses(401, 403, 404, 409),
)
def put_deletion(server: ServerHere, user: ApiOrganiser, competition: CompetitionName) -> LifeOut:
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.EDIT)
        plan_deletion(session, found, actor=user, now=server.clock())
        return life_out(found)


@router.delete(
    f"{PLACE}/deletion",
    operation_id="keep_competition",
    summary="Keep a competition that is to be deleted, for organisers",
    description="It is a draft then.",
    responses=error_responses(401, 403, 404),
)
def delete_deletion(server: ServerHere, user: ApiOrganiser, competition: CompetitionName) -> LifeOut:
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.EDIT)
        keep_competition(session, found, actor=user, now=server.clock())
        return life_out(found)
