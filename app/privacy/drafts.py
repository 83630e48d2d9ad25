"""Drafts of competitions that nobody changes any more: their deletion is scheduled, with a mail and a week to cancel
it.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.base import links
from app.base.addresses import public_address
from app.base.config import Settings
from app.base.logs import continuing
from app.competitions.life import SWEEP, plan_deletion, submitting_teams
from app.models import AuditEntry, Competition, GoldVersion, Phase, PhaseTask, Revision, Right, Stage, User
from app.people.mail import send_mail
from app.people.rights import organisers_of
from evergold.moments import minute_words

_MAIL = """\
Hello {username},

“{title}”, a draft on {server}, has not been changed since {changed}. It will be deleted on {due}
unless you cancel the deletion:

{page}
"""


def plan_abandoned(session: Session, settings: Settings, now: datetime) -> list[str]:
    """Schedule the deletion of abandoned drafts, notify their organisers, and return the names. The caller commits."""
    if not settings.draft_days:
        return []
    long_ago = now - timedelta(days=settings.draft_days)
    drafts = select(Competition).where(
        Competition.stage == Stage.DRAFT,
        Competition.owner_id.is_not(None),
        Competition.delete_at.is_(None),
        Competition.created_at <= long_ago,
    )
    planned = []
    for competition in session.scalars(drafts.order_by(Competition.id)).all():
        changed = last_change(session, competition)
        if changed > long_ago or submitting_teams(session, competition):
            continue
        name = competition.name
        with continuing("draft_not_planned", competition=name), session.begin_nested():
            due = plan_deletion(session, competition, actor=SWEEP, now=now)
            _warn(session, competition, changed, due, settings, now)
            planned.append(name)
    return planned


def last_change(session: Session, competition: Competition) -> datetime:
    """Return the time of the last activity in the competition: its declaration, its gold, any recorded action."""
    gold = (
        select(func.max(GoldVersion.created_at))
        .join(PhaseTask, PhaseTask.id == GoldVersion.phase_task_id)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .where(Phase.competition_id == competition.id)
    )
    revised = select(func.max(Revision.made_at)).where(Revision.competition_id == competition.id)
    deeds = select(func.max(AuditEntry.at)).where(
        AuditEntry.subject == f"competition {competition.name}", AuditEntry.at >= competition.created_at
    )
    moments = (session.scalar(one) for one in (gold, revised, deeds))
    return max([competition.created_at, *(moment for moment in moments if moment is not None)])


def _warn(
    session: Session, competition: Competition, changed: datetime, due: datetime, settings: Settings, now: datetime
) -> None:
    for user in _organisers(session, competition):
        body = _MAIL.format(
            username=user.username,
            title=competition.title,
            server=public_address(settings, "/"),
            changed=minute_words(changed),
            due=minute_words(due),
            page=public_address(settings, links.life(competition.name)),
        )
        subject = f"The draft “{competition.title}” is going to be deleted"
        send_mail(session, user, subject, body, now=now, competition_id=competition.id)


def _organisers(session: Session, competition: Competition) -> list[User]:
    owner = session.get(User, competition.owner_id) if competition.owner_id is not None else None
    found = {user.id: user for user in organisers_of(session, competition.name, Right.EDIT)}
    return list((({owner.id: owner} if owner is not None else {}) | found).values())
