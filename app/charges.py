"""Which submissions count for a team: its own, and what its members take along from teams that they have left.

So a quota cannot be renewed by leaving and founding another team, nor by joining one. See decision 014.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, and_, exists, or_, select
from sqlalchemy.orm import Session

from app.models import FormerMember, Submission, Team, TeamMember, User


def charged_to(session: Session, team: Team | None, user: User | None, competition_id: int) -> ColumnElement[bool]:
    """For submissions; right only under the team's lock. user: whose own past counts who has no team (any more)."""
    if team is not None:
        people = select(TeamMember.user_id).where(TeamMember.team_id == team.id)
    else:
        people = select(User.id).where(User.id == (user.id if user else None))
    past = and_(FormerMember.competition_id == competition_id, FormerMember.user_id.in_(people))
    left = session.scalars(select(FormerMember.team_id).where(past).distinct()).all()
    own = [team.id] if team is not None else []
    if not left:
        return Submission.team_id.in_(own)
    while_there = and_(
        or_(FormerMember.joined_at.is_(None), Submission.submitted_at >= FormerMember.joined_at),
        Submission.submitted_at <= FormerMember.left_at,
    )
    taken_along = exists(
        select(FormerMember.id)
        .where(past, FormerMember.team_id == Submission.team_id)
        .where(or_(Submission.user_id == FormerMember.user_id, while_there))
        .correlate(Submission)
    )
    return and_(Submission.team_id.in_({*own, *left}), or_(Submission.team_id.in_(own), taken_along))
