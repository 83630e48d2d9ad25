"""Teams: who submits to a competition and owns the quota. A person alone is a team of one, made at first need.

Founding, joining and leaving are in `app.membership`, links that invite in `app.team_invitations`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, contains_eager

from app.errors import NameTaken
from app.models import FormerMember, Team, TeamKind, TeamMember, User


def find_team(session: Session, user: User, competition_id: int) -> Team | None:
    """The user's team in this competition, if there is one yet."""
    return session.scalar(
        select(Team)
        .join(TeamMember, TeamMember.team_id == Team.id)
        .where(TeamMember.user_id == user.id, TeamMember.competition_id == competition_id)
    )


def members_of(session: Session, team: Team) -> list[TeamMember]:
    """Those who are in it now, users loaded; who has been there longest comes first."""
    query = (
        select(TeamMember)
        .join(TeamMember.user)
        .options(contains_eager(TeamMember.user))
        .where(TeamMember.team_id == team.id)
        .order_by(TeamMember.joined_at.is_not(None), TeamMember.joined_at, TeamMember.user_id)
    )
    return list(session.scalars(query).unique())


def captain_of(team: Team, members: Sequence[TeamMember]) -> int | None:
    """The id of the member who speaks for the team: the one named, or else who has been there longest."""
    ids = [member.user_id for member in members]
    return team.captain_id if team.captain_id in ids else next(iter(ids), None)


def team_for(session: Session, user: User, competition_id: int, now: datetime) -> Team:
    """The user's team, made if there is none; two first uploads at the same moment get the same team."""
    for name in _names_for(session, user, competition_id):
        team = find_team(session, user, competition_id) or _make_team(session, user, competition_id, name, now)
        if team is not None:
            return team
    raise NameTaken("No free team name was found; please change your display name.")


def locked_team_for(session: Session, user: User, competition_id: int, now: datetime) -> Team:
    """The same, locked; who left their team while we waited for its lock, gets the one that they have now."""
    while True:
        team = team_for(session, user, competition_id, now)
        lock_team(session, team)
        present = find_team(session, user, competition_id)
        if present is not None and present.id == team.id:
            return team


def lock_team(session: Session, team: Team) -> None:
    """Until the transaction ends nobody else counts or submits for this team (on SQLite: nobody writes at all)."""
    session.execute(select(Team.id).where(Team.id == team.id).with_for_update())


def _names_for(session: Session, user: User, competition_id: int) -> Iterator[str]:
    """What a team of one is called; whoever has left teams that keep these names gets a number more for each."""
    yield user.display_name
    yield f"{user.display_name[:50]} ({user.username})"
    yield f"{user.username} #{user.id}"
    left = select(func.count()).where(FormerMember.user_id == user.id, FormerMember.competition_id == competition_id)
    yield from (f"{user.username} #{user.id}-{number + 2}" for number in range(session.scalars(left).one()))


def _make_team(session: Session, user: User, competition_id: int, name: str, now: datetime) -> Team | None:
    """None when somebody else took the name, or another request of this user made the team, at this very moment."""
    team = Team(competition_id=competition_id, name=name, kind=TeamKind.TEAM, captain_id=user.id, created_at=now)
    try:
        with session.begin_nested():
            session.add(team)
            session.flush()
            session.add(TeamMember(team_id=team.id, user_id=user.id, competition_id=competition_id))
    except IntegrityError:
        return None
    return team
