"""Counts about the whole server, for the administrators' start page."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.administration.live import list_announcements
from app.administration.people import IS_PERSON
from app.administration.views import ServerOverview
from app.models import Competition, OrganisingRequest, ServerSetting, Submission, TextReport, User
from app.people.mail import given_up
from app.runs.failures import failed_runs


def overview(session: Session, now: datetime) -> ServerOverview:
    """Return the current counts of the server."""
    accounts, confirmed, blocked = session.execute(
        select(func.count(), func.count(User.email_confirmed_at), func.count(User.blocked_at)).where(IS_PERSON)
    ).one()
    waiting = OrganisingRequest.answered_at.is_(None)
    return ServerOverview(
        accounts=accounts,
        unconfirmed=accounts - confirmed,
        blocked=blocked,
        competitions=session.scalar(select(func.count(Competition.id))) or 0,
        submissions=session.scalar(select(func.count(Submission.id))) or 0,
        requests=session.scalar(select(func.count(OrganisingRequest.id)).where(waiting)) or 0,
        reports=session.scalar(select(func.count(TextReport.id)).where(TextReport.closed_at.is_(None))) or 0,
        failed_runs=len(failed_runs(session)),
        failed_mails=len(given_up(session)),
        announcements=len(list_announcements(session, now)),
        changed_settings=session.scalar(select(func.count(ServerSetting.key))) or 0,
    )
