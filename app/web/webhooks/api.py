"""The API of webhooks: create and change them, list their deliveries, and send deliveries again."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from sqlalchemy.orm import Session

from app.base.db import writing
from app.competitions.find import named_competition
from app.models import User
from app.web.http.context import Server, ServerHere
from app.web.http.errors import error_responses
from app.web.http.identity import ApiOrganiser
from app.web.http.paths import CompetitionName
from app.web.http.routers import api_router
from app.web.http.schemas import RowId
from app.web.http.visit import ApiOrganiserVisit, UserVisit
from app.web.webhooks.schemas import ReplayIn, WebhookIn
from app.webhooks.keeping import (
    Holder,
    add_webhook,
    change_webhook,
    deliveries_of,
    find_webhook,
    holder_for,
    remove_webhook,
    renew_secret,
    replay,
    send_test,
    webhooks_of,
)
from app.webhooks.views import DeliveryList, DeliveryOut, ReplayedOut, WebhookList, WebhookOut, WebhookWithSecret

router = api_router("organising")

WebhookId = Annotated[RowId, Path(examples=[4])]
OF_COMPETITION = "/competitions/{competition}/webhooks"
OF_TEAM = "/competitions/{competition}/team/webhooks"
OF_SERVER = "/webhooks"
ONE = f"{OF_SERVER}/{{webhook_id}}"
_SIGNED = (
    "Messages of the form `standard` are signed according to the Standard Webhooks specification, with the secret "
    "in this answer; the other forms are for chats. Only news that the audience can see in this API at that moment "
    "is sent."
)


def _holder(session: Session, user: User, competition: str | None, *, of_team: bool = False) -> Holder:
    found = named_competition(session, competition) if competition is not None else None
    return holder_for(session, found, user, of_team=of_team)


def _list(visit: UserVisit, competition: str | None, *, of_team: bool = False) -> WebhookList:
    holder = _holder(visit.session, visit.user, competition, of_team=of_team)
    found = webhooks_of(visit.session, holder, visit.user)
    return WebhookList(webhooks=[WebhookOut.of(one, holder.competition) for one in found])


def _add(
    server: Server, user: User, form: WebhookIn, competition: str | None, *, of_team: bool = False
) -> WebhookWithSecret:
    with writing(server.engine) as session:
        holder = _holder(session, user, competition, of_team=of_team)
        webhook = add_webhook(server.act(session, user), holder, form)
        return WebhookWithSecret.of(find_webhook(session, webhook.id, user)[0], holder.competition)


@router.get(
    OF_COMPETITION,
    operation_id="list_webhooks",
    summary="A competition's webhooks, for organisers",
    description="Your own webhooks; all of them if you may edit the competition.",
    responses=error_responses(401, 403, 404),
)
def read_webhooks(visit: ApiOrganiserVisit, competition: CompetitionName) -> WebhookList:
    return _list(visit, competition)


@router.post(
    OF_COMPETITION,
    operation_id="add_webhook",
    summary="Send a competition's news to an address, for organisers",
    description=_SIGNED,
    status_code=201,
    responses=error_responses(401, 403, 404, 409, 422),
)
def post_webhook(
    server: ServerHere, user: ApiOrganiser, competition: CompetitionName, form: WebhookIn
) -> WebhookWithSecret:
    return _add(server, user, form, competition)


@router.get(
    OF_TEAM,
    operation_id="list_team_webhooks",
    summary="Your team's webhooks",
    tags=["taking part"],
    responses=error_responses(401, 403, 404),
)
def read_team_webhooks(visit: ApiOrganiserVisit, competition: CompetitionName) -> WebhookList:
    return _list(visit, competition, of_team=True)


@router.post(
    OF_TEAM,
    operation_id="add_team_webhook",
    summary="Send your team's news to an address",
    description=_SIGNED,
    status_code=201,
    tags=["taking part"],
    responses=error_responses(401, 403, 404, 409, 422),
)
def post_team_webhook(
    server: ServerHere, user: ApiOrganiser, competition: CompetitionName, form: WebhookIn
) -> WebhookWithSecret:
    return _add(server, user, form, competition, of_team=True)


@router.get(
    OF_SERVER,
    operation_id="list_server_webhooks",
    summary="The webhooks of this server, for administrators",
    responses=error_responses(401, 403),
)
def read_server_webhooks(visit: ApiOrganiserVisit) -> WebhookList:
    return _list(visit, None)


@router.post(
    OF_SERVER,
    operation_id="add_server_webhook",
    summary="Send the news of all competitions to an address, for administrators",
    description=_SIGNED,
    status_code=201,
    responses=error_responses(401, 403, 409, 422),
)
def post_server_webhook(server: ServerHere, user: ApiOrganiser, form: WebhookIn) -> WebhookWithSecret:
    return _add(server, user, form, None)


# ----------------------------------------------------------------------------------------------------------------- one


@router.get(
    ONE, operation_id="get_webhook", summary="A webhook of yours", responses=error_responses(401, 403, 404, 422)
)
def read_webhook(visit: ApiOrganiserVisit, webhook_id: WebhookId) -> WebhookOut:
    webhook, holder = find_webhook(visit.session, webhook_id, visit.user)
    return WebhookOut.of(webhook, holder.competition)


@router.put(
    ONE,
    operation_id="change_webhook",
    summary="Change a webhook and become its owner",
    description="News for organisers or a team is limited to what the person who changed the webhook last may see.",
    responses=error_responses(401, 403, 404, 422),
)
def put_webhook(server: ServerHere, user: ApiOrganiser, webhook_id: WebhookId, form: WebhookIn) -> WebhookOut:
    with writing(server.engine) as session:
        webhook, holder = find_webhook(session, webhook_id, user)
        change_webhook(server.act(session, user), webhook, holder, form)
        session.expire(webhook)
        return WebhookOut.of(find_webhook(session, webhook_id, user)[0], holder.competition)


@router.delete(
    ONE,
    operation_id="remove_webhook",
    summary="Remove a webhook with its deliveries",
    status_code=204,
    responses=error_responses(401, 403, 404, 422),
)
def delete_webhook(server: ServerHere, user: ApiOrganiser, webhook_id: WebhookId) -> None:
    with writing(server.engine) as session:
        webhook, holder = find_webhook(session, webhook_id, user)
        remove_webhook(server.act(session, user), webhook, holder)


@router.post(
    f"{ONE}/secret",
    operation_id="renew_webhook_secret",
    summary="Give a webhook a new secret",
    description="For one day messages have two signatures, one of them made with the previous secret.",
    responses=error_responses(401, 403, 404, 422),
)
def post_secret(server: ServerHere, user: ApiOrganiser, webhook_id: WebhookId) -> WebhookWithSecret:
    with writing(server.engine) as session:
        webhook, holder = find_webhook(session, webhook_id, user)
        renew_secret(server.act(session, user), webhook, holder)
        return WebhookWithSecret.of(webhook, holder.competition)


@router.post(
    f"{ONE}/test",
    operation_id="test_webhook",
    summary="Send a test to a webhook",
    description="The test is sent within seconds and is not retried; its delivery shows the outcome.",
    status_code=202,
    responses=error_responses(401, 403, 404, 409, 422, 429),
)
def post_test(server: ServerHere, user: ApiOrganiser, webhook_id: WebhookId) -> DeliveryOut:
    with writing(server.engine) as session:
        webhook, _ = find_webhook(session, webhook_id, user)
        send_test(session, webhook, server.clock())
        return DeliveryOut.of(deliveries_of(session, webhook)[0], with_answer=False)


@router.get(
    f"{ONE}/deliveries",
    operation_id="list_webhook_deliveries",
    summary="The latest deliveries of a webhook, with their outcome",
    responses=error_responses(401, 403, 404, 422),
)
def read_deliveries(visit: ApiOrganiserVisit, webhook_id: WebhookId) -> DeliveryList:
    webhook, _ = find_webhook(visit.session, webhook_id, visit.user)
    is_owner = webhook.owner_id == visit.user.id
    found = deliveries_of(visit.session, webhook)
    return DeliveryList(deliveries=[DeliveryOut.of(one, with_answer=is_owner) for one in found])


@router.post(
    f"{ONE}/replay",
    operation_id="replay_webhook",
    summary="Send finished deliveries again, one or a range",
    description="With what the audience may see now, and the same `webhook-id`.",
    status_code=202,
    responses=error_responses(401, 403, 404, 409, 422),
)
def post_replay(server: ServerHere, user: ApiOrganiser, webhook_id: WebhookId, form: ReplayIn) -> ReplayedOut:
    with writing(server.engine) as session:
        webhook, _ = find_webhook(session, webhook_id, user)
        return ReplayedOut(again=replay(session, webhook, server.clock(), form.first, form.last))
