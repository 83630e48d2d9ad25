"""Abandoned blueprints and drafts: the owner is warned, and later they are deleted with their files unless changed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session, joinedload

from app.base import links
from app.base.addresses import public_address
from app.base.config import Settings
from app.competitions.life import SWEEP, plan_deletion, submitting_teams
from app.declarations.blueprints.kept import throw_away
from app.models import AuditEntry, Blueprint, Competition, Revision, Stage, User
from app.people import audit
from app.people.mail import send_mail
from evergold.moments import moment_words

#: From warning to deletion, however long the blueprint was left before.
NOTICE = timedelta(days=14)


@dataclass(frozen=True, slots=True)
class Abandoned:
    """Numbers of warned owners and of deleted blueprints."""

    warned: int = 0
    cleared: int = 0


def clears_at(blueprint: Blueprint, days: int) -> datetime | None:
    """Return when the blueprint is deleted unless saved; None if its owner was not warned yet, or never."""
    if days == 0 or blueprint.warned_at is None or blueprint.warned_at <= blueprint.changed_at:
        return None
    return max(blueprint.warned_at + NOTICE, blueprint.changed_at + timedelta(days=days))


def clear_abandoned(session: Session, settings: Settings, now: datetime) -> Abandoned:
    """Warn first; delete only blueprints that were warned about and not saved since. The caller commits."""
    days = settings.blueprint_days
    if days == 0:
        return Abandoned()
    left = Blueprint.changed_at <= now - max(timedelta(), timedelta(days=days) - NOTICE)
    query = select(Blueprint).where(left).options(joinedload(Blueprint.competition)).order_by(Blueprint.id)
    warned = cleared = 0
    for blueprint in session.scalars(query.with_for_update(of=Blueprint)).all():
        end = clears_at(blueprint, days)
        if end is None:
            _tell(session, blueprint, settings, now)
            warned += 1
        elif end <= now:
            owner = session.get_one(User, blueprint.owner_id)
            subject = f"blueprint {blueprint.id} of {owner.username}"
            audit.record(session, SWEEP, "blueprint.cleared", subject, {"title": title_of(blueprint)}, now=now)
            throw_away(session, blueprint)
            cleared += 1
    return Abandoned(warned, cleared)


def title_of(blueprint: Blueprint) -> str:
    """Return the title shown to the owner."""
    document = blueprint.document
    return str(document.get("title") or document.get("name") or "Without a title")


def _tell(session: Session, blueprint: Blueprint, settings: Settings, now: datetime) -> None:
    """Warn by mail if the address is confirmed, and on *Organise* in any case."""
    blueprint.warned_at = now
    end = clears_at(blueprint, settings.blueprint_days)
    title, until = title_of(blueprint), moment_words(end.replace(second=0)) if end else ""
    what = "your changes of a competition" if blueprint.competition_id else "the competition that you began to write"
    saved = moment_words(blueprint.changed_at.replace(second=0))
    body = (
        f"“{title}”, {what}, was not saved since {saved}.\n\n"
        f"It is cleared with its files on {until}. Save any step of it and it stays:\n"
        f"{public_address(settings, links.organise(blueprint.id))}\n"
    )
    send_mail(session, session.get_one(User, blueprint.owner_id), f"Do you still write “{title}”?", body, now=now)


def sweep_abandoned_drafts(session: Session, settings: Settings, now: datetime) -> list[str]:
    """Schedule the deletion of drafts that nobody has changed for `draft_days`, and return their names.

    Only drafts that belong to somebody and that no team submitted to; what people did with one counts as a change, also
    that they cancelled its deletion. Its owner gets a mail. The caller commits.
    """
    if settings.draft_days == 0:
        return []
    drafts = (
        select(Competition)
        .where(Competition.stage == Stage.DRAFT, Competition.owner_id.is_not(None), Competition.delete_at.is_(None))
        .order_by(Competition.id)
    )
    scheduled = []
    for competition in session.scalars(drafts).all():
        last = _last_change(session, competition)
        if last is None or last > now - timedelta(days=settings.draft_days) or submitting_teams(session, competition):
            continue
        end = plan_deletion(session, competition, actor=SWEEP, now=now)
        _tell_of_draft(session, competition, settings, last, end, now)
        scheduled.append(competition.name)
    return scheduled


def _last_change(session: Session, competition: Competition) -> datetime | None:
    """Return when its declaration was last changed, or anything was done with it; None without any trace."""
    declared = select(func.max(Revision.made_at)).where(Revision.competition_id == competition.id)
    done = select(func.max(AuditEntry.at)).where(AuditEntry.subject == f"competition {competition.name}")
    return max((at for at in (session.scalar(declared), session.scalar(done)) if at is not None), default=None)


def _tell_of_draft(
    session: Session, competition: Competition, settings: Settings, last: datetime, end: datetime, now: datetime
) -> None:
    title, until = competition.title, moment_words(end.replace(second=0))
    body = (
        f"Nobody has changed your draft “{title}” since {moment_words(last.replace(second=0))}.\n\n"
        f"It is deleted with its files on {until}. Until then you can cancel that:\n"
        f"{public_address(settings, links.life(competition.name))}\n"
    )
    owner = session.get_one(User, competition.owner_id)
    send_mail(session, owner, f"Do you still need “{title}”?", body, now=now)
