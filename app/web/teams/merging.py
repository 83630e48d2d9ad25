"""The API of merging teams: open offers, making an offer, and answering one."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path

from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.submissions.merging import accept_merge
from app.teams.merge_offers import ask_to_merge, end_offer, offers_of_user
from app.web.http.context import ServerHere
from app.web.http.errors import error_responses
from app.web.http.identity import ApiSubmitter, ApiUser
from app.web.http.paths import CompetitionName
from app.web.http.routers import api_router
from app.web.http.schemas import RowId
from app.web.teams.schemas import MergeQuestion, MergingOut, merging_out

router = api_router("taking part")

PLACE = "/competitions/{competition}/team/merging"
OfferId = Annotated[RowId, Path(examples=[3])]


@router.get(
    PLACE,
    operation_id="list_merge_offers",
    summary="Offers to merge that wait for an answer, by and to your team",
    responses=error_responses(401, 404),
)
def read_offers(server: ServerHere, user: ApiUser, competition: CompetitionName) -> MergingOut:
    with reading(server.engine) as session:
        return merging_out(offers_of_user(session, find_competition(session, competition), user, server.clock()))


@router.post(
    PLACE,
    operation_id="ask_to_merge",
    summary="Offer a merge to another team, for the captain",
    description="Nothing changes until its captain accepts. 409 `no_merging` after the date, or where it has declined.",
    status_code=201,
    responses=error_responses(401, 403, 404, 409, 413, 422),
)
def post_offer(server: ServerHere, user: ApiSubmitter, competition: CompetitionName, form: MergeQuestion) -> MergingOut:
    now = server.clock()
    with writing(server.engine) as session:
        found = find_competition(session, competition)
        ask_to_merge(session, found, user, form.team, server.settings, now)
        return merging_out(offers_of_user(session, found, user, now))


@router.post(
    f"{PLACE}/{{offer_id}}/acceptance",
    operation_id="accept_merge",
    summary="Accept another team's offer to merge, for the captain",
    description="All its members and submissions move to the offering team; this cannot be undone. 409 "
    "`no_merging` where both have submitted more than one team could have by now, `team_full` where you are too many.",
    status_code=204,
    responses=error_responses(401, 403, 404, 409, 422),
)
def post_acceptance(server: ServerHere, user: ApiSubmitter, competition: CompetitionName, offer_id: OfferId) -> None:
    with writing(server.engine) as session:
        found = find_competition(session, competition)
        accept_merge(session, found, user, offer_id, server.settings, server.clock())


@router.delete(
    f"{PLACE}/{{offer_id}}",
    operation_id="end_merge_offer",
    summary="Decline an offer to merge, or take your own back, for the captain",
    description="A team that declined gets no second offer from the same team; it may make one itself.",
    status_code=204,
    responses=error_responses(401, 403, 404, 422),
)
def delete_offer(server: ServerHere, user: ApiSubmitter, competition: CompetitionName, offer_id: OfferId) -> None:
    with writing(server.engine) as session:
        end_offer(session, find_competition(session, competition), user, offer_id, server.settings, server.clock())
