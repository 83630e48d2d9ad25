"""API schemas for webhooks and their deliveries, for the API and the pages; of an address, only the public part."""

from __future__ import annotations

from typing import Any, Self
from urllib.parse import urlsplit

from pydantic import Field

from app.base import api_links, links
from app.base.answers import ApiModel, Moment, example
from app.models import Competition, DeliveryStatus, NewsKind, Webhook, WebhookAudience, WebhookDelivery, WebhookForm

WEBHOOK_EXAMPLE: dict[str, Any] = {
    "id": 4,
    "competition": "demo",
    "is_of_team": False,
    "name": "Our chat",
    "form": "slack",
    "audience": "organisers",
    "kinds": ["question.asked", "run.failed"],
    "address": "https://hooks.slack.com/…",
    "owner": "grace",
    "created_at": "2026-01-10T12:00:00Z",
    "failing_since": None,
    "disabled_at": None,
    "disabled_why": "",
    "link": "/api/v1/webhooks/4",
    "page": "/webhooks/4",
}
DELIVERY_EXAMPLE: dict[str, Any] = {
    "id": 31,
    "message": "msg_5e0fd0d5a0dd4c1c8b1d6a4bd2a1a4d3",
    "kind": "question.asked",
    "happened_at": "2026-01-10T12:00:00Z",
    "status": "delivered",
    "attempts": 1,
    "next_attempt_at": None,
    "ended_at": "2026-01-10T12:00:02Z",
    "answered": 200,
    "answer": "ok",
    "error": None,
}


class WebhookOut(ApiModel):
    """A webhook: the address to which news is sent, and the kinds of news."""

    model_config = example(WEBHOOK_EXAMPLE)

    id: int
    competition: str | None = Field(description="null: a webhook of the server, for all competitions")
    is_of_team: bool = Field(description="whether it belongs to a team, for the team's news")
    name: str
    form: WebhookForm
    audience: WebhookAudience = Field(
        description="audience whose view is sent; for a webhook of the server, `organisers` means its administrators"
    )
    kinds: list[NewsKind]
    address: str = Field(description="the address without its secret parts")
    owner: str = Field(
        description="who changed it last; news for organisers or a team is limited to what this person may see"
    )
    created_at: Moment
    failing_since: Moment | None = Field(description="null: the last delivery succeeded, or there was none")
    disabled_at: Moment | None = Field(description="since when it is disabled; null: it is in use")
    disabled_why: str
    link: str
    page: str

    @classmethod
    def of(cls, webhook: Webhook, competition: Competition | None) -> Self:
        """Return the API object of a webhook of this competition; its owner must be loaded."""
        return cls(**_fields(webhook, competition))


class WebhookWithSecret(WebhookOut):
    """A webhook with the secret that signs messages in the format `standard`."""

    model_config = example({**WEBHOOK_EXAMPLE, "secret": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"})

    secret: str = Field(description="secret for libraries of Standard Webhooks; only in this answer")

    @classmethod
    def of(cls, webhook: Webhook, competition: Competition | None) -> Self:
        """Return the API object of a webhook of this competition, with its secret; its owner must be loaded."""
        return cls(**_fields(webhook, competition), secret=webhook.secret)


class WebhookList(ApiModel):
    """Webhooks, oldest first."""

    model_config = example({"webhooks": [WEBHOOK_EXAMPLE]})

    webhooks: list[WebhookOut]


class DeliveryOut(ApiModel):
    """News for a webhook, and its outcome."""

    model_config = example(DELIVERY_EXAMPLE)

    id: int
    message: str = Field(description="`webhook-id` of the message, the same at every attempt")
    kind: NewsKind
    happened_at: Moment
    status: DeliveryStatus = Field(description="`dropped`: the audience may not (or no longer) see it")
    attempts: int
    next_attempt_at: Moment | None = Field(description="null: it is finished")
    ended_at: Moment | None
    answered: int | None = Field(description="HTTP status of the last answer; null: there was none")
    answer: str | None = Field(description="first KiB of the answer, only for the owner of the webhook")
    error: str | None = Field(description="why the last attempt failed")

    @classmethod
    def of(cls, delivery: WebhookDelivery, *, with_answer: bool) -> Self:
        """Return the API object of a delivery. with_answer: whether to include the receiver's response."""
        is_waiting = delivery.status == DeliveryStatus.WAITING
        return cls(
            id=delivery.id,
            message=delivery.message,
            kind=NewsKind(delivery.kind),
            happened_at=delivery.happened_at,
            status=DeliveryStatus(delivery.status),
            attempts=delivery.attempts,
            next_attempt_at=delivery.next_attempt_at if is_waiting else None,
            ended_at=delivery.ended_at,
            answered=delivery.answered,
            answer=delivery.answer if with_answer else None,
            error=delivery.error,
        )


class DeliveryList(ApiModel):
    """Deliveries, newest first."""

    model_config = example({"deliveries": [DELIVERY_EXAMPLE]})

    deliveries: list[DeliveryOut]


class ReplayedOut(ApiModel):
    """The number of deliveries that will be sent again."""

    model_config = example({"again": 12})

    again: int


def _fields(webhook: Webhook, competition: Competition | None) -> dict[str, Any]:
    return {
        "id": webhook.id,
        "competition": competition.name if competition else None,
        "is_of_team": webhook.team_id is not None,
        "name": webhook.name,
        "form": WebhookForm(webhook.form),
        "audience": WebhookAudience(webhook.audience),
        "kinds": [kind for kind in NewsKind if kind in webhook.news],
        "address": shown_address(webhook.address),
        "owner": webhook.owner.username,
        "created_at": webhook.created_at,
        "failing_since": webhook.failing_since,
        "disabled_at": webhook.disabled_at,
        "disabled_why": webhook.disabled_why,
        "link": api_links.webhook(webhook.id),
        "page": links.webhook(webhook.id),
    }


def shown_address(address: str) -> str:
    """Return an address without its path, which is a secret for many chats: `https://hooks.slack.com/…`."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}/…"
