"""Links for joining a team: one at a time, for a limited period, for as many people as the team has room for.

Only a hash of the secret is stored; a newer link, the captain, or the removal of a member ends it.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from app.base.errors import NotFound
from app.models import Competition, Team, TeamInvitation, User
from app.people.audit import record
from app.teams.find import members_max, members_of
from app.teams.membership import TeamFull, end_invitations, team_of_captain

LINK_DAYS = 7
_SECRET_CHARACTERS = 200


def invite(session: Session, competition: Competition, user: User, now: datetime) -> tuple[TeamInvitation, str]:
    """Create a link by the captain, ending the previous one; return row and secret.

    Raises NotFound, Forbidden, TeamFull.
    """
    team = team_of_captain(session, competition, user)
    limit = members_max(competition)
    if limit is not None and len(members_of(session, team)) >= limit:
        raise TeamFull(f"Your team has {limit} of at most {limit} members.", members_max=limit)
    end_invitations(session, team, now)
    secret = secrets.token_urlsafe(32)
    invitation = TeamInvitation(
        team_id=team.id,
        created_by_id=user.id,
        secret_hash=_sha256(secret),
        created_at=now,
        expires_at=now + timedelta(days=LINK_DAYS),
        ended_at=None,
    )
    session.add(invitation)
    session.flush()
    record(session, user, "team.invite", f"competition {competition.name}", {"team_id": team.id}, now=now)
    return invitation, secret


def revoke_invitation(session: Session, competition: Competition, user: User, now: datetime) -> None:
    """End the open link. Raises NotFound if there is none."""
    team = team_of_captain(session, competition, user)
    if not end_invitations(session, team, now):
        raise NotFound("There is no open invitation to your team.")
    record(session, user, "team.revoke_invitation", f"competition {competition.name}", {"team_id": team.id}, now=now)


def find_invitation(session: Session, competition: Competition, secret: str, now: datetime) -> TeamInvitation:
    """Return the open invitation with this secret or whole link, with its team. Raises NotFound."""
    secret = secret.strip().rpartition("link=")[2][:_SECRET_CHARACTERS]
    found = session.scalar(
        select(TeamInvitation)
        .join(TeamInvitation.team)
        .where(
            TeamInvitation.secret_hash == _sha256(secret),
            Team.competition_id == competition.id,
            TeamInvitation.ended_at.is_(None),
            TeamInvitation.expires_at > now,
        )
        .options(joinedload(TeamInvitation.team, innerjoin=True))
    )
    if found is None:
        raise NotFound("This invitation was revoked, has expired or never existed. Please request another.")
    return found


def _sha256(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
