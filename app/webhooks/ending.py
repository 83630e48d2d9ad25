"""Webhooks that are disabled automatically, with a reason that is shown on their page and mailed."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ColumnElement, exists, select, update
from sqlalchemy.orm import Session

from app.base import links
from app.base.addresses import public_address
from app.base.config import Settings
from app.models import Competition, CompetitionBlock, DeliveryStatus, User, Webhook, WebhookDelivery
from app.people import audit
from app.people.mail import send_mail

_IS_BLOCKED: ColumnElement[bool] = User.blocked_at.is_not(None)
#: The actor in audit entries of the server itself.
ACTOR = "webhooks"
_MAIL = """\
Hello {username},

The webhook '{name}' of {where} is disabled, and nothing is sent to it any more: {why}

To enable it again, open it, untick "Disabled" and save; you can then send missed deliveries again:

{page}
"""


def disable(session: Session, webhook: Webhook, why: str, settings: Settings, now: datetime) -> None:
    """Disable a webhook and mail its owner once; pending deliveries are given up, and can be sent again later."""
    if webhook.disabled_at is not None:
        return
    webhook.disabled_at, webhook.disabled_why = now, why
    waiting = (WebhookDelivery.webhook_id == webhook.id) & (WebhookDelivery.status == DeliveryStatus.WAITING)
    session.execute(update(WebhookDelivery).where(waiting).values(status=DeliveryStatus.GIVEN_UP, ended_at=now))
    competition = session.get(Competition, webhook.competition_id) if webhook.competition_id else None
    where = competition.title if competition else "this server"
    owner = session.get_one(User, webhook.owner_id)
    page = public_address(settings, links.webhook(webhook.id))
    body = _MAIL.format(username=owner.username, name=webhook.name, where=where, why=why, page=page)
    send_mail(session, owner, f"Webhook '{webhook.name}' is disabled", body, now=now)
    subject = f"competition {competition.name}" if competition else "server"
    audit.record(session, ACTOR, "webhook.disable", subject, {"webhook": webhook.id, "why": why}, now=now)


def why_blocked(session: Session, webhook: Webhook) -> str:
    """Return why the webhook cannot use its owner's rights if the owner is blocked now; "" if the owner is not."""
    if session.scalar(select(User.id).where(User.id == webhook.owner_id, _IS_BLOCKED)) is not None:
        return "the person who saved it last is blocked on this server."
    here = (CompetitionBlock.competition_id == webhook.competition_id) & (CompetitionBlock.user_id == webhook.owner_id)
    is_blocked_here = session.scalar(select(CompetitionBlock.user_id).where(here)) is not None
    return "the person who saved it last is blocked in this competition." if is_blocked_here else ""


def webhooks_of_blocked(session: Session) -> list[int]:
    """Return the active webhooks whose owner is blocked on the server, or in the webhook's competition."""
    here = (CompetitionBlock.competition_id == Webhook.competition_id) & (CompetitionBlock.user_id == Webhook.owner_id)
    query = select(Webhook.id).join(User, User.id == Webhook.owner_id).where(Webhook.disabled_at.is_(None))
    return list(session.scalars(query.where(_IS_BLOCKED | exists().where(here)).order_by(Webhook.id)))


def end_of_blocked(session: Session, webhook_id: int, settings: Settings, now: datetime) -> bool:
    """Disable this webhook if its owner is blocked now; return False if not, or if it was removed or disabled."""
    webhook = session.get(Webhook, webhook_id, with_for_update=True)
    why = why_blocked(session, webhook) if webhook is not None and webhook.disabled_at is None else ""
    if webhook is None or not why:
        return False
    disable(session, webhook, why, settings, now)
    return True
