"""The state that accepting an upload depends on and that others may change at any moment, loaded by one query.

The modules of these objects decide what follows from them; here they are only loaded together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from sqlalchemy import and_, bindparam, exists, or_, select
from sqlalchemy.orm import Session

from app.base.together import has_single_writer
from app.competitions.limits import COUNTED, Counts, moments
from app.models import (
    CompetitionRole,
    FormerMember,
    PhaseTask,
    Registration,
    Right,
    Role,
    ScoringRun,
    Submission,
    Team,
    TeamMember,
    User,
    rights_in,
)
from app.teams.find import TEAM_ID_OF, lock_team_of, new_team_for


@dataclass(frozen=True, slots=True)
class Facts:
    """The state that accepting an upload depends on.

    team: the user's; None: there is none yet.
    sees_all: True if they are an organiser by name, with the right to submissions.
    replayed: the user's earlier submission with this Idempotency-Key.
    counts: the team's usage; None if it also includes former teams of its members.
    """

    team: Team | None
    registration: Registration | None
    sees_all: bool
    replayed: UUID | None
    counts: Counts | None


def look_up(session: Session, user: User, phase_task: PhaseTask, key: str | None, now: datetime) -> Facts:
    """Load the current state, which stays valid only under the team's lock."""
    asked = {
        "user": user.id,
        "competition": phase_task.phase.competition_id,
        "phase_task": phase_task.id,
        "key": key,
        **moments(now),
    }
    team, registration, rights, has_past, replayed, *counts = session.execute(_FACTS, asked).one()
    owns = phase_task.phase.competition.owner_id == user.id
    sees_all = owns or Right.SUBMISSIONS in rights_in(rights or "")
    return Facts(team, registration, sees_all, replayed, None if has_past else Counts(*counts))


def load_context(session: Session, user: User, phase_task: PhaseTask, key: str | None, now: datetime) -> Facts:
    """Load the state and lock the team, if there is one, until the transaction ends.

    Retries if the user changed teams while waiting for the lock.
    """
    if has_single_writer(session.get_bind()):  # a single writer: there is no lock to wait for
        return look_up(session, user, phase_task, key, now)
    while True:
        locked_id = lock_team_of(session, user, phase_task.phase.competition_id)
        facts = look_up(session, user, phase_task, key, now)
        if locked_id == (facts.team.id if facts.team is not None else None):
            return facts


def ensure_team(
    session: Session, user: User, phase_task: PhaseTask, key: str | None, now: datetime, known: Facts | None
) -> tuple[Team, Facts]:
    """Return the team, created if there is none; a new one is invisible to others until the transaction ends.

    known: the result of `load_context` in this transaction; None: not loaded yet.
    """
    facts = known or load_context(session, user, phase_task, key, now)
    while facts.team is None:
        team = new_team_for(session, user, phase_task.phase.competition_id, now)
        facts = replace(facts, team=team) if team else load_context(session, user, phase_task, key, now)
    return facts.team, facts


_USER, _COMPETITION = bindparam("user", type_=User.id.type), bindparam("competition", type_=User.id.type)
_REPLAYED = (
    select(Submission.id)
    .where(Submission.user_id == _USER, Submission.idempotency_key == bindparam("key"))
    .scalar_subquery()
)
_HAS_PAST = exists().where(
    FormerMember.competition_id == _COMPETITION,
    or_(
        FormerMember.user_id == _USER,
        FormerMember.user_id.in_(select(TeamMember.user_id).where(TeamMember.team_id == TEAM_ID_OF)),
    ),
)
_RIGHTS = (
    select(CompetitionRole.rights)
    .where(
        CompetitionRole.competition_id == _COMPETITION,
        CompetitionRole.user_id == _USER,
        CompetitionRole.role == Role.ORGANISER,
    )
    .scalar_subquery()
)
_USED = COUNTED.where(
    Submission.team_id == TEAM_ID_OF,
    Submission.phase_task_id == bindparam("phase_task"),
    ScoringRun.submission_id == Submission.id,
    ScoringRun.is_current,
).subquery()
_OWN_REGISTRATION = and_(Registration.competition_id == _COMPETITION, Registration.user_id == _USER)
_FACTS = (
    select(Team, Registration, _RIGHTS, _HAS_PAST, _REPLAYED, *_USED.c)
    .select_from(_USED)
    .outerjoin(Team, Team.id == TEAM_ID_OF)
    .outerjoin(Registration, _OWN_REGISTRATION)
    .execution_options(populate_existing=True)
)
