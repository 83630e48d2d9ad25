"""Teams: who submits to a competition and owns the quota. A person alone is a team of one, made at first need."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.errors import NameTaken
from app.models import Team, TeamKind, TeamMember, User


def find_team(session: Session, user: User, competition_id: int) -> Team | None:
    """The user's team in this competition, if there is one yet."""
    return session.scalar(
        select(Team)
        .join(TeamMember, TeamMember.team_id == Team.id)
        .where(TeamMember.user_id == user.id, TeamMember.competition_id == competition_id)
    )


def team_for(session: Session, user: User, competition_id: int, now: datetime) -> Team:
    """The user's team, made if there is none; two first uploads at the same moment get the same team."""
    for name in (user.display_name, f"{user.display_name[:50]} ({user.username})", f"{user.username} #{user.id}"):
        team = find_team(session, user, competition_id) or _make_team(session, user, competition_id, name, now)
        if team is not None:
            return team
    raise NameTaken("No free team name was found; please change your display name.")


def lock_team(session: Session, team: Team) -> None:
    """Until the transaction ends nobody else counts or submits for this team (on SQLite: nobody writes at all)."""
    session.execute(select(Team.id).where(Team.id == team.id).with_for_update())


def _make_team(session: Session, user: User, competition_id: int, name: str, now: datetime) -> Team | None:
    """None when somebody else took the name, or another request of this user made the team, at this very moment."""
    team = Team(competition_id=competition_id, name=name, kind=TeamKind.TEAM, created_at=now)
    try:
        with session.begin_nested():
            session.add(team)
            session.flush()
            session.add(TeamMember(team_id=team.id, user_id=user.id, competition_id=competition_id))
    except IntegrityError:
        return None
    return team
