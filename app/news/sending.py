"""Delivery of news to webhooks: claimed, built, sent and recorded, and retried until accepted.

Each is sent at least once: after a crash between sending and recording it is sent again, with the same id. A claim is a
lease, so that several sweeps can share the work, and none is lost with a killed sweep. The order of arrival is not
guaranteed.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Engine, func, select, update
from sqlalchemy.orm import Session

from app.base.config import Settings
from app.base.db import reading, writing
from app.base.logs import log, log_and_continue
from app.models import DeliveryStatus, NewsKind, Webhook, WebhookDelivery
from app.news.forms import Message, message_of
from app.news.payloads import News, NotSeen, looking, news_for, why_not_lent
from app.news.transport import Answer, NotDelivered, send
from app.webhooks.addresses import AddressRefused, Resolver, find_target, rules_of
from app.webhooks.due import due_deliveries
from app.webhooks.ending import disable

#: Time for which a delivery is reserved for its sender.
LEASE = timedelta(minutes=2)
#: Pause after each failed attempt; the last one is repeated.
PAUSES = tuple(timedelta(seconds=one) for one in (10, 60, 300, 1800, 7200, 18000, 36000))
GIVE_UP_AFTER = timedelta(days=3)
#: Maximum number of attempts, more than fit in that time; reached only if senders die during a delivery.
MOST_ATTEMPTS = 50
#: A webhook without a successful delivery for this long is disabled, and its owner is notified.
DISABLE_AFTER = timedelta(days=5)
#: Number of deliveries per round, each to another webhook, and number of concurrent ones.
AT_ONCE, SENDERS = 40, 8
_GONE = 410
Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A claimed delivery that is ready to be sent."""

    delivery_id: int
    webhook_id: int
    address: str
    message: Message


def send_due(engine: Engine, settings: Settings, clock: Clock, resolve: Resolver | None = None) -> int:
    """Send due deliveries, one per webhook; return how many have ended: delivered, dropped or given up."""
    due = _due(engine, clock())
    if not due:
        return 0
    with ThreadPoolExecutor(SENDERS, thread_name_prefix="webhook") as senders:
        return sum(senders.map(lambda one: _deliver_alone(engine, one, settings, clock, resolve), due))


def _due(engine: Engine, now: datetime) -> list[int]:
    """Return the oldest due delivery of each active webhook."""
    query = due_deliveries(func.min(WebhookDelivery.id), now).group_by(WebhookDelivery.webhook_id).limit(AT_ONCE)
    with reading(engine) as session:
        return list(session.scalars(query))


def _deliver_alone(
    engine: Engine, delivery_id: int, settings: Settings, clock: Clock, resolve: Resolver | None
) -> bool:
    """Deliver one message like `_deliver`; log an error and retry later, without ending the round."""
    try:
        return _deliver(engine, delivery_id, settings, clock, resolve)
    except Exception as error:
        log_and_continue("webhook_delivery_failed", error, delivery_id=delivery_id)
        return False


def _deliver(engine: Engine, delivery_id: int, settings: Settings, clock: Clock, resolve: Resolver | None) -> bool:
    """Send one delivery; return True if it has ended, False if another sweep has it or the attempt must be repeated."""
    if not _claim(engine, delivery_id, clock()):
        return False
    prepared = _prepare(engine, delivery_id, settings, clock())
    if prepared is None:
        return True
    try:
        answer = _attempt(prepared, settings, resolve)
        error = None if answer.is_good else _refusal(answer)
    except (AddressRefused, NotDelivered) as failure:
        answer, error = None, str(failure)
    except OSError:
        answer, error = None, "The name of the host is unknown."
    with writing(engine) as session:
        return _record(session, prepared, answer, error, settings, clock())


def _claim(engine: Engine, delivery_id: int, now: datetime) -> bool:
    """Reserve a delivery for the duration of the lease; return False if another sweep has it. Give it up after
    MOST_ATTEMPTS.
    """
    with writing(engine) as session:
        attempts = session.scalar(
            update(WebhookDelivery)
            .where(
                WebhookDelivery.id == delivery_id,
                WebhookDelivery.status == DeliveryStatus.WAITING,
                WebhookDelivery.next_attempt_at <= now,
            )
            .values(next_attempt_at=now + LEASE, attempts=WebhookDelivery.attempts + 1)
            .returning(WebhookDelivery.attempts)
        )
        is_hopeless = attempts is not None and attempts > MOST_ATTEMPTS
        if is_hopeless:
            _end(session, delivery_id, DeliveryStatus.GIVEN_UP, now)
        return attempts is not None and not is_hopeless


def _prepare(engine: Engine, delivery_id: int, settings: Settings, now: datetime) -> _Prepared | None:
    """Return the message built from what the audience may see now; if that is nothing, drop the delivery and return
    None.

    Returns None, too, if the webhook was removed in the meantime.
    """
    with reading(engine) as session:
        delivery = session.get(WebhookDelivery, delivery_id)
        webhook = session.get(Webhook, delivery.webhook_id) if delivery is not None else None
        if delivery is None or webhook is None:
            return None
        why_not = why_not_lent(session, webhook)
        try:
            news = _news(session, webhook, delivery, settings, now) if not why_not else None
        except NotSeen:
            news = None
        if news is not None:
            message = message_of(webhook, news, delivery.message, now)
            return _Prepared(delivery.id, webhook.id, webhook.address, message)
    with writing(engine) as session:
        _end(session, delivery_id, DeliveryStatus.DROPPED, now)
        if why_not and (known := session.get(Webhook, webhook.id)) is not None:
            disable(session, known, why_not, settings, now)
    return None


def _news(session: Session, webhook: Webhook, delivery: WebhookDelivery, settings: Settings, now: datetime) -> News:
    kind, about = NewsKind(delivery.kind), delivery.about
    look = None if kind is NewsKind.TEST else looking(session, webhook, about["competition"], settings, now)
    return news_for(session, webhook, kind, about, delivery.happened_at, look)


def _end(session: Session, delivery_id: int, status: DeliveryStatus, now: datetime) -> None:
    ended = update(WebhookDelivery).where(WebhookDelivery.id == delivery_id)
    session.execute(ended.values(status=status, ended_at=now))


def _attempt(prepared: _Prepared, settings: Settings, resolve: Resolver | None) -> Answer:
    message = prepared.message
    target = find_target(prepared.address + message.path_suffix, rules_of(settings), resolve)
    return send(target, message.body, message.headers, method=message.method)


def _refusal(answer: Answer) -> str:
    if 300 <= answer.status < 400:
        return f"The receiver answered {answer.status}; redirects are not followed."
    return f"The receiver answered {answer.status}."


def _record(
    session: Session, prepared: _Prepared, answer: Answer | None, error: str | None, settings: Settings, now: datetime
) -> bool:
    """Record the outcome of an attempt, unless the webhook was removed; return whether it was the last attempt."""
    query = select(WebhookDelivery).where(WebhookDelivery.id == prepared.delivery_id).with_for_update()
    delivery = session.scalar(query)
    webhook = session.get(Webhook, prepared.webhook_id)
    if delivery is None or webhook is None:
        return True
    delivery.answered, delivery.answer = (answer.status, answer.text) if answer else (None, None)
    delivery.error = error
    if error is None:
        delivery.status, delivery.ended_at, webhook.failing_since = DeliveryStatus.DELIVERED, now, None
        return True
    log.warning("webhook_failed", webhook_id=webhook.id, delivery_id=delivery.id, attempt=delivery.attempts)
    is_test = delivery.kind == NewsKind.TEST
    if is_test or now - delivery.since >= GIVE_UP_AFTER:
        delivery.status, delivery.ended_at = DeliveryStatus.GIVEN_UP, now
    else:
        delivery.next_attempt_at = now + PAUSES[min(delivery.attempts, len(PAUSES)) - 1]
    if is_test:
        return True
    webhook.failing_since = webhook.failing_since or now
    if answer is not None and answer.status == _GONE:
        delivery.status, delivery.ended_at = DeliveryStatus.GIVEN_UP, now
        disable(session, webhook, "its receiver answered that it no longer exists (410).", settings, now)
    elif now - webhook.failing_since >= DISABLE_AFTER:
        disable(session, webhook, f"no delivery has succeeded for {DISABLE_AFTER.days} days.", settings, now)
    return delivery.status != DeliveryStatus.WAITING
