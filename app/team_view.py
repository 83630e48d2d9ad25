"""A team as its members see it, and what the competition lets it do: how many are in it, until when it is renamed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.models import Competition, Phase, PhaseTask, Submission, Team, TeamInvitation, TeamMember, User
from app.teams import captain_of, find_team, members_of


@dataclass(frozen=True, slots=True)
class TeamView:
    """A team as its members see it; captain_id: of the member who speaks for it."""

    competition: str
    team: Team
    members: list[TeamMember]
    captain_id: int | None
    members_max: int | None
    invitation: TeamInvitation | None
    name_fixed_at: datetime | None

    @property
    def is_full(self) -> bool:
        """Whether nobody can join."""
        return self.members_max is not None and len(self.members) >= self.members_max


def view_team(session: Session, competition: Competition, user: User, now: datetime) -> TeamView | None:
    """The user's team; None: they have none (yet)."""
    team = find_team(session, user, competition.id)
    if team is None:
        return None
    members = members_of(session, team)
    return TeamView(
        competition=competition.name,
        team=team,
        members=members,
        captain_id=captain_of(team, members),
        members_max=members_max(competition),
        invitation=open_invitation(session, team, now),
        name_fixed_at=names_fixed_at(session, competition, team),
    )


def open_invitation(session: Session, team: Team, now: datetime) -> TeamInvitation | None:
    """The link that works now."""
    query = select(TeamInvitation).where(
        TeamInvitation.team_id == team.id, TeamInvitation.ended_at.is_(None), TeamInvitation.expires_at > now
    )
    return session.scalar(query.order_by(TeamInvitation.id.desc()).limit(1))


def members_max(competition: Competition) -> int | None:
    """How many members a team may have; None: as many as it likes."""
    declared: int | None = competition.teams.get("members_max")
    return declared


def names_fixed_at(session: Session, competition: Competition, team: Team) -> datetime | None:
    """From when on a team keeps its name: the declared moment, or the end of the first phase whose boards are frozen
    and to which it has submitted; None: never, as far as one can say now."""
    declared = competition.teams.get("rename_until")
    if declared is not None:
        return datetime.fromisoformat(declared)
    return session.scalar(
        select(func.min(Phase.ends_at))
        .join(PhaseTask, PhaseTask.phase_id == Phase.id)
        .join(Submission, Submission.phase_task_id == PhaseTask.id)
        .where(Submission.team_id == team.id, Phase.has_snapshot)
    )
