"""Requests of the API: webhooks and ranges of deliveries."""

from __future__ import annotations

from pydantic import Field

from app.base.answers import ApiModel, example
from app.models import NewsKind, WebhookAudience, WebhookForm
from app.models.columns import NAME_CHARACTERS
from app.models.webhooks import ADDRESS_CHARACTERS
from app.webhooks.keeping import WebhookEntry


class WebhookIn(ApiModel, WebhookEntry):
    """A webhook with all its fields."""

    model_config = example(
        {
            "name": "Our chat",
            "address": "https://hooks.slack.com/services/T000/B000/XXXX",
            "form": "slack",
            "audience": "organisers",
            "kinds": ["question.asked", "run.failed"],
            "bearer": "",
            "is_disabled": False,
        }
    )

    name: str = Field(max_length=2 * NAME_CHARACTERS)
    address: str = Field(
        "", max_length=2 * ADDRESS_CHARACTERS, description="https://…; empty: keep the present address"
    )
    form: WebhookForm = WebhookForm.STANDARD
    audience: WebhookAudience | None = Field(None, description="null: the team, or organisers")
    kinds: list[NewsKind] = Field(max_length=len(NewsKind), description="kinds of news to send")
    bearer: str = Field("", max_length=1000, description="access token for Matrix; empty: keep the present one")
    is_disabled: bool = Field(False, description="true: nothing is sent, and news of that time is not sent later")


class ReplayIn(ApiModel):
    """A range of deliveries to send again; null: no bound."""

    model_config = example({"first": 31, "last": None})

    first: int | None = Field(None, ge=1, le=2**31 - 1)
    last: int | None = Field(None, ge=1, le=2**31 - 1)
