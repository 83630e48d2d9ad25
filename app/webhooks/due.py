"""Queries for the sweep: whether there is anything to send or to watch; and the deletion of old deliveries.

They load nothing else, so that a server without webhooks wastes nothing on them.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TypeVar

from sqlalchemy import ColumnElement, Select, delete, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.base.config import Settings
from app.models import DeliveryStatus, NewsKind, Webhook, WebhookDelivery

#: Kinds of news that no request causes.
_WATCHED = frozenset({NewsKind.PHASE_OPENED, NewsKind.PHASE_CLOSED, NewsKind.BOARD_CHANGED})

Value = TypeVar("Value")


def due_deliveries(column: ColumnElement[Value] | InstrumentedAttribute[Value], now: datetime) -> Select[Value]:
    """Return the query for this column of due deliveries of active webhooks."""
    is_due = (WebhookDelivery.status == DeliveryStatus.WAITING) & (WebhookDelivery.next_attempt_at <= now)
    query = select(column).join(Webhook, Webhook.id == WebhookDelivery.webhook_id)
    return query.where(is_due, Webhook.disabled_at.is_(None))


def is_any_due(session: Session, now: datetime) -> bool:
    """Return True if a delivery is due now."""
    return session.scalar(due_deliveries(WebhookDelivery.id, now).limit(1)) is not None


def watching_webhooks(session: Session) -> list[int]:
    """Return the active webhooks for boards or phases, oldest first."""
    enabled = session.scalars(select(Webhook).where(Webhook.disabled_at.is_(None)).order_by(Webhook.id))
    return [one.id for one in enabled if one.news & _WATCHED]


def are_watched(session: Session) -> bool:
    """Return True if any webhook wants news of boards or phases."""
    return bool(watching_webhooks(session))


def forget_deliveries(session: Session, settings: Settings, now: datetime) -> int:
    """Delete deliveries that ended long ago; return their number."""
    ended = WebhookDelivery.ended_at <= now - timedelta(days=settings.webhook_log_days)
    return len(session.scalars(delete(WebhookDelivery).where(ended).returning(WebhookDelivery.id)).all())
