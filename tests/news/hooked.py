"""Webhooks for tests: set up by the rules, sent by the real sender to a receiver on loopback."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import Engine, func, select

from app.base.config import Settings
from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.models import (
    DeliveryStatus,
    NewsKind,
    Right,
    Role,
    User,
    Webhook,
    WebhookAudience,
    WebhookDelivery,
    WebhookForm,
)
from app.news.sending import send_due
from app.people.act import UserAct
from app.people.rights import grant_role
from app.webhooks.keeping import KINDS_FOR, WebhookEntry, add_webhook, holder_for
from tests.receiver import Receiver
from tests.world import COMPETITION, NOW

LOOPBACK = Settings(webhook_ranges="127.0.0.1/32", webhook_http=True, base_url="https://scores.example.org")
#: Of ours on loopback, which answers to every name.
NAME = "chat.example.org"


def appoint(engine: Engine, user: User, *rights: Right, competition: str = COMPETITION) -> User:
    """Make somebody an organiser with these rights, or all."""
    with writing(engine) as session:
        found = find_competition(session, competition)
        grant_role(session, found, user, Role.ORGANISER, NOW, rights=rights or list(Right))
    return user


def hook(
    engine: Engine,
    owner: User,
    there: Receiver,
    *kinds: NewsKind,
    audience: WebhookAudience = WebhookAudience.ORGANISERS,
    form: WebhookForm = WebhookForm.STANDARD,
    competition: str | None = COMPETITION,
    host: str = NAME,
    path: str = "/hook",
    bearer: str = "",
    scheme: str = "http",
) -> int:
    """Set up a webhook for these kinds of news, or for all that the audience may have; return its id."""
    with writing(engine) as session:
        found = find_competition(session, competition) if competition else None
        holder = holder_for(session, found, owner, of_team=audience is WebhookAudience.TEAM)
        entry = WebhookEntry(
            name="Ours",
            address=f"{scheme}://{host}:{there.port}{path}",
            form=form,
            audience=audience,
            kinds=kinds or KINDS_FOR[audience],
            bearer=bearer,
        )
        return add_webhook(UserAct(session, owner, NOW, LOOPBACK), holder, entry).id


def to_loopback(host: str, port: int) -> list[str]:
    return ["127.0.0.1"]


def deliver(engine: Engine, now: datetime = NOW, settings: Settings = LOOPBACK) -> int:
    """Send until nothing more is due; return how many are delivered by then, of all there were."""
    while send_due(engine, settings, lambda: now, to_loopback):
        pass
    with reading(engine) as session:
        delivered = WebhookDelivery.status == DeliveryStatus.DELIVERED
        return session.scalars(select(func.count()).select_from(WebhookDelivery).where(delivered)).one()


def bodies(there: Receiver) -> list[Any]:
    """Return and delete what was received so far."""
    found = [json.loads(one.body) for one in there.received]
    there.received.clear()
    return found


def deliveries(engine: Engine, webhook_id: int) -> list[WebhookDelivery]:
    with reading(engine) as session:
        query = select(WebhookDelivery).where(WebhookDelivery.webhook_id == webhook_id)
        return list(session.scalars(query.order_by(WebhookDelivery.id)))


def statuses(engine: Engine, webhook_id: int) -> list[str]:
    return [str(DeliveryStatus(one.status)) for one in deliveries(engine, webhook_id)]


def the_webhook(engine: Engine, webhook_id: int) -> Webhook:
    with reading(engine) as session:
        return session.get_one(Webhook, webhook_id)


def in_writing(engine: Engine, deed: Callable[..., Any], webhook_id: int, *more: Any) -> Any:
    """Do something to a webhook in a transaction of its own."""
    with writing(engine) as session:
        return deed(session, session.get_one(Webhook, webhook_id), *more)
