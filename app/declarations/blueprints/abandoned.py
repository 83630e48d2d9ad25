"""Abandoned blueprints: the owner is warned, and weeks later the blueprint is deleted with its files unless saved."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from app.base import links
from app.base.addresses import public_address
from app.base.config import Settings
from app.base.logs import continuing
from app.competitions.life import SWEEP
from app.declarations.blueprints.kept import throw_away
from app.models import Blueprint, User
from app.people import audit
from app.people.mail import send_mail
from evergold.moments import moment_words

#: Time between the warning and the deletion, however old the blueprint is.
NOTICE = timedelta(days=14)


@dataclass(frozen=True, slots=True)
class Abandoned:
    """Numbers of warned owners and of deleted blueprints."""

    warned: int = 0
    cleared: int = 0


def clears_at(blueprint: Blueprint, days: int) -> datetime | None:
    """Return the time at which the blueprint is deleted unless saved; None if its owner has not been warned."""
    if days == 0 or blueprint.warned_at is None or blueprint.warned_at <= blueprint.changed_at:
        return None
    return max(blueprint.warned_at + NOTICE, blueprint.changed_at + timedelta(days=days))


def clear_abandoned(session: Session, settings: Settings, now: datetime) -> Abandoned:
    """Warn owners of abandoned blueprints; delete those that were warned about and not saved since.

    Returns the numbers. The caller commits.
    """
    days = settings.blueprint_days
    if days == 0:
        return Abandoned()
    left = Blueprint.changed_at <= now - max(timedelta(), timedelta(days=days) - NOTICE)
    query = select(Blueprint).where(left).options(joinedload(Blueprint.competition)).order_by(Blueprint.id)
    warned = cleared = 0
    for blueprint in session.scalars(query.with_for_update(of=Blueprint)).all():
        with continuing("blueprint_not_cleared", blueprint_id=blueprint.id), session.begin_nested():
            end = clears_at(blueprint, days)
            if end is None:
                _warn(session, blueprint, settings, now)
                warned += 1
            elif end <= now:
                _clear(session, blueprint, now)
                cleared += 1
    return Abandoned(warned, cleared)


def _clear(session: Session, blueprint: Blueprint, now: datetime) -> None:
    owner = session.get_one(User, blueprint.owner_id)
    subject = f"blueprint {blueprint.id} of {owner.username}"
    audit.record(session, SWEEP, "blueprint.cleared", subject, {"title": title_of(blueprint)}, now=now)
    throw_away(session, blueprint)


def title_of(blueprint: Blueprint) -> str:
    """Return the title shown to the owner."""
    document = blueprint.document
    return str(document.get("title") or document.get("name") or "Without a title")


def _warn(session: Session, blueprint: Blueprint, settings: Settings, now: datetime) -> None:
    """Warn the owner by mail, if the address is confirmed, and on the page *Organise* in any case."""
    blueprint.warned_at = now
    end = clears_at(blueprint, settings.blueprint_days)
    title, until = title_of(blueprint), moment_words(end.replace(second=0)) if end else ""
    what = "your changes to a competition" if blueprint.competition_id else "the competition that you began to set up"
    saved = moment_words(blueprint.changed_at.replace(second=0))
    body = (
        f"“{title}”, {what}, has not been changed since {saved}.\n\n"
        f"It will be deleted with its files on {until}. To keep it, save any of its steps:\n"
        f"{public_address(settings, links.organise(blueprint.id))}\n"
    )
    send_mail(
        session,
        session.get_one(User, blueprint.owner_id),
        f"“{title}” will be deleted unless you continue",
        body,
        now=now,
    )
