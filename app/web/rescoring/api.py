"""The API of rescoring sets, for organisers: start one, see the rank changes, publish or discard it."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from sqlalchemy.orm import Session

from app.base.db import reading, writing
from app.competitions.find import organised
from app.models import Competition, RescoringState, Right, User
from app.rescoring.difference import difference_of
from app.rescoring.publishing import publish_rescoring
from app.rescoring.sets import TO_RESCORE, drop_rescoring, find_rescoring, list_rescorings, progress_of, start_rescoring
from app.rescoring.views import RankDifference, RescoringList, RescoringOut, describe_difference, describe_rescoring
from app.web.http.context import Server, ServerHere
from app.web.http.errors import error_responses
from app.web.http.identity import ApiOrganiser
from app.web.http.paths import CompetitionName
from app.web.http.routers import api_router
from app.web.http.schemas import RowId
from app.web.http.visit import ApiOrganiserVisit
from app.web.rescoring.schemas import NewRescoring

router = api_router("organising")
SETS = "/competitions/{competition}/rescorings"
ONE = f"{SETS}/{{rescoring}}"


@router.get(
    SETS,
    operation_id="list_rescorings",
    summary="The rescoring sets of a competition, for organisers",
    responses=error_responses(401, 403, 404),
)
def read_rescorings(visit: ApiOrganiserVisit, competition: CompetitionName) -> RescoringList:
    session = visit.session
    found = organised(session, visit.user, competition, Right.SUBMISSIONS)
    sets = [_out(session, found, one.id) for one in list_rescorings(session, found)]
    return RescoringList(competition=found.name, rescorings=sets)


@router.post(
    SETS,
    operation_id="start_rescoring",
    summary="Rescore submissions as a set, without changing boards yet, for organisers",
    description="Before the set is published, no board changes and nobody else is notified. New uploads go first.",
    status_code=201,
    responses=error_responses(401, 403, 404, 409, 422),
)
def create_rescoring(
    server: ServerHere, user: ApiOrganiser, competition: CompetitionName, wanted: NewRescoring
) -> RescoringOut:
    with writing(server.engine) as session:
        number = start_rescoring(
            server.act(session, user),
            organised(session, user, competition, TO_RESCORE),
            wanted.tasks,
            note=wanted.note,
            gold_version=wanted.gold_version,
            with_rejected=wanted.with_rejected,
        ).id
    return _shown(server, user, competition, number)


@router.get(
    ONE,
    operation_id="get_rescoring",
    summary="A rescoring set and its progress, for organisers",
    responses=error_responses(401, 403, 404, 422),
)
def read_rescoring(visit: ApiOrganiserVisit, competition: CompetitionName, rescoring: RowId) -> RescoringOut:
    return _out(visit.session, organised(visit.session, visit.user, competition, Right.SUBMISSIONS), rescoring)


@router.get(
    f"{ONE}/diff",
    operation_id="get_rescoring_diff",
    summary="Changes of ranks by a rescoring set, for organisers",
    description="For an open set, the changes so far; for a published set, the changes that it made.",
    responses=error_responses(401, 403, 404, 422),
)
def read_rescoring_diff(visit: ApiOrganiserVisit, competition: CompetitionName, rescoring: RowId) -> RankDifference:
    session = visit.session
    found = find_rescoring(session, organised(session, visit.user, competition, Right.SUBMISSIONS), rescoring)
    return describe_difference(found.id, difference_of(session, found))


@router.post(
    f"{ONE}/publish",
    operation_id="publish_rescoring",
    summary="Publish a set: the new scores replace the old ones, for organisers",
    description=(
        "All boards change at once, and the gold of the set is put in use; official results get a new version "
        "beside the first."
    ),
    responses=error_responses(401, 403, 404, 409, 422),
)
def publish_rescoring_set(
    server: ServerHere,
    user: ApiOrganiser,
    competition: CompetitionName,
    rescoring: RowId,
    tell_teams: Annotated[
        bool, Query(description="send a mail to teams whose rank changed on a board that they can see")
    ] = False,
) -> RescoringOut:
    with writing(server.engine) as session:
        publish_rescoring(
            server.act(session, user),
            organised(session, user, competition, TO_RESCORE),
            rescoring,
            tell_teams=tell_teams,
        )
    return _shown(server, user, competition, rescoring)


@router.post(
    f"{ONE}/drop",
    operation_id="drop_rescoring",
    summary="End a rescoring set without a change, for organisers",
    responses=error_responses(401, 403, 404, 409, 422),
)
def drop_rescoring_set(
    server: ServerHere, user: ApiOrganiser, competition: CompetitionName, rescoring: RowId
) -> RescoringOut:
    with writing(server.engine) as session:
        drop_rescoring(server.act(session, user), organised(session, user, competition, TO_RESCORE), rescoring)
    return _shown(server, user, competition, rescoring)


def _shown(server: Server, user: User, competition: str, rescoring: int) -> RescoringOut:
    """Return the current state of the set, after a change."""
    with reading(server.engine) as session:
        return _out(session, organised(session, user, competition, Right.SUBMISSIONS), rescoring)


def _out(session: Session, competition: Competition, number: int) -> RescoringOut:
    found = find_rescoring(session, competition, number)
    is_open = found.state == RescoringState.OPEN
    return describe_rescoring(competition, found, progress_of(session, found) if is_open else None)
