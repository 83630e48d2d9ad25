"""Consent to the publication of predictions, requested if a competition declares that it may publish them.

Each person gives it per competition, and may revoke it at any time. A submission may be published only while all
current members of its team consent, and also its sender, who may have left the team.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.base.db import in_batches, insert_now
from app.models import Competition, PublicationConsent, Submission, Team, TeamKind, TeamMember, User
from app.people import audit
from app.teams.find import find_team, members_of
from app.teams.registration import rules_of
from app.teams.views import ConsentOut

#: Maximum number of ids per statement, which SQLite limits.
_AT_ONCE = 500


def requests_consent(competition: Competition) -> bool:
    """Return whether the competition requests consent."""
    return rules_of(competition).publish_predictions


def consents(session: Session, competition: Competition, user: User) -> bool:
    """Return True if the user consents to the publication of predictions in this competition."""
    return session.get(PublicationConsent, (competition.id, user.id), populate_existing=True) is not None


def set_consent(session: Session, competition: Competition, user: User, is_given: bool, now: datetime) -> bool:
    """Give or revoke the user's consent; return False if unchanged. Without a request no consent can be given."""
    key = {"competition_id": competition.id, "user_id": user.id}
    if is_given:
        if not requests_consent(competition):
            return False
        changed = insert_now(session, PublicationConsent(**key, given_at=now))
    else:
        gone = delete(PublicationConsent).filter_by(**key).returning(PublicationConsent.user_id)
        changed = session.execute(gone).first() is not None
    if changed:
        deed = "consent.give" if is_given else "consent.revoke"
        audit.record(session, user, deed, f"competition {competition.name}", now=now)
    return changed


def team_consents(session: Session, competition: Competition, user: User) -> bool:
    """Return whether all current members of the user's team consent; without a team, whether the user does."""
    team = find_team(session, user, competition.id)
    members = [one.user_id for one in members_of(session, team)] if team is not None else [user.id]
    return set(members) <= _consenting(session, competition)


def describe_consent(session: Session, competition: Competition, user: User) -> ConsentOut:
    """Return the API object of the user's consent."""
    return ConsentOut(
        competition=competition.name,
        is_asked=requests_consent(competition),
        consents=consents(session, competition, user),
        team_consents=team_consents(session, competition, user),
    )


def publishable(session: Session, competition: Competition, submission_ids: Collection[UUID]) -> set[UUID]:
    """Return those of the submissions whose predictions may be published; baselines belong to the organisers."""
    consenting = _consenting(session, competition)
    members = select(TeamMember.team_id, TeamMember.user_id).where(TeamMember.competition_id == competition.id)
    objecting = {team_id for team_id, user_id in session.execute(members) if user_id not in consenting}
    found = set()
    for some in in_batches(sorted(submission_ids), _AT_ONCE):
        sent = (
            select(Submission.id, Submission.team_id, Submission.user_id, Team.kind)
            .join(Team, Team.id == Submission.team_id)
            .where(Submission.id.in_(some))
        )
        found |= {
            submission_id
            for submission_id, team_id, user_id, kind in session.execute(sent)
            if kind == TeamKind.BASELINE or (user_id in consenting and team_id not in objecting)
        }
    return found


def _consenting(session: Session, competition: Competition) -> set[int]:
    """Return the ids of users who consent; empty if consent is no longer requested."""
    if not requests_consent(competition):
        return set()
    given = select(PublicationConsent.user_id).where(PublicationConsent.competition_id == competition.id)
    return set(session.scalars(given))
