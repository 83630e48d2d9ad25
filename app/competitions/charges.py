"""Submissions charged to a quota: the team's, and those its members made in teams they left, also by merging.

See `app.competitions.limits` for the quotas themselves, and decisions 014 and 048.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, and_, bindparam, exists, func, or_, select
from sqlalchemy.orm import Session

from app.models import FormerMember, Submission, Team, TeamMember, User

#: Teams that people have left, and the teams these have merged into since.
_LEFT = (
    select(FormerMember.team_id, Team.merged_into_id)
    .join(Team, Team.id == FormerMember.team_id)
    .where(FormerMember.competition_id == bindparam("past_competition"))
    .distinct()
)
_LEFT_BY_PERSON = _LEFT.where(FormerMember.user_id == bindparam("past_of"))
_LEFT_BY_TEAM = _LEFT.where(
    FormerMember.user_id.in_(select(TeamMember.user_id).where(TeamMember.team_id == bindparam("past_of")))
)


def charged_to(session: Session, team: Team | None, user: User | None, competition_id: int) -> ColumnElement[bool]:
    """Return an SQL condition on Submission: charged to this team. Only valid under the team lock.

    user: the person whose past submissions count if there is no team (any more).
    """
    left_by, whose = (_LEFT_BY_TEAM, team.id) if team is not None else (_LEFT_BY_PERSON, user.id if user else None)
    pairs = session.execute(left_by, {"past_competition": competition_id, "past_of": whose}).all()
    left = {one for pair in pairs for one in pair if one is not None}
    own = [team.id] if team is not None else []
    if not left:
        return Submission.team_id == team.id if team is not None else Submission.team_id.in_(own)
    people = select(TeamMember.user_id).where(TeamMember.team_id == team.id) if team is not None else [whose]
    past = and_(FormerMember.competition_id == competition_id, FormerMember.user_id.in_(people))
    while_there = and_(
        or_(FormerMember.joined_at.is_(None), Submission.submitted_at >= FormerMember.joined_at),
        Submission.submitted_at <= FormerMember.left_at,
    )
    taken_along = exists(
        select(FormerMember.id)
        .where(past, FormerMember.team_id == func.coalesce(Submission.sent_for_id, Submission.team_id))
        .where(or_(Submission.user_id == FormerMember.user_id, while_there))
        .correlate(Submission)
    )
    return and_(Submission.team_id.in_({*own, *left}), or_(Submission.team_id.in_(own), taken_along))
