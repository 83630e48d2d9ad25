"""A user's own submissions: the places to which they submitted, alone or with a team."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, func, literal, or_, select, union
from sqlalchemy.orm import Session

from app.models import (
    Competition,
    CompetitionTask,
    FormerMember,
    Phase,
    PhaseTask,
    Submission,
    Team,
    TeamMember,
    User,
)
from app.submissions.newest import count_in

#: Maximum count per place, enough for a number next to a title.
MOST_COUNTED = 100


@dataclass(frozen=True, slots=True)
class OwnPlace:
    """A phase task to which a team of the user submitted.

    is_member: False for former teams, of which only the user's own submissions are included.
    """

    team_id: int
    phase_task_id: int
    is_member: bool


def own_places(
    session: Session,
    user: User,
    *,
    competition: str | None = None,
    phase: str | None = None,
    task: str | None = None,
) -> list[OwnPlace]:
    """List the places where the user's teams submitted, or the user for a former team; restricted to these names."""
    those = select(TeamMember.team_id, literal(1).label("is_member")).where(TeamMember.user_id == user.id)
    # Submissions for former teams, wherever they are now, since the team may have been merged.
    sent_by_them = select(Submission.team_id, literal(0)).where(Submission.user_id == user.id)
    has_left = session.scalar(select(FormerMember.id).where(FormerMember.user_id == user.id).limit(1)) is not None
    teams = (union(those, sent_by_them) if has_left else those).subquery()
    sent = select(Submission.id).where(
        Submission.team_id == teams.c.team_id,
        Submission.phase_task_id == PhaseTask.id,
        or_(teams.c.is_member == 1, Submission.user_id == user.id),
    )
    query = (
        select(teams.c.team_id, PhaseTask.id, func.max(teams.c.is_member))
        .join(Team, Team.id == teams.c.team_id)
        .join(Competition, Competition.id == Team.competition_id)
        .join(Phase, Phase.competition_id == Competition.id)
        .join(PhaseTask, PhaseTask.phase_id == Phase.id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
        .where(sent.exists())
        .group_by(teams.c.team_id, PhaseTask.id)
    )
    for column, wanted in ((Competition.name, competition), (Phase.name, phase), (CompetitionTask.name, task)):
        if wanted is not None:
            query = query.where(column == wanted)
    return [OwnPlace(team_id, phase_task_id, bool(member)) for team_id, phase_task_id, member in session.execute(query)]


def is_at(place: OwnPlace, user: User) -> ColumnElement[bool]:
    """Return the condition for submissions at this place that are the user's."""
    here = and_(Submission.team_id == place.team_id, Submission.phase_task_id == place.phase_task_id)
    return here if place.is_member else and_(here, Submission.user_id == user.id)


def count_own(session: Session, competition: Competition, user: User) -> int:
    """Count submissions by this user or their teams to the competition, at most MOST_COUNTED per place."""
    places = own_places(session, user, competition=competition.name)
    return count_in(session, [is_at(place, user) for place in places], MOST_COUNTED)
